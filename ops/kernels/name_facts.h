#ifndef OPLENS_OPS_KERNELS_NAME_FACTS_H_
#define OPLENS_OPS_KERNELS_NAME_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oplens::ops {

/// What the name of a matrix or routing kernel says about how it was built; empty or nullopt:
/// nothing. In the library's terms: cuBLAS is column-major, so its tile's M lies along N of
/// PyTorch's product.
struct NameFacts {
  /// Along which extents the tile lies, and whose terms `layout` is in.
  enum class Order : uint8_t {
    kUnknown,
    kBlas,  ///< Those of the column-major product, named as in PricedOp::params.
    kRows,  ///< Those of PyTorch's row-major product: tile_m along N of `params`.
  };
  Order order = Order::kUnknown;
  std::string left;  ///< Type in memory of the left factor: "bf16", "fp8", "mxfp4", "q4_K".
  std::string right;
  std::string result;
  std::optional<int64_t> tile_m, tile_n, tile_k;  ///< Computed by a block at a time.
  std::string layout;              ///< "tn": left factor transposed, right not; or "nhwc", "nchw".
  std::optional<int64_t> m, n, k;  ///< Compile-time sizes.
  std::optional<int64_t> head_dimension;  ///< Attention only.
  std::optional<int64_t> experts;         ///< Routing of a mixture of experts only.

  bool empty() const { return Text().empty(); }

  /// "A=bf16,B=mxfp4,D=bf16,tile=128x128x64,layout=tn,N=4096,K=7168"; "?" for unknown tile sizes.
  std::string Text() const;
};

/// Reads the full name, demangled or not, by one table of patterns: nvjet, cuBLAS, cuDNN, xmma,
/// CUTLASS 2 and 3, Triton, FlashAttention, TensorRT-LLM, DeepGEMM, ggml, Tensile, MIOpen. The
/// names are no documented interface, so facts are as good as the libraries' habits. Never throws.
NameFacts NameFactsOf(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_NAME_FACTS_H_
