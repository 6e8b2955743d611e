#ifndef OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_
#define OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_

#include <cstddef>
#include <cstdint>

#include "prof/run/class_times.h"
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

/// When each class ran in a run. By the rules of the TensorBoard plugin communication is what the
/// ranges named after a collective ("nccl:all_reduce") and their shadows on the GPU span, and the
/// kernels that have the external id of one (Trace::torch_events); other kernels are compute, other
/// shadows kCpu, and calls of the driver do not count.
ClassIntervals TimeClassesOf(const Run& run, Compat compat);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_OVERVIEW_CLASSES_H_
