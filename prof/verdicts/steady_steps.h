#ifndef OPLENS_PROF_VERDICTS_STEADY_STEPS_H_
#define OPLENS_PROF_VERDICTS_STEADY_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prof/verdicts/served_step.h"

namespace oplens::prof {

/// Whether a step counts in means, spreads and comparisons, or why it does not. Saved as numbers:
/// 0 and 1 were all there was before.
enum class StepState : uint8_t {
  kCut,         ///< The recording does not hold all of it.
  kSteady,      ///< Counts.
  kWarmUp,      ///< At the start, and longer than the rest: caches, compilation, allocation.
  kFilling,     ///< At the start, and shorter than the rest: the queue of the GPU is not full yet.
  kEnding,      ///< The last one, unlike the rest: it holds the end of the recording.
  kProfiler,    ///< Longer than the rest, mostly by the recorded work of the profiler itself.
  kOtherWork,   ///< As kWarmUp, but mostly since the GPU works longer: another kind of work, as a
                ///< prefill, or work from before the recording.
  kOtherPhase,  ///< Its label tells another phase of serving than that of the steps that count.
};
constexpr size_t WordCountOf(StepState) { return 8; }

/// "steady", "cut", "warm-up", "filling", "ending", "profiler", "other-work", "other-phase".
std::string_view StepStateWord(StepState state);
/// Why such a step is left out: "the recording ends in it". "" for kSteady.
std::string_view StepStateReason(StepState state);

/// What decides the state of a step.
struct StepLength {
  int64_t length_ns = 0;    ///< Of its span.
  int64_t profiler_ns = 0;  ///< Recorded time of the profiler's own work in it.
  bool cut = false;
  int64_t busy_ns = 0;  ///< Time in which a GPU works; only matters where a step warms up.
  ServedPhase phase = ServedPhase::kUnknown;  ///< If its label tells it.
};

/// With fewer steps that are not cut, all of these are steady: nothing is known of their spread.
/// But of three the first is warm-up if it is kMuchLonger times as long as the longer one of the
/// others.
inline constexpr size_t kLeastJudgedSteps = 4;
inline constexpr double kMuchLonger = 1.5;

/// The states of a rank's steps, which are in order of time.
///
/// Steps of one phase are judged, those of others are kOtherPhase. Of the phases with at least
/// kLeastJudgedSteps that are not cut, or of all if none has so many, it is the one with most of
/// the time; of equal ones the first of ServedPhase.
///
/// A step is unlike the rest if it differs from the median m of the steps that are not cut by more
/// than max(4 * 1.4826 * MAD, m / 10). Such a step is left out only for a reason: it is among the
/// first quarter with nothing but such steps before it, it is the last one, or the profiler's work
/// explains half of what it is longer. At the start and at the end it must also be longer (or
/// shorter) than 95 % of the steps between these. So slow steps in the midst of a run stay, as do
/// the kinds of steps of a run that has several. O(n).
std::vector<StepState> StatesOf(std::span<const StepLength> steps);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_STEADY_STEPS_H_
