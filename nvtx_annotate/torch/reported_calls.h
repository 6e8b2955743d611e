#ifndef OPLENS_NVTX_ANNOTATE_TORCH_REPORTED_CALLS_H_
#define OPLENS_NVTX_ANNOTATE_TORCH_REPORTED_CALLS_H_

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <array>
#include <cstddef>
#include <string>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/call_args.h"

// Calls that parts of PyTorch report to its profiler and that are no operators. Each object holds
// the texts that the arguments point to.

namespace oplens::annotate::torch {

/// A collective call as recorded by the backends of torch.distributed ("record_param_comms",
/// including NCCL's): name, tensors, group and number of ranks. Not an operator: it occurs inside
/// one.
class CommunicationCall {
 public:
  /// False if the function is something else or has an unknown layout.
  bool Read(const at::RecordFunction& function, CallArgs* args);

  /// Valid as long as this object.
  markers::OpNames names() const { return {"c10d", op_.c_str(), nullptr}; }

 private:
  std::string op_;
  std::string group_;
};

/// The launch of a kernel that TorchInductor compiled, as it tells PyTorch's profiler
/// (`get_profiler_kwargs` of torch/_inductor/runtime/triton_heuristics.py): the arguments in order,
/// and what the compiler knows as keywords.
class CompiledLaunch {
 public:
  /// False if the function is something else. `with_arguments`: what it works on too.
  bool Read(const at::RecordFunction& function, bool with_arguments, CallArgs* args);

 private:
  void AddText(const at::RecordFunction& function, const char* name, CallArgs* args);

  std::array<std::string, 2> texts_;
  size_t used_ = 0;
  c10::IValue flops_, bytes_;
};

}  // namespace oplens::annotate::torch

#endif  // OPLENS_NVTX_ANNOTATE_TORCH_REPORTED_CALLS_H_
