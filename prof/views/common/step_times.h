#ifndef OPLENS_PROF_VIEWS_COMMON_STEP_TIMES_H_
#define OPLENS_PROF_VIEWS_COMMON_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/step.h"

namespace oplens::prof {

class Run;

/// What a moment of a step is spent on; of several the first.
enum class TimeClass : uint8_t {
  kKernel,  ///< Compute kernels and replays of graphs.
  kMemcpy,
  kMemset,
  kComm,
  kRuntime,
  kDataLoader,
  kCpu,
};
inline constexpr size_t kTimeClassCount = 7;

constexpr uint32_t BitOf(TimeClass time_class) { return 1u << static_cast<uint32_t>(time_class); }
/// What the GPU does.
inline constexpr uint32_t kDeviceClasses = BitOf(TimeClass::kKernel) | BitOf(TimeClass::kMemcpy) |
                                           BitOf(TimeClass::kMemset) | BitOf(TimeClass::kComm);

/// What decides which class something is of.
struct ClassRules {
  TimeClass communication_kernels = TimeClass::kComm;
  std::vector<bool> collectives = {};  ///< By index, kernels that are kComm anyway; empty: none.
  LeftOutCalls left_out = {};          ///< API calls that do not count; empty: all do.
  /// Whether a range of that name is communication; null: none is.
  bool (*is_collective)(std::string_view name) = nullptr;
  bool shadows = false;  ///< The shadows of ranges on the GPU count as the ranges do.
};

/// When each class ran in a run.
ClassIntervals TimeClassesOf(const Run& run, const ClassRules& rules = {});

/// Where the time of one step went, ns; what is not known is missing.
struct StepTimes {
  using Time = std::optional<int64_t>;

  std::array<Time, kTimeClassCount + 1> parts;  ///< By class, then what is left.
  std::array<Time, kTimeClassCount> exposed;    ///< Alone on the GPU; of the host: with it idle.
  std::array<Time, kTimeClassCount> hidden;
  Time busy;  ///< The GPU does something.

  static constexpr std::tuple kMembers{&StepTimes::parts, &StepTimes::exposed, &StepTimes::hidden,
                                       &StepTimes::busy};
  friend auto operator<=>(const StepTimes&, const StepTimes&) = default;
};

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes);

/// The bits of the classes [first, last).
constexpr uint32_t BitsOf(size_t first, size_t last) {
  return (uint32_t{1} << last) - (uint32_t{1} << first);
}

/// The parts of a step: each moment is that of the first class that runs, of those from
/// `first[class]` on.
void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_STEP_TIMES_H_
