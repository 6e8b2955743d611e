#include "prof/verdicts/idle_cause.h"

namespace oplens::prof {

std::string_view IdleCauseWord(IdleCause cause) {
  constexpr std::string_view kWords[kIdleCauseCount] = {
      "launch", "module-load",   "queued",   "other-stream", "communication",
      "sync",   "pageable-copy", "api-call", "dataloader",   "host-op",
      "python", "cold-start",    "tail",     "unknown"};
  return kWords[static_cast<size_t>(cause)];
}

std::string_view HeldByWord(HeldBy held) {
  constexpr std::string_view kWords[] = {"device", "stream", "event", "copy"};
  return kWords[static_cast<size_t>(held)];
}

}  // namespace oplens::prof
