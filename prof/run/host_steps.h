#ifndef OPLENS_PROF_RUN_HOST_STEPS_H_
#define OPLENS_PROF_RUN_HOST_STEPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/steps.h"

namespace oplens::prof {

/// The end of a sequence: `count` repetitions of `period` items.
struct Repetition {
  int64_t period = 0;
  int64_t count = 0;
};

inline constexpr int64_t kLeastRepetitions = 3;

/// The repetition at the end of a sequence of hashes that covers most items; of several the one
/// with the shortest period. Earlier items (loading, warm-up) may differ. Requires at least
/// kLeastRepetitions, half of the sequence and more than one item, so that loops within a step are
/// not taken for steps. Linear time; 4 bytes per item.
std::optional<Repetition> FindRepetition(std::span<const uint64_t> sequence);

/// A range that --step takes.
struct StepMatch {
  ThreadIndex thread = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< Before the start if never closed.
  std::optional<int64_t> number = std::nullopt;
};

/// Removes ranges within another one on their thread; orders the others by thread and start.
void KeepOutermost(std::vector<StepMatch>* matches);

/// Whether matches, as KeepOutermost leaves them, all have numbers that ascend on each thread.
bool CountUp(std::span<const StepMatch> matches);

/// Steps with the numbers in the texts of the outermost matches, if these count up. Otherwise
/// numbers them by time from 0, without those within another one on any thread. O(n log n).
std::vector<HostStep> StepsOfMatches(std::vector<StepMatch> matches);

/// Steps whose numbers the user's pattern picks; every match must have one.
std::vector<HostStep> StepsOfPicked(std::span<const StepMatch> matches);

/// The ranges ProfilerStep#N of a trace, in any order.
std::vector<HostStep> StepsOfRanges(const Trace& trace);

/// The periods of the kernels (and graph replays) of the GPU that ran most: from a period's first
/// launch to the next one's, the last to the end of the last launch. Uses times on the GPU if
/// launches are unknown or belong to two periods. Empty if nothing repeats (FindRepetition).
std::vector<HostStep> StepsOfRepetition(const Trace& trace, const DeviceWork& work);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_STEPS_H_
