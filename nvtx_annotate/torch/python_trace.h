#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_

#include <atomic>
#include <cstdint>

#include "nvtx_annotate/torch/range_stack.h"

namespace oplens::annotate::torch {

/// Whether call sites are enabled.
extern std::atomic<bool> g_call_sites;
uint64_t BeginEnabledCallSite(Place place) noexcept;

/// Begins T, the Python stack that calls the op beginning now, with `place` around it: if call
/// sites are enabled, a Python function calls it, and the enclosing op does not come from the same
/// call. Returns a token for detail::End, 0 if nothing was begun. Takes the GIL.
inline uint64_t BeginCallSite(Place place) noexcept {
  return g_call_sites.load(std::memory_order_relaxed) ? BeginEnabledCallSite(place) : 0;
}

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_
