#ifndef OPLENS_REPORT_TIMELINE_PATH_PAIRS_H_
#define OPLENS_REPORT_TIMELINE_PATH_PAIRS_H_

#include <utility>
#include <vector>

#include "prof/path/critical_path.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::report {

/// Events of the critical path, each with the next one on it. Work is of Run::device_work().
using PathPairs = std::vector<std::pair<prof::PathSubject, prof::PathSubject>>;

/// Where the critical paths of a run's steps go from one event to the next:
///
///     thread  |- call a -|            |- call b: waits -|          |- call c -|
///                    \                 ^                |               |
///     stream          |- kernel 1 -||- kernel 2 -|                      |- kernel 3 -|
///
/// Those that are on the same thread are left out: there the path goes along the lane. Time that
/// belongs to no event is passed over. O(n log n): see prof::FindCriticalPaths. 16 bytes a pair.
PathPairs CriticalPairsOf(const prof::Run& run);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_PATH_PAIRS_H_
