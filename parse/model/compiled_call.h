#ifndef OPLENS_PARSE_MODEL_COMPILED_CALL_H_
#define OPLENS_PARSE_MODEL_COMPILED_CALL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens {

/// What TorchInductor hands to PyTorch's profiler about a compiled kernel's call, besides its
/// arguments (`get_profiler_kwargs` of torch/_inductor/runtime/triton_heuristics.py). "": not
/// recorded.
struct CompiledFacts {
  std::string_view backend;  ///< "triton"
  std::string_view kwargs;   ///< The kernel's constants: "XBLOCK=16,num_warps=4".
  std::string_view grid;     ///< What the grid is computed from: "grid(100,)".
  std::string_view file;     ///< The kernel's source: "/tmp/torchinductor_me/qa/cqao.py".
  int64_t flops = -1;        ///< As counted by the compiler; negative: not recorded.
  int64_t bytes = -1;        ///< Traffic as counted by the compiler; negative: not recorded.

  bool any() const { return !backend.empty() || !kwargs.empty() || !grid.empty() || !file.empty(); }
};

/// mod of the calls that MakeCompiledCall makes.
inline constexpr std::string_view kCompiledMod = "triton";

/// Whether TorchInductor makes such kernel names: "triton_poi_fused_add_0", "triton__0d1d2de".
bool IsCompiledKernelName(std::string_view name);

/// Returns the call of a compiled kernel: its arguments in order, then, unless there are none, the
/// keywords kernel_kwargs and grid (texts), kernel_flop and kernel_bytes with recorded facts.
OpCall MakeCompiledCall(std::string_view name, std::vector<OpArg> args, const CompiledFacts& facts);

/// Adds what other files say about a call that MakeCompiledCall made: the FX nodes that the kernel
/// computes, comma-separated ("mul_1,add_tensor"; keyword fused), and, if there are as many as
/// arguments, the parameter names ("in_ptr0,out_ptr0,xnumel"; keyword signature). "" adds nothing.
void AddOrigin(std::string_view nodes, std::string_view signature, OpCall* call);

/// Returns the extents of a tensor as stored in memory: an extent with stride 0 becomes 1, since it
/// repeats one element. Returns `shape` unchanged if there are not as many strides as extents.
std::vector<int64_t> StoredExtents(std::vector<int64_t> shape, const std::vector<int64_t>& strides);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_COMPILED_CALL_H_
