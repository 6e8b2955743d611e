#ifndef OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_
#define OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_

#include <cstdint>
#include <string_view>

namespace oplens::ops {

/// What a kernel computes, whatever op or library it is of. What serves a product, a convolution or
/// attention alone (sums of split-K parts, Winograd's transforms) is of their family.
enum class KernelFamily : uint8_t {
  kOther,        ///< The name does not say, or none of these.
  kGemm,         ///< Products of matrices and vectors, batched ones too.
  kGroupedGemm,  ///< Many products of different sizes: of the experts of a layer.
  kConv,
  kAttention,    ///< Also linear attention and state-space models.
  kNorm,         ///< Layer, batch, group and RMS norms, also with what is fused around them.
  kSoftmax,      ///< Also cross entropy, which is one with a pick.
  kElementwise,  ///< Arithmetic, activations, dropout, rotary embedding, interpolation.
  kReduction,    ///< Sums, extrema, pooling, losses.
  kLayout,       ///< Copies, casts, transposes, concatenation, writes into a KV cache.
  kEmbedding,    ///< Rows looked up or added by index: embeddings, gather, scatter.
  kSortScan,     ///< Sorts, top-k, scans, selection, histograms.
  kRandom,
  kOptimizer,
  kQuantise,  ///< To few bits and back, with their scales.
  kRouting,   ///< Which token goes to which expert, and the tokens' way there and back.
  kSampling,  ///< The next token out of logits, and what speculation accepts.
  kCollective,
  kP2p,   ///< Send and receive, also those that an all-to-all is made of.
  kFill,  ///< Writes a constant.
};

inline constexpr int kKernelFamilyCount = static_cast<int>(KernelFamily::kFill) + 1;

/// "gemm", "grouped_gemm", ..., "other".
std::string_view KernelFamilyWord(KernelFamily family);

/// Of the rules of kernel_family.cc; a number more for every change of what they answer.
inline constexpr int kKernelFamilyRulesVersion = 1;

/// What a name tells.
struct NamedFamily {
  KernelFamily family = KernelFamily::kOther;  ///< Of a launch whose blocks are a line.
  KernelFamily tiled = KernelFamily::kOther;   ///< Of one with several rows of blocks.
  bool by_word = false;  ///< Only a word of its name says so, and no library's naming.

  /// `rows`: blocks in y; anything below 2 where that is not known.
  KernelFamily Of(int64_t rows) const { return rows > 1 ? tiled : family; }
};

/// By the full name, mangled or not, in one table: the first rule that matches decides. What moves
/// data between GPUs is by CommunicationKindOf. Linear in the name; never throws.
NamedFamily KernelFamilyOf(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_
