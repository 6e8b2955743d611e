#include "prof/path/path_edge.h"

namespace oplens::prof {

std::string_view PathCauseWord(PathCause cause) {
  constexpr std::string_view kWords[kPathCauseCount] = {
      "compute",  "communication", "copy",       "queue",      "launch_delay", "sync_wait",
      "api_call", "cpu_op",        "dataloader", "other_host", "idle"};
  return kWords[static_cast<size_t>(cause)];
}

std::string_view PathLinkWord(PathLink link) {
  constexpr std::string_view kWords[kPathLinkCount] = {
      "start",       "host",      "thread", "launch", "graph",     "stream",
      "stream_wait", "host_wait", "end",    "work",   "collective"};
  return kWords[static_cast<size_t>(link)];
}

}  // namespace oplens::prof
