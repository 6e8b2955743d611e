// Attention over sequences of different lengths, which lie one after another in one operand.

#include <algorithm>

#include "ops/families/attention_call.h"

namespace oplens::ops {
namespace {

// Whether the offsets of sequences rise from 0 to the length of the operand.
bool OffsetsFit(const std::vector<int64_t>& offsets, int64_t length) {
  return !offsets.empty() && offsets.front() == 0 && offsets.back() == length &&
         std::is_sorted(offsets.begin(), offsets.end());
}

// The number of sequences that offsets tell, whose values are mostly not recorded.
std::optional<int64_t> AttentionVarlenSequences(const OpArg& offsets) {
  if (offsets.kind == OpArg::Kind::kIntList && !offsets.int_list.empty()) {
    return static_cast<int64_t>(offsets.int_list.size()) - 1;
  }
  if (offsets.kind != OpArg::Kind::kTensor || offsets.shape.size() != 1 || offsets.shape[0] < 1) {
    return std::nullopt;
  }
  return offsets.shape[0] - 1;
}

std::optional<Reason> SumPairs(const std::vector<int64_t>& q, const std::vector<int64_t>& k,
                               Attention* a) {
  if (!OffsetsFit(q, a->q.length) || !OffsetsFit(k, a->k.length)) return Reason::kShapeMismatch;
  a->pairs = 0;
  a->all_pairs = 0;
  for (size_t i = 1; i < q.size(); ++i) {
    const int64_t queries = q[i] - q[i - 1];
    const int64_t keys = k[i] - k[i - 1];
    a->max_q = std::max(a->max_q, queries);
    a->max_k = std::max(a->max_k, keys);
    a->pairs += VisiblePairs(queries, keys, a->seen);
    a->all_pairs += Checked(queries) * keys;
  }
  return std::nullopt;
}

// Without the lengths every sequence may be as long as the longest; it is when they fill the
// operands.
std::optional<Reason> BoundPairs(const VarlenArgs& args, Attention* a) {
  a->max_q = args.max_q.value_or(-1);
  a->max_k = args.max_k.value_or(-1);
  if (a->max_q < 0 || a->max_k < 0) return Reason::kUnsupportedArgs;
  const Checked space_q = Checked(a->sequences) * a->max_q;
  const Checked space_k = Checked(a->sequences) * a->max_k;
  const auto too_small = [](Checked space, int64_t length) {
    const std::optional<int64_t> value = space.Value();
    return value && *value < length;
  };
  if (too_small(space_q, a->q.length) || too_small(space_k, a->k.length)) {
    return Reason::kShapeMismatch;
  }
  if (!(space_q == a->q.length) || !(space_k == a->k.length)) {
    a->upper_bound = true;
    a->unknown_lengths = true;
  }
  a->pairs = Checked(a->sequences) * VisiblePairs(a->max_q, a->max_k, a->seen);
  a->all_pairs = Checked(a->sequences) * a->max_q * a->max_k;
  return std::nullopt;
}

}  // namespace

std::optional<Reason> CountVarlenPairs(const VarlenArgs& args, Attention* attention) {
  const OpArg* q = args.offsets_q;
  const OpArg* k = args.offsets_k;
  Attention* a = attention;
  if (q == nullptr || k == nullptr) return Reason::kUnsupportedArgs;
  const std::optional<int64_t> sequences = AttentionVarlenSequences(*q);
  const std::optional<int64_t> same = AttentionVarlenSequences(*k);
  if (!sequences || !same) return Reason::kUnsupportedArgs;
  if (*sequences != *same || a->batch != std::vector<int64_t>{1}) return Reason::kShapeMismatch;
  a->sequences = *sequences;
  const bool known = q->kind == OpArg::Kind::kIntList && k->kind == OpArg::Kind::kIntList;
  return known ? SumPairs(q->int_list, k->int_list, a) : BoundPairs(args, a);
}

}  // namespace oplens::ops
