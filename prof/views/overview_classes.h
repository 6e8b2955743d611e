#ifndef OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_
#define OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/views/view.h"

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

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_
