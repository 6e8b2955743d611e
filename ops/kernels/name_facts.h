#ifndef OPLENS_OPS_KERNELS_NAME_FACTS_H_
#define OPLENS_OPS_KERNELS_NAME_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::ops {

/// What the name of a kernel of products tells of how it was built; empty or nullopt: nothing. All
/// in the library's own terms: cuBLAS counts by columns, so its tile's M lies along the N of a
/// product of PyTorch.
struct NameFacts {
  std::string left;    ///< Type in memory of the left factor: "bf16", "fp8", "mxfp4", "q4_K".
  std::string right;   ///< Of the right one.
  std::string result;  ///< Of the result.
  std::optional<int64_t> tile_m, tile_n, tile_k;  ///< What a block computes at a time.
  std::string layout;  ///< "tn": the left factor transposed, the right not; or "nhwc", "nchw".
  std::optional<int64_t> m, n, k;         ///< Sizes that the kernel was compiled for.
  std::optional<int64_t> head_dimension;  ///< Of attention.

  bool empty() const { return Text().empty(); }

  /// "A=bf16,B=mxfp4,D=bf16,tile=128x128x64,layout=tn,N=4096,K=7168"; a size that is not told is
  /// left out, in a tile "?".
  std::string Text() const;
};

/// By the full name, demangled or not, in one table of patterns: nvjet, cuBLAS, cuDNN, xmma,
/// CUTLASS 2 and 3, Triton, FlashAttention, TensorRT-LLM, DeepGEMM, ggml, Tensile, MIOpen. The
/// names are no documented interface: facts are as good as the libraries' habits. Never throws.
NameFacts NameFactsOf(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_NAME_FACTS_H_
