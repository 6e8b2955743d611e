#ifndef OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_

namespace oplens::annotate::torch {

// Emits events of PyTorch's allocators as marks: docs/markers.md.
//
// Host memory: PyTorch's CPU allocator is wrapped, so that allocations and releases are seen on any
// thread, inside and outside ops. Device memory: PyTorch reports it to the object in a thread's
// slot (ThreadLocalDebugInfo, PROFILER_STATE). torch.profiler uses the same slot and refuses to
// start if it is taken, so the slot is taken only while an op runs and only if it is free. Releases
// outside ops show in the totals of the next event.

/// Starts observing if a recorder takes the events. Each call that returns true needs a call of
/// StopMemory. Thread-safe.
bool StartMemory() noexcept;
void StopMemory() noexcept;

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_ALLOCATIONS_H_
