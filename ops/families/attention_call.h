#ifndef OPLENS_OPS_FAMILIES_ATTENTION_CALL_H_
#define OPLENS_OPS_FAMILIES_ATTENTION_CALL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// The keys that a query sees. Query i and key j have the distance j - i - shift, with shift 0, or
/// keys - queries if the last query is aligned to the last key. A query sees keys at most `left`
/// before it and at most `right` after it.
struct Visibility {
  static constexpr int64_t kUnlimited = -1;  ///< As is any negative number.
  int64_t left = kUnlimited;
  int64_t right = kUnlimited;  ///< 0: causal.
  bool bottom_right = false;   ///< shift = keys - queries.
};

/// Number of (query, visible key) pairs, in O(1). 0 for negative extents; if `seen` limits, extents
/// whose sum exceeds 64 bits overflow.
Checked VisiblePairs(int64_t queries, int64_t keys, const Visibility& seen);
/// Number of keys that some query sees: the others are never read. 0 for negative extents.
int64_t VisibleKeys(int64_t queries, int64_t keys, const Visibility& seen);

/// Q, K or V.
struct AttentionOperand {
  Tensor tensor;
  std::vector<int64_t> batch;
  int64_t heads = 1;
  int64_t length = 0;
  int64_t width = 0;
  bool has_heads = true;
};

/// A call of a fused attention function: everything its cost depends on.
struct Attention {
  Attention() = default;
  Attention(const Attention&) = delete;  // The operands' shapes point into `named`.
  Attention& operator=(const Attention&) = delete;

  OpCall named;  ///< The call with a keyword for every argument.
  AttentionOperand q, k, v;
  std::optional<Tensor> mask;
  std::vector<int64_t> batch;  ///< Broadcast.
  int64_t heads = 0;           ///< Query heads; a multiple of K's and V's.
  Visibility seen;
  bool log_sum_exp = true;       ///< The forward writes the row statistics.
  bool recomputes = true;        ///< The backward computes Q K^T again.
  bool upper_bound = false;      ///< Some counted pairs may be masked.
  bool unknown_lengths = false;  ///< Pairs are counted as if all lengths were maximal: a bound.
  bool varlen = false;           ///< Operands hold concatenated sequences of different lengths.
  int64_t sequences = 0;         ///< This to max_k: varlen only.
  int64_t max_q = 0;
  int64_t max_k = 0;
  /// Per head: of one batch member, or of all sequences of a varlen call.
  Checked pairs;
  Checked all_pairs;  ///< Likewise, without a mask.

  Checked batch_heads() const { return Elements(batch) * heads; }
};

/// The names that ReadAttention accepts.
std::span<const std::string_view> AttentionNames();

/// Reads a call of the function `op` (normalised). Returns why it has no price, or nullopt.
std::optional<Reason> ReadAttention(std::string_view op, const OpCall& call, Attention* attention);

/// The arguments that locate sequences of different lengths in one operand.
struct VarlenArgs {
  const OpArg* offsets_q = nullptr;  ///< cu_seqlens_q: one more than sequences.
  const OpArg* offsets_k = nullptr;
  std::optional<int64_t> max_q;
  std::optional<int64_t> max_k;
};

/// Counts the pairs of a varlen call whose operands have been read. Exact if the offsets' values
/// are recorded or all sequences must have the maximal length; otherwise an upper bound.
std::optional<Reason> CountVarlenPairs(const VarlenArgs& args, Attention* attention);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_ATTENTION_CALL_H_
