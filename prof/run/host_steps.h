#ifndef OPLENS_PROF_RUN_HOST_STEPS_H_
#define OPLENS_PROF_RUN_HOST_STEPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "prof/run/steps.h"

namespace oplens::prof {

/// The end of a sequence: `count` times the same `period` items.
struct Repetition {
  int64_t period = 0;
  int64_t count = 0;
};

inline constexpr int64_t kLeastRepetitions = 3;

/// The repetition at the end of a sequence of hashes that holds most of them, and of these the
/// shortest. What came before (loading, warming up) may differ. It must be at least
/// kLeastRepetitions times, at least half of the sequence, and more than one item, so that no loop
/// inside a step passes for the steps. Linear time; 4 bytes an item.
std::optional<Repetition> FindRepetition(std::span<const uint64_t> sequence);

/// The ranges ProfilerStep#N of a trace, in any order.
std::vector<HostStep> StepsOfRanges(const Trace& trace);

/// The periods of the kernels (and replays of graphs) of the GPU that ran most of them: from the
/// first launch of a period to that of the next; of the last to the end of the last call that
/// launched something. Without launches, or where a launch is of two periods, the times are those
/// on the GPU. Empty where nothing repeats (FindRepetition).
std::vector<HostStep> StepsOfRepetition(const Trace& trace, const DeviceWork& work);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_STEPS_H_
