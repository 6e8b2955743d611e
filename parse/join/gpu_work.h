#ifndef OPLENS_PARSE_JOIN_GPU_WORK_H_
#define OPLENS_PARSE_JOIN_GPU_WORK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Index of GPU work: kernels in output order, then, by start, graph replays whose kernels are
/// hidden, then Trace::captured.
using WorkIndex = uint32_t;

/// `work`: a kernel, or one that was captured.
inline const Kernel& KernelOf(const Trace& trace, WorkIndex work) {
  if (work < trace.kernels.size()) return trace.kernels[work];
  return trace.captured[work - trace.kernels.size() - trace.graph_replays.size()];
}

/// Launched work, in output order and in launch order.
class GpuWork {
 public:
  /// Sorts the kernels of `trace` and those captured (start, correlation id, row id; untimed ones
  /// last), and its graph replays by start. `trace` must outlive this object.
  explicit GpuWork(Trace* trace);

  size_t count() const { return FirstCaptured() + trace_.captured.size(); }
  bool IsKernel(WorkIndex work) const { return work < trace_.kernels.size(); }
  bool IsCaptured(WorkIndex work) const { return work >= FirstCaptured(); }
  size_t FirstCaptured() const { return trace_.kernels.size() + trace_.graph_replays.size(); }
  const GraphReplay& ReplayOf(WorkIndex work) const {
    return trace_.graph_replays[work - trace_.kernels.size()];
  }
  /// The call whose surroundings identify its op: its launch, or its capture into the graph.
  /// kNoLaunch: unknown.
  LaunchIndex OriginOf(WorkIndex work) const {
    if (!IsKernel(work) && !IsCaptured(work)) return ReplayOf(work).launch;
    const Kernel& kernel = KernelOf(trace_, work);
    return kernel.capture != kNoLaunch ? kernel.capture : kernel.launch;
  }
  /// The work launched by a thread, in the order of its calls.
  std::span<const WorkIndex> Of(ThreadIndex thread) const {
    return {by_thread_.data() + bounds_[thread], bounds_[thread + 1] - bounds_[thread]};
  }

 private:
  const Trace& trace_;
  std::vector<WorkIndex> by_thread_;
  std::vector<size_t> bounds_;  // By thread; one more at the end.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_GPU_WORK_H_
