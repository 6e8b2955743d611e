#ifndef OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_

namespace oplens::annotate::torch {

// Events of PyTorch's allocators, as marks: docs/markers.md.
//
// Memory of the host: PyTorch's CPU allocator is wrapped, so that an allocation is seen on whatever
// thread, and its release too, in or outside of ops. Memory of devices: PyTorch reports it to what
// stands in a slot of the thread (ThreadLocalDebugInfo, PROFILER_STATE). torch.profiler stands
// there too, and refuses to begin where another does: so the slot is taken while an op runs only,
// and only where it is free. What is released outside of ops shows in the totals of the next event.

/// Begins to observe where a recorder takes the events. Each call that answers true needs a call of
/// StopMemory. From any thread.
bool StartMemory() noexcept;
void StopMemory() noexcept;

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_
