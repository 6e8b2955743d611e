#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_

#include <cstdint>

#include "nvtx_annotate/torch/range_stack.h"

namespace oplens::annotate::torch {

/// Begins T, the Python stack that calls an op which begins now, `place` being around it: where
/// call sites are asked for, a Python function calls it, and that is not the call that the op
/// around it comes from. A token for detail::End, 0 when nothing was begun. Takes the interpreter's
/// lock.
uint64_t BeginCallSite(Place place) noexcept;

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYTHON_TRACE_H_
