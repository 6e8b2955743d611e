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

/// Which keys a query sees. Query i and key j are j - i - shift apart, where the shift is 0, or
/// keys - queries when the last query stands over the last key. The query sees the keys that are at
/// most `left` before it and at most `right` after it.
struct Visibility {
  static constexpr int64_t kUnlimited = -1;  ///< As every negative number.
  int64_t left = kUnlimited;
  int64_t right = kUnlimited;  ///< 0: causal.
  bool bottom_right = false;   ///< The shift is keys - queries.
};

/// The pairs of a query and a key that it sees, by a closed formula. An extent below 0 has none;
/// extents whose sum does not fit into 64 bits overflow where `seen` limits.
Checked VisiblePairs(int64_t queries, int64_t keys, const Visibility& seen);

/// Q, K or V.
struct AttentionOperand {
  Tensor tensor;
  std::vector<int64_t> batch;
  int64_t heads = 1;
  int64_t length = 0;
  int64_t width = 0;
  bool has_heads = true;
};

/// A call of a fused attention function: all that its cost hangs on.
struct Attention {
  Attention() = default;
  Attention(const Attention&) = delete;  // The operands' shapes are those of `named`.
  Attention& operator=(const Attention&) = delete;

  OpCall named;  ///< The call with a keyword for every argument.
  AttentionOperand q, k, v;
  std::optional<Tensor> mask;
  std::vector<int64_t> batch;  ///< Broadcast.
  int64_t heads = 0;           ///< Of the queries; those of K and V divide it.
  Visibility seen;
  bool log_sum_exp = true;       ///< The forward writes the rows' statistics.
  bool recomputes = true;        ///< The backward computes Q K^T again.
  bool upper_bound = false;      ///< Some of the pairs that count may be masked.
  bool unknown_lengths = false;  ///< As many pairs count as there may be: a bound.
  bool varlen = false;           ///< One operand holds sequences of different lengths.
  int64_t sequences = 0;         ///< From here to max_k: of a varlen call.
  int64_t max_q = 0;
  int64_t max_k = 0;
  /// Pairs of a head: of each member of the batch, or of all sequences of a varlen call together.
  Checked pairs;
  Checked all_pairs;  ///< The same without a mask.

  Checked batch_heads() const { return Elements(batch) * heads; }
};

/// The names that ReadAttention knows.
std::span<const std::string_view> AttentionNames();

/// Reads a call of the function of that normalised name. The reason why it cannot be priced, or
/// nullopt.
std::optional<Reason> ReadAttention(std::string_view op, const OpCall& call, Attention* attention);

/// The arguments that place sequences of different lengths in one operand.
struct VarlenArgs {
  const OpArg* offsets_q = nullptr;  ///< cu_seqlens_q: one more than there are sequences.
  const OpArg* offsets_k = nullptr;
  std::optional<int64_t> max_q;
  std::optional<int64_t> max_k;
};

/// Counts the pairs of a varlen call, whose operands are read: exact where the values of the
/// offsets are recorded, or all sequences are as long as the longest; else as if they were, which
/// is an upper bound.
std::optional<Reason> CountVarlenPairs(const VarlenArgs& args, Attention* attention);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_ATTENTION_CALL_H_
