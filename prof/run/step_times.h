#ifndef OPLENS_PROF_RUN_STEP_TIMES_H_
#define OPLENS_PROF_RUN_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/step.h"

namespace oplens::prof {

class Run;

/// What a moment of a step is spent on; if several apply, the first.
enum class TimeClass : uint8_t {
  kKernel,  ///< Compute kernels and graph replays.
  kMemcpy,
  kMemset,
  kComm,
  kRuntime,
  kDataLoader,
  kCpu,
};
inline constexpr size_t kTimeClassCount = 7;

constexpr uint32_t BitOf(TimeClass time_class) { return 1u << static_cast<uint32_t>(time_class); }
inline constexpr uint32_t kDeviceClasses = BitOf(TimeClass::kKernel) | BitOf(TimeClass::kMemcpy) |
                                           BitOf(TimeClass::kMemset) | BitOf(TimeClass::kComm);

/// What decides the class of an event.
struct ClassRules {
  TimeClass communication_kernels = TimeClass::kComm;
  std::vector<bool> collectives = {};  ///< By index: kernels that are always kComm; empty: none.
  LeftOutCalls left_out = {};          ///< API calls that do not count.
  /// Whether a range of this name is communication; null: none is.
  bool (*is_collective)(std::string_view name) = nullptr;
  bool shadows = false;  ///< Ranges' shadows on the GPU count as the ranges do.
};

ClassIntervals TimeClassesOf(const Run& run, const ClassRules& rules = {});

/// Where the time of one step went, ns; nullopt if unknown.
struct StepTimes {
  using Time = std::optional<int64_t>;

  std::array<Time, kTimeClassCount + 1> parts;  ///< By class, then the rest.
  std::array<Time, kTimeClassCount>
      exposed;  ///< GPU classes: alone on the GPU; host classes: while the GPU is idle.
  std::array<Time, kTimeClassCount> hidden;
  Time busy;    ///< The GPU does something.
  Time queued;  ///< Part of the rest: IdleCause::kQueued.
  Time cold;    ///< Part of the rest: IdleCause::kColdStart.
  Time ended;   ///< Part of the rest, of a run without steps: IdleCause::kTail.

  friend auto operator<=>(const StepTimes&, const StepTimes&) = default;
};

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes);

/// The times of a run's steps by our own rules: when no GPU works, the parts of the host are those
/// of the one classification of idle time (IdleCause), except after the last work of steps and
/// before work of unknown launch: there, as in a run without work, they are what any thread does.
/// Keeps about `at_once` (> 0) intervals of classes at a time, or a sixteenth of all if that is
/// more, 16 bytes each. Run::step_times() has
/// them once for all views.
std::vector<StepTimes> StepTimesOf(const Run& run, size_t at_once = size_t{1} << 21);

/// GPUs on which kernels or replays ran.
int64_t GpuCountOf(const DeviceWork& work);

/// The bits of classes [first, last).
constexpr uint32_t BitsOf(size_t first, size_t last) {
  return (uint32_t{1} << last) - (uint32_t{1} << first);
}

/// Fills the parts of a step: part i is the time of class i without the classes [first[i], i),
/// which take precedence; the last part is what classes from first.back() on leave of `total_ns`.
void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEP_TIMES_H_
