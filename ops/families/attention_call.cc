#include "ops/families/attention_call.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ops/pricing.h"

namespace oplens::ops {
namespace {

/// The sum of i + first over 0 <= i < rows, each clamped to [0, most].
Checked SumOfRows(int64_t rows, int64_t first, int64_t most) {
  // Rows before `start` count 0, those from `full` on `most`.
  const int64_t start = std::min(rows, std::max<int64_t>(0, first == INT64_MIN ? rows : -first));
  if (first >= most) return Checked(rows) * most;
  const std::optional<int64_t> limit = (Checked(most) - first).Value();
  const int64_t full = std::max(start, std::min(rows, limit.value_or(rows)));
  const Checked growing = Checked(full) - start;
  const Checked least = Checked(start) + first;
  return growing * least + growing * (growing - 1) / 2 + (Checked(rows) - full) * most;
}

/// Pairs whose key is at most `after` behind its query; `after` may be negative.
Checked PairsUpTo(int64_t queries, int64_t keys, Checked shift, Checked after) {
  const std::optional<int64_t> first = (shift + after + 1).Value();
  // Overflows the result.
  if (!first) return Checked(INT64_MAX) * INT64_MAX * INT64_MAX;
  return SumOfRows(queries, *first, keys);
}

using AttentionCallOperand = AttentionOperand;

// ---- entry points ----

enum class Layout : uint8_t {
  kHeadsFirst,     // [.., H, S, D]
  kSequenceFirst,  // [B, S, H, D]; with sequence offsets [T, H, D] or [1, T, H, D].
  kXformers,       // kSequenceFirst; also [B, S, D] and [B, S, G, H, D].
};

struct EntryPoint {
  std::string_view name;
  // Parameters of the positional arguments, as in kParameters below; "-": ignored.
  std::string_view signature;
  Layout layout = Layout::kHeadsFirst;
  bool bottom_right = false;  // Alignment of is_causal and windows.
  bool recomputes = true;     // The backward computes Q K^T again.
  bool all_recorded = false;  // The caller always passes is_causal.
};

constexpr EntryPoint kEntryPoints[] = {
    {"scaled_dot_product_attention", "query key value attn_mask - is_causal - enable_gqa"},
    {"_scaled_dot_product_flash_attention", "query key value - is_causal - -"},
    {"_scaled_dot_product_efficient_attention",
     "query key value attn_mask compute_log_sumexp - is_causal -"},
    {"_scaled_dot_product_cudnn_attention",
     "query key value attn_mask compute_log_sumexp - is_causal - -"},
    {"_scaled_dot_product_fused_attention_overrideable",
     "query key value attn_mask - is_causal - -"},
    {"_scaled_dot_product_flash_attention_for_cpu", "query key value - is_causal attn_mask -"},
    {"_scaled_dot_product_attention_math", "query key value attn_mask - is_causal - - enable_gqa",
     Layout::kHeadsFirst, false, false},
    {"flex_attention", "query key value - block_mask - enable_gqa - -"},
    {"_flash_attention",
     "query key value cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - is_causal - - "
     "window_size_left window_size_right seqused_k - -",
     Layout::kSequenceFirst, true},
    {"_efficient_attention",
     "query key value attn_mask cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - "
     "custom_mask_type compute_log_sumexp - seqused_k local_size",
     Layout::kSequenceFirst},
    {"_flash_attn", "query key value - - is_causal window_size_left window_size_right - - - -",
     Layout::kSequenceFirst, true, true, true},
    {"_flash_attn_varlen",
     "query key value cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - - is_causal "
     "window_size_left window_size_right - - - block_table - seqused_k -",
     Layout::kSequenceFirst, true, true, true},
    {"flash_attn_func", "query key value - - is_causal window_size - - - - -",
     Layout::kSequenceFirst, true},
    {"FlashAttnFunc", "query key value - - is_causal window_size - - - - -", Layout::kSequenceFirst,
     true, true, true},
    {"fmha_v3_fwd",
     "query key value - - is_causal window_size_left window_size_right - - - - - - - - - -",
     Layout::kSequenceFirst, true, true, true},
    {"flash_attn_varlen_func",
     "query key value cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - - is_causal "
     "window_size - - - - block_table -",
     Layout::kSequenceFirst, true},
    {"FlashAttnVarlenFunc",
     "query key value cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - - is_causal "
     "window_size - - - - block_table -",
     Layout::kSequenceFirst, true, true, true},
    {"efficient_attention_forward_cutlass",
     "query key value attn_mask cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k - "
     "compute_log_sumexp custom_mask_type - seqused_k local_size",
     Layout::kXformers},
    {"memory_efficient_attention", "query key value attn_mask - - -", Layout::kXformers},
    {"memory_efficient_attention_forward", "query key value attn_mask - - -", Layout::kXformers},
};

// The call with a keyword for every argument; nullopt if there are more than in the signature.
std::optional<OpCall> NamedCall(std::string_view signature, const OpCall& call) {
  OpCall named;
  for (const OpArg& arg : call.args) {
    if (!arg.name.empty()) {
      named.args.push_back(arg);
      continue;
    }
    if (signature.empty()) return std::nullopt;
    const size_t blank = std::min(signature.find(' '), signature.size());
    const std::string_view word = signature.substr(0, blank);
    signature.remove_prefix(std::min(blank + 1, signature.size()));
    if (word == "-") continue;
    named.args.push_back(arg);
    named.args.back().name = word;
  }
  return named;
}

enum AttentionCallParameter : size_t {
  kAttentionQuery,
  kAttentionKey,
  kAttentionValue,
  kAttentionMask,
  kAttentionIsCausal,
  kAttentionEnableGqa,
  kAttentionLogSumExp,
  kAttentionOffsetsQ,
  kAttentionOffsetsK,
  kAttentionMaxQ,
  kAttentionMaxK,
  kAttentionWindow,
  kAttentionWindowLeft,
  kAttentionWindowRight,
  kAttentionLocalSize,
  kAttentionMaskType,
  kAttentionUsedK,
  kAttentionBlockTable,
  kAttentionBlockMask,
};

// ---- operands ----

std::optional<AttentionCallOperand> HeadsFirst(const Tensor& tensor) {
  const Shape shape = tensor.shape;
  const size_t rank = shape.size();
  if (rank < 2) return std::nullopt;
  AttentionCallOperand operand{tensor, {}, 1, shape[rank - 2], shape[rank - 1], rank > 2};
  if (rank > 2) operand.heads = shape[rank - 3];
  if (rank > 3) operand.batch.assign(shape.begin(), shape.end() - 3);
  return operand;
}

std::optional<AttentionCallOperand> SequenceFirst(const Tensor& tensor, bool offsets,
                                                  bool xformers) {
  const Shape s = tensor.shape;
  if (s.size() == 4) return AttentionCallOperand{tensor, {s[0]}, s[2], s[1], s[3], true};
  if (s.size() == 3 && offsets) return AttentionCallOperand{tensor, {1}, s[1], s[0], s[2], true};
  if (s.size() == 3 && xformers) return AttentionCallOperand{tensor, {s[0]}, 1, s[1], s[2], false};
  if (s.size() == 5 && xformers) {
    const std::optional<int64_t> heads = (Checked(s[2]) * s[3]).Value();
    if (heads) return AttentionCallOperand{tensor, {s[0]}, *heads, s[1], s[4], true};
  }
  return std::nullopt;
}

// Whether heads of K or V fit `heads` of Q: equal, one for all, or one per group.
bool HeadsFit(int64_t heads, int64_t given, bool groups) {
  return given == heads || given == 1 || (groups && given > 0 && heads % given == 0);
}

bool ReadAttentionCallOperands(const EntryPoint& entry, CallArgs* args, Attention* a) {
  const Tensor tensors[] = {args->RequireTensor(kAttentionQuery),
                            args->RequireTensor(kAttentionKey),
                            args->RequireTensor(kAttentionValue)};
  a->varlen =
      args->Find(kAttentionOffsetsQ) != nullptr || args->Find(kAttentionOffsetsK) != nullptr;
  if (args->failed()) return false;
  AttentionCallOperand* operands[] = {&a->q, &a->k, &a->v};
  for (size_t i = 0; i < 3; ++i) {
    if (tensors[i].number || !(tensors[i].Differentiable())) {
      args->Fail(Reason::kUnsupportedArgs);
      return false;
    }
    const std::optional<AttentionCallOperand> operand =
        entry.layout == Layout::kHeadsFirst
            ? HeadsFirst(tensors[i])
            : SequenceFirst(tensors[i], a->varlen, entry.layout == Layout::kXformers);
    if (!operand) {
      args->Fail(Reason::kShapeMismatch);
      return false;
    }
    *operands[i] = *operand;
  }
  return true;
}

// Q and K agree in D, K and V in length; only PyTorch's own functions broadcast.
bool OperandsFit(const EntryPoint& entry, bool groups, Attention* a) {
  if (a->q.width != a->k.width || a->k.length != a->v.length) return false;
  const bool broadcasts = entry.layout == Layout::kHeadsFirst;
  const std::optional<std::vector<int64_t>> batch = Broadcast({a->q.batch, a->k.batch, a->v.batch});
  if (!batch) return false;
  if (!broadcasts && (a->q.batch != a->k.batch || a->k.batch != a->v.batch)) return false;
  a->batch = *batch;
  a->heads = a->q.heads;
  if (broadcasts && a->q.heads == 1) a->heads = a->k.heads == 1 ? a->v.heads : a->k.heads;
  return HeadsFit(a->heads, a->k.heads, groups) && HeadsFit(a->heads, a->v.heads, groups);
}

// ---- which pairs count ----

// A flag; false with `*unknown` if its value was not recorded.
bool ReadFlag(AttentionCallParameter parameter, bool absent, CallArgs* args, bool* unknown) {
  const OpArg* arg = args->Find(parameter);
  *unknown = arg != nullptr && arg->kind == OpArg::Kind::kOther;
  return !*unknown && args->BoolOr(parameter, absent);
}

// window_size=(left, right), or either alone.
void ReadWindow(CallArgs* args, Visibility* seen) {
  const OpArg* first = args->Find(kAttentionWindowLeft);
  const bool pair = first != nullptr && first->kind == OpArg::Kind::kIntList;
  if (const auto window = args->FindInts(pair ? kAttentionWindowLeft : kAttentionWindow)) {
    if (window->size() != 2) return args->Fail(Reason::kUnsupportedArgs);
    *seen = {(*window)[0], (*window)[1], seen->bottom_right};
  }
  if (pair) return;
  seen->left = args->IntOr(kAttentionWindowLeft, seen->left);
  seen->right = args->IntOr(kAttentionWindowRight, seen->right);
}

// Mask types of _efficient_attention_forward: 1 is causal from the top left, 2 from the bottom
// right; a window size counts the keys up to the query's own.
void ReadMaskType(CallArgs* args, Visibility* seen) {
  const int64_t type = args->IntOr(kAttentionMaskType, 0);
  if (type < 0 || type > 2) args->Fail(Reason::kUnsupportedArgs);
  if (type == 0) return;
  const int64_t local = args->IntOr(kAttentionLocalSize, 0);
  *seen = {local > 0 ? local - 1 : Visibility::kUnlimited, 0, type == 2};
}

// xformers' mask classes that need no arguments.
struct MaskClass {
  std::string_view type;
  bool bottom_right;
};
constexpr MaskClass kMaskClasses[] = {
    {"LowerTriangularMask", false},
    {"LowerTriangularFromBottomRightMask", true},
};

// An added tensor, or an object that says which pairs count.
void ReadAttentionCallMask(CallArgs* args, Attention* a) {
  const OpArg* arg = args->Find(kAttentionMask);
  if (arg == nullptr) return;
  if (arg->kind == OpArg::Kind::kTensor) {
    a->mask = args->FindTensor(kAttentionMask);
    return;
  }
  const auto* row =
      std::find_if(std::begin(kMaskClasses), std::end(kMaskClasses),
                   [&](const MaskClass& candidate) { return candidate.type == arg->type; });
  if (row == std::end(kMaskClasses)) return args->Fail(Reason::kUnsupportedArgs);
  a->seen = {Visibility::kUnlimited, 0, row->bottom_right};
}

bool MaskFits(const Attention& a) {
  if (!a.mask) return true;
  std::vector<int64_t> scores = a.batch;
  if (a.q.has_heads) scores.push_back(a.heads);
  scores.push_back(a.q.length);
  scores.push_back(a.k.length);
  const auto both = Broadcast({a.mask->shape, scores});
  return both && *both == scores;
}

void ReadVisibility(const EntryPoint& entry, CallArgs* args, Attention* a) {
  a->seen.bottom_right = entry.bottom_right;
  ReadWindow(args, &a->seen);
  ReadAttentionCallMask(args, a);
  ReadMaskType(args, &a->seen);
  const bool causal = ReadFlag(kAttentionIsCausal, false, args, &a->upper_bound);
  if (entry.all_recorded && args->Find(kAttentionIsCausal) == nullptr) a->upper_bound = true;
  if (causal) a->seen.right = 0;
  // PyTorch rejects both together.
  if (causal && a->mask && entry.name == "scaled_dot_product_attention") {
    args->Fail(Reason::kUnsupportedArgs);
  }
  if (args->Find(kAttentionUsedK) != nullptr || args->Find(kAttentionBlockMask) != nullptr)
    a->upper_bound = true;
  // With a paged cache the argument does not give the keys.
  if (args->Find(kAttentionBlockTable) != nullptr) args->Fail(Reason::kUnsupportedArgs);
}

constexpr auto kAttentionCallNames = NamesOf(kEntryPoints);

std::optional<int64_t> FindInt(AttentionCallParameter parameter, CallArgs* args) {
  if (args->Find(parameter) == nullptr) return std::nullopt;
  return args->IntOr(parameter, 0);
}

std::optional<Reason> CountAttentionCallPairs(CallArgs* args, Attention* a) {
  if (!a->varlen) {
    a->pairs = VisiblePairs(a->q.length, a->k.length, a->seen);
    a->all_pairs = Checked(a->q.length) * a->k.length;
    return std::nullopt;
  }
  const VarlenArgs varlen{args->Find(kAttentionOffsetsQ), args->Find(kAttentionOffsetsK),
                          FindInt(kAttentionMaxQ, args), FindInt(kAttentionMaxK, args)};
  if (args->failed()) return args->reason();
  return CountVarlenPairs(varlen, a);
}

// Attention over concatenated sequences of different lengths.

// Whether the offsets rise from 0 to the length of the operand.
bool OffsetsFit(const std::vector<int64_t>& offsets, int64_t length) {
  return !offsets.empty() && offsets.front() == 0 && offsets.back() == length &&
         std::is_sorted(offsets.begin(), offsets.end());
}

// The number of sequences by their offsets, whose values are usually not recorded.
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

// With unknown lengths each sequence counts as the longest: exact if they fill the operands.
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

Checked VisiblePairs(int64_t queries, int64_t keys, const Visibility& seen) {
  if (queries <= 0 || keys <= 0) return 0;
  // A window as wide as the longer side does not cut.
  const int64_t longest = std::max(queries, keys);
  const auto limits = [&](int64_t side) { return side >= 0 && side < longest; };
  const Checked shift = seen.bottom_right ? Checked(keys) - queries : Checked(0);
  Checked pairs =
      limits(seen.right) ? PairsUpTo(queries, keys, shift, seen.right) : Checked(queries) * keys;
  if (limits(seen.left)) {
    pairs = pairs - PairsUpTo(queries, keys, shift, Checked(-1) - seen.left);
  }
  return pairs;
}

int64_t VisibleKeys(int64_t queries, int64_t keys, const Visibility& seen) {
  if (queries <= 0 || keys <= 0) return 0;
  const Checked shift = seen.bottom_right ? Checked(keys) - queries : Checked(0);
  // From the first key of the first query to the last one of the last; all between are seen.
  int64_t first = 0;
  int64_t end = keys;
  if (seen.left >= 0) first = std::clamp<int64_t>((shift - seen.left).Value().value_or(0), 0, keys);
  if (seen.right >= 0) {
    const Checked last = shift + (queries - 1) + seen.right;
    end = std::clamp<int64_t>((last + 1).Value().value_or(keys), 0, keys);
  }
  return std::max<int64_t>(end - first, 0);
}

std::span<const std::string_view> AttentionNames() { return kAttentionCallNames; }

std::optional<Reason> ReadAttention(std::string_view op, const OpCall& call, Attention* attention) {
  const EntryPoint* entry = FindRow(kEntryPoints, op);
  if (entry == nullptr) return Reason::kUnknownOp;
  std::optional<OpCall> named = NamedCall(entry->signature, call);
  if (!named) return Reason::kUnsupportedArgs;
  attention->named = *std::move(named);
  CallArgs args(attention->named,
                {"query|q", "key|k", "value|v", "attn_mask|attn_bias|bias", "is_causal|causal",
                 "enable_gqa", "compute_log_sumexp|compute_logsumexp", "cu_seqlens_q|cum_seq_q",
                 "cu_seqlens_k|cum_seq_k", "max_seqlen_q|max_q", "max_seqlen_k|max_k",
                 "window_size", "window_size_left", "window_size_right", "local_size",
                 "custom_mask_type", "seqused_k|seqlen_k", "block_table", "block_mask"});
  if (!ReadAttentionCallOperands(*entry, &args, attention)) return args.reason();
  attention->recomputes = entry->recomputes;
  ReadVisibility(*entry, &args, attention);
  bool unknown = false;
  const bool groups = ReadFlag(kAttentionEnableGqa, true, &args, &unknown) || unknown;
  attention->log_sum_exp = ReadFlag(kAttentionLogSumExp, true, &args, &unknown) || unknown;
  if (args.failed()) return args.reason();
  if (!OperandsFit(*entry, groups, attention) || !MaskFits(*attention)) {
    return Reason::kShapeMismatch;
  }
  return CountAttentionCallPairs(&args, attention);
}

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
