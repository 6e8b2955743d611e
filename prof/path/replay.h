#ifndef OPLENS_PROF_PATH_REPLAY_H_
#define OPLENS_PROF_PATH_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

class Run;

/// What changes of the program, each on its own, would make of the times of a run.
class TimeChanges {
 public:
  static constexpr int64_t kNoDependency = -1;

  struct Changed {
    size_t change = 0;
    /// That a part of an edge would take, 0 to its own; kNoDependency: the edge would not exist.
    int64_t time_ns = 0;
  };

  virtual ~TimeChanges() = default;
  virtual size_t count() const = 0;
  /// Appends the changes in which a part takes another time, each once.
  virtual void Of(const PathEdge& part, std::vector<Changed>* changed) const = 0;
};

/// By how much each change would shorten each step of Steps::all(), by step and change; 0 for steps
/// that do not count. It is the difference between the longest paths through a step's dependencies,
/// as measured and with changed times; of a run without steps, up to its last work. All
/// dependencies stay as recorded, in their order, except those that the change removes. >= 0.
///
/// The time of FindCriticalPaths, and for each change O(edges) of the steps in which it changes
/// one.
std::vector<std::vector<int64_t>> ReplaySteps(const Run& run, const std::vector<bool>& counts,
                                              const TimeChanges& changes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_REPLAY_H_
