#ifndef OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_RANGES_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_RANGES_H_

#include <ATen/record_function.h>

#include <cstdint>

#include "nvtx_annotate/torch/range_stack.h"

namespace oplens::annotate::torch {

/// The token begun for a function (0: none) and what it means for functions inside it.
struct PyprofRange {
  uint64_t token = 0;
  Surroundings inside;
};

/// Begins the ranges of mode `pyprof` for a function of the framework (docs/pyprof_differences.md):
///
///   op, in no other op              O, and S where a node of the backward pass may refer to it
///   op inside an op                 S where its sequence number is another one
///   function of the user in Python  S; the ops in it are in no other op
///   node                            S; ops in it have an O only where Python calls them: those of
///                                   functions of the user, and forward ops that run again
///   all else                        a range of its name
PyprofRange BeginPyprof(const at::RecordFunction& function, const Surroundings& around);

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_PYPROF_RANGES_H_
