#ifndef OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_
#define OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/kernels/communication.h"

namespace oplens::ops {

/// What a kernel computes, whatever op or library it belongs to. Kernels that only serve a product,
/// convolution or attention (split-K sums, Winograd transforms) are of its family.
enum class KernelFamily : uint8_t {
  kOther,        ///< Not named, or none of these.
  kGemm,         ///< Matrix and vector products, also batched.
  kGroupedGemm,  ///< Many products of different sizes, e.g. of a layer's experts.
  kConv,
  kAttention,    ///< Also linear attention and state-space models.
  kNorm,         ///< Layer, batch, group and RMS norms, also with what is fused to them.
  kSoftmax,      ///< Also cross entropy.
  kElementwise,  ///< Arithmetic, activations, dropout, rotary embedding, interpolation.
  kReduction,    ///< Sums, extrema, pooling, losses.
  kLayout,       ///< Copies, casts, transposes, concatenation, writes into a KV cache.
  kEmbedding,    ///< Lookups or additions by index: embeddings, gather, scatter.
  kSortScan,     ///< Sorts, top-k, scans, selection, histograms.
  kRandom,
  kOptimizer,
  kQuantise,  ///< To few bits and back, with the scales.
  kRouting,   ///< Assigns tokens to experts, and moves them there and back.
  kSampling,  ///< Picks the next token from logits; acceptance in speculative decoding.
  kCollective,
  kP2p,   ///< Send and receive, also as parts of an all-to-all.
  kFill,  ///< Writes a constant.
};

inline constexpr int kKernelFamilyCount = static_cast<int>(KernelFamily::kFill) + 1;

/// "gemm", "grouped_gemm", ..., "other".
std::string_view KernelFamilyWord(KernelFamily family);

/// Version of the rules in kernel_family.cc; incremented whenever an answer changes.
inline constexpr int kKernelFamilyRulesVersion = 1;

/// What a name says of the family.
struct NamedFamily {
  KernelFamily family = KernelFamily::kOther;  ///< If the grid has one row of blocks.
  KernelFamily tiled = KernelFamily::kOther;   ///< If the grid has several rows of blocks.
  bool by_word = false;  ///< Only a common word says so, not a library's naming scheme.

  /// `rows`: blocks in y; below 2 if unknown.
  KernelFamily Of(int64_t rows) const { return rows > 1 ? tiled : family; }
};

/// Classifies by full name, mangled or not; communication by CommunicationKindOf, otherwise the
/// first matching rule of one table. Linear in the name; never throws.
NamedFamily KernelFamilyOf(std::string_view kernel_name);

/// CommunicationKindOf() a name whose family is known.
std::optional<CommunicationKind> CommunicationKindOf(std::string_view kernel_name,
                                                     const NamedFamily& family);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_KERNEL_FAMILY_H_
