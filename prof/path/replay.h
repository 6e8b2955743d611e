#ifndef OPLENS_PROF_PATH_REPLAY_H_
#define OPLENS_PROF_PATH_REPLAY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

class Run;

/// What a change of the program would make of the times of a run.
class TimeChange {
 public:
  static constexpr int64_t kNoDependency = -1;

  virtual ~TimeChange() = default;
  /// The time that a part of an edge would take, 0 to its own; kNoDependency: the edge would not
  /// exist.
  virtual int64_t TimeOf(const PathEdge& part) const = 0;
};

/// By how much each change would shorten each step of Steps::all(), by step and change; 0 for steps
/// that do not count. It is the difference between the longest paths through a step's dependencies,
/// as measured and with changed times; of a run without steps, up to its last work. All
/// dependencies stay as recorded, in their order, except those that the change removes. >= 0.
///
/// The time of FindCriticalPaths, and for each change O(edges).
std::vector<std::vector<int64_t>> ReplaySteps(const Run& run, const std::vector<bool>& counts,
                                              std::span<const TimeChange* const> changes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_REPLAY_H_
