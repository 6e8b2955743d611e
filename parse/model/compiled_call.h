#ifndef OPLENS_PARSE_MODEL_COMPILED_CALL_H_
#define OPLENS_PARSE_MODEL_COMPILED_CALL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens {

/// What is recorded of a call of a kernel that a compiler made, besides its arguments: what
/// TorchInductor hands to PyTorch's profiler (`get_profiler_kwargs` of
/// torch/_inductor/runtime/triton_heuristics.py). "": not recorded.
struct CompiledFacts {
  std::string_view backend;  ///< "triton"
  std::string_view kwargs;   ///< Constants of the kernel: "XBLOCK=16,num_warps=4".
  std::string_view grid;     ///< What the grid is computed from: "grid(100,)".
  std::string_view file;     ///< Source of the kernel: "/tmp/torchinductor_me/qa/cqao.py".
  int64_t flops = -1;        ///< As the compiler counts them; negative: not recorded.
  int64_t bytes = -1;        ///< Traffic as the compiler counts it; negative: not recorded.

  bool any() const { return !backend.empty() || !kwargs.empty() || !grid.empty() || !file.empty(); }
};

/// mod of the calls that MakeCompiledCall makes.
inline constexpr std::string_view kCompiledMod = "triton";

/// Whether a name is that of a kernel that TorchInductor makes: "triton_poi_fused_add_0",
/// "triton__0d1d2de".
bool IsCompiledKernelName(std::string_view name);

/// The call of a compiled kernel: its arguments in order, then what is recorded besides as the
/// keywords kernel_kwargs and grid (texts), kernel_flop and kernel_bytes.
OpCall MakeCompiledCall(std::string_view name, std::vector<OpArg> args, const CompiledFacts& facts);

/// Adds what other files tell of a call that MakeCompiledCall made: the FX nodes that the kernel
/// computes, divided by commas ("mul_1,add_tensor"; keyword fused), and the names of the
/// parameters that the call passes ("in_ptr0,out_ptr0,xnumel"; keyword signature), if they are as
/// many as the arguments. "" adds nothing.
void AddOrigin(std::string_view nodes, std::string_view signature, OpCall* call);

/// The extents of a tensor as they lie in memory: those with a stride of 0 repeat one element.
/// Strides of another number tell nothing.
std::vector<int64_t> StoredExtents(std::vector<int64_t> shape, const std::vector<int64_t>& strides);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_COMPILED_CALL_H_
