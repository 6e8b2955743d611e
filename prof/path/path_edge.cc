#include "prof/path/path_edge.h"

#include "prof/verdicts/idle_cause.h"

namespace oplens::prof {

std::string_view PathCauseWord(PathCause cause) {
  switch (cause) {
    case PathCause::kCompute:
      return "compute";
    case PathCause::kCommunication:
      return "communication";
    case PathCause::kCopy:
      return "copy";
    case PathCause::kQueued:
      return IdleCauseWord(IdleCause::kQueued);
    case PathCause::kSync:
      return IdleCauseWord(IdleCause::kSync);
    case PathCause::kLaunch:
      return IdleCauseWord(IdleCause::kLaunch);
    case PathCause::kPageableCopy:
      return IdleCauseWord(IdleCause::kPageableCopy);
    case PathCause::kApiCall:
      return IdleCauseWord(IdleCause::kApiCall);
    case PathCause::kDataLoader:
      return IdleCauseWord(IdleCause::kDataLoader);
    case PathCause::kHostOp:
      return IdleCauseWord(IdleCause::kHostOp);
    case PathCause::kPython:
      return IdleCauseWord(IdleCause::kPython);
    case PathCause::kUnknown:
      break;
  }
  return IdleCauseWord(IdleCause::kUnknown);
}

std::string_view PathLinkWord(PathLink link) {
  constexpr std::string_view kWords[kPathLinkCount] = {
      "start",       "host",      "thread", "launch", "graph",     "stream",
      "stream_wait", "host_wait", "end",    "work",   "collective"};
  return kWords[static_cast<size_t>(link)];
}

}  // namespace oplens::prof
