// Attention over the caches of inference engines: keys and values are in pages, and the number of
// keys per query is mostly in values that profiles do not record. The count is exact if the
// arguments determine it; otherwise it is a bound.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/attention_call.h"
#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// What a call over a cache says. Pairs are per head.
struct Cached {
  enum class Known : uint8_t { kExact, kAtMost, kAtLeast };
  DType type = DType::kUnknown;
  int64_t queries = 0;  // Of all sequences.
  int64_t heads = 0;
  int64_t cache_heads = 0;
  int64_t width = 0;        // D
  int64_t value_width = 0;  // Dv
  Checked pairs;
  Known known = Known::kExact;
  std::optional<Checked> bytes;
};

MatrixProduct EngineAttentionProductOf(DType type, int64_t queries, int64_t heads, int64_t width,
                                       int64_t value_width) {
  MatrixProduct product;
  product.kind = MatrixProduct::Kind::kAttention;
  product.left = type;
  product.right = type;
  product.output = type;
  product.batch = heads;
  product.m = queries;
  product.k = width;
  product.right_transposed = true;
  product.extents = {{"D", width}, {"Dv", value_width}};
  product.sizes = {{"heads", heads}, {"head_dim", width}};
  return product;
}

PriceResult EngineAttentionPriceOf(const Cached& a) {
  constexpr std::string_view kSigns[] = {"=", "<=", ">="};
  std::string params = fmt::format("T={},H={}", a.queries, a.heads);
  if (a.cache_heads != a.heads) params += fmt::format(",Hk={}", a.cache_heads);
  params += fmt::format(",D={}", a.width);
  if (a.value_width != a.width) params += fmt::format(",Dv={}", a.value_width);
  params += fmt::format(",{},pairs{}{}", DTypeWord(a.type), kSigns[static_cast<size_t>(a.known)],
                        a.pairs.Value().value_or(INT64_MAX));
  const Checked flops = a.pairs * a.heads * 2 * (Checked(a.width) + a.value_width);
  PriceResult result =
      Priced(std::move(params), {flops, 0, a.bytes.value_or(Checked(0))}, std::vector<PartWork>());
  PricedOp& op = *result.price;
  op.matmul_like = true;
  op.vec_estimated = false;
  op.product = EngineAttentionProductOf(a.type, a.queries, a.heads, a.width, a.value_width);
  op.flops_bounded = a.known != Cached::Known::kExact;
  op.bytes_known = a.bytes.has_value();
  op.why_no_bytes = Reason::kUnsupportedArgs;
  return result;
}

// Queries [T,H,D], or [T,H D] if another operand gave `heads`.
bool TakeQueries(const Tensor& q, Cached* a) {
  if (q.shape.size() < 3) return false;
  a->type = q.dtype;
  a->heads = q.shape[q.shape.size() - 2];
  a->width = q.shape.back();
  a->value_width = a->width;
  a->queries = Elements(q.shape.first(q.shape.size() - 2)).Value().value_or(0);
  return a->heads > 0 && a->width > 0;
}

// unified_attention(q[T,H,D], k[T,Hk,D], v[T,Hk,Dv], [result,] layer): keys and values of the new
// tokens, which join earlier ones in the cache. Each query sees at least its own.
PriceResult PriceUnified(std::string_view, const OpCall& call) {
  const auto q = TensorAt(call, 0);
  const auto k = TensorAt(call, 1);
  const auto v = TensorAt(call, 2);
  Cached a;
  if (!q || !k || !v) return Unpriced(Reason::kUnsupportedArgs);
  if (!TakeQueries(*q, &a) || k->shape.size() != 3 || v->shape.size() != 3) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  if (k->shape[2] != a.width || k->shape[1] < 1 || a.heads % k->shape[1] != 0) {
    return Unpriced(Reason::kShapeMismatch);
  }
  a.cache_heads = k->shape[1];
  a.value_width = v->shape[2];
  a.pairs = a.queries;
  a.known = Cached::Known::kAtLeast;
  return EngineAttentionPriceOf(a);
}

// The sum of lengths recorded as numbers.
std::optional<Checked> SumOfValues(const OpCall& call, size_t place) {
  if (place >= call.args.size() || call.args[place].kind != OpArg::Kind::kIntList ||
      call.args[place].int_list.empty()) {
    return std::nullopt;
  }
  Checked sum;
  for (const int64_t value : call.args[place].int_list) sum += std::max<int64_t>(value, 0);
  return sum;
}

// paged_attention_v1(result, q[N,H,D], k cache, v cache, Hk, scale, tables[N,P], lengths[N], page,
// longest, ..): one query per sequence, which sees all its keys. v2 has three buffers in between.
PriceResult PricePaged(std::string_view op, const OpCall& call) {
  const size_t first = op == "paged_attention_v2" ? 4 : 1;
  const auto q = TensorAt(call, first);
  const auto tables = TensorAt(call, first + 5);
  const auto page = IntAt(call, first + 7);
  const auto longest = IntAt(call, first + 8);
  Cached a;
  if (!q || !TakeQueries(*q, &a)) return Unpriced(Reason::kUnsupportedArgs);
  a.cache_heads = IntAt(call, first + 3).value_or(a.heads);
  if (const auto sum = SumOfValues(call, first + 6)) {
    a.pairs = *sum;
    return EngineAttentionPriceOf(a);
  }
  std::optional<Checked> keys;
  if (longest && *longest >= 0) keys = *longest;
  if (tables && tables->shape.size() == 2 && page && *page > 0) {
    const Checked held = Checked(tables->shape[1]) * *page;
    if (!keys || held.Value().value_or(INT64_MAX) < keys->Value().value_or(INT64_MAX)) keys = held;
  }
  if (!keys) return Unpriced(Reason::kUnsupportedArgs);
  a.pairs = Checked(a.queries) * *keys;
  a.known = Cached::Known::kAtMost;
  return EngineAttentionPriceOf(a);
}

// Sequences with unrecorded offsets: their number and maximal lengths.
struct EngineAttentionSequences {
  int64_t count = 0;
  int64_t max_q = 0;
  int64_t max_k = 0;
  Visibility seen;
};

// Exact if the queries, and thus the keys, fill all sequences; otherwise the longest bounds each.
void CountEngineAttentionPairs(const EngineAttentionSequences& s, Cached* a) {
  const bool full_q = Checked(s.count) * s.max_q == a->queries;
  // Queries are the last keys, so there are no fewer keys.
  const bool full_k = full_q && s.max_k == s.max_q;
  if (full_k) {
    a->pairs = Checked(s.count) * VisiblePairs(s.max_q, s.max_k, s.seen);
    return;
  }
  a->pairs = Checked(a->queries) * s.max_k;
  a->known = Cached::Known::kAtMost;
}

// mha_batch_prefill(q[T,H,D], k and v caches [..,Hk,D], offsets_q[S+1], offsets of pages[S+1],
// pages, longest q, longest k, dropout, scale, cap, zero, causal, left, right, ..)
PriceResult PriceBatchPrefill(std::string_view, const OpCall& call) {
  const auto q = TensorAt(call, 0);
  const auto k = TensorAt(call, 1);
  const auto v = TensorAt(call, 2);
  const auto offsets = TensorAt(call, 3);
  const auto max_q = IntAt(call, 6);
  const auto max_k = IntAt(call, 7);
  Cached a;
  if (!q || !k || !v || !offsets || !max_q || !max_k || call.args.size() < 13 ||
      call.args[12].kind != OpArg::Kind::kBool || !TakeQueries(*q, &a)) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  if (k->shape.size() < 3 || v->shape.size() < 3 || offsets->shape.size() != 1 ||
      offsets->shape[0] < 1 || k->shape.back() != a.width || *max_q < 0 || *max_k < 0) {
    return Unpriced(Reason::kShapeMismatch);
  }
  a.cache_heads = k->shape[k->shape.size() - 2];
  a.value_width = v->shape.back();
  EngineAttentionSequences s{offsets->shape[0] - 1, *max_q, *max_k, {}};
  s.seen.bottom_right = true;
  s.seen.left = IntAt(call, 13).value_or(Visibility::kUnlimited);
  s.seen.right = IntAt(call, 14).value_or(Visibility::kUnlimited);
  if (call.args[12].int_value != 0) s.seen.right = 0;
  CountEngineAttentionPairs(s, &a);
  if (a.known == Cached::Known::kExact) {
    const Checked keys = Checked(s.count) * s.max_k * a.cache_heads;
    a.bytes = q->bytes() + BytesOf(Checked(a.queries) * a.heads * a.value_width, q->dtype) +
              BytesOf(keys * a.width, k->dtype) + BytesOf(keys * a.value_width, v->dtype);
    for (size_t place = 3; place < 6; ++place) {
      if (const auto index = TensorAt(call, place)) *a.bytes += index->bytes();
    }
  }
  return EngineAttentionPriceOf(a);
}

// Argument positions of FlashAttention's functions over a cache; -1: none.
struct CacheFunction {
  std::string_view name;
  std::string_view mod;  // "": any
  int offsets_q;
  int lengths_k;
  int max_k;
  int tables;
};

constexpr CacheFunction kCacheFunctions[] = {
    // q, k, v, result, offsets_q, offsets_k, lengths_k, left pads, tables, slopes, longest q and k
    {"varlen_fwd", "_vllm_fa2_C", 4, 6, 11, 8},
    // q, k, v, new k and v, q of v, result, offsets_q, _k and _new, lengths q and k, longest, table
    {"fwd", "_vllm_fa3_C", 7, 11, 13, 14},
    {"fwd", "flash_attn_3", 7, 11, 13, 14},
    {"fwd", "sgl_kernel", 7, 11, 13, 14},
    // q, k cache, v cache, k, v, cos, sin, lengths, batch index, left pads, tables
    {"flash_attn_with_kvcache", "", -1, 7, -1, 10},
};

// q [T,H,D] with offsets or [B,Sq,H,D]; caches [B,S,Hk,D], or with tables [pages,page,Hk,D].
PriceResult PriceCacheFunction(std::string_view op, const OpCall& call) {
  const auto* row = std::find_if(
      std::begin(kCacheFunctions), std::end(kCacheFunctions), [&](const CacheFunction& candidate) {
        return candidate.name == op && (candidate.mod.empty() || candidate.mod == call.mod);
      });
  if (row == std::end(kCacheFunctions)) return Unpriced(Reason::kUnknownOp);
  const auto q = TensorAt(call, 0);
  const auto k = TensorAt(call, 1);
  const auto v = TensorAt(call, 2);
  Cached a;
  if (!q || !k || !v || !TakeQueries(*q, &a)) return Unpriced(Reason::kUnsupportedArgs);
  if (k->shape.size() < 3 || k->shape.back() != a.width) return Unpriced(Reason::kShapeMismatch);
  a.cache_heads = k->shape[k->shape.size() - 2];
  a.value_width = v->shape.back();
  const auto tables = TensorAt(call, static_cast<size_t>(row->tables));
  std::optional<Checked> keys;  // Per sequence, at most.
  if (tables && tables->shape.size() == 2 && k->shape.size() == 4) {
    keys = Checked(tables->shape[1]) * k->shape[1];
  } else if (!tables && k->shape.size() == 4) {
    keys = k->shape[1];
  }
  if (row->max_k >= 0) {
    const auto longest = IntAt(call, static_cast<size_t>(row->max_k));
    if (longest && *longest >= 0) keys = *longest;
  }
  // One query per sequence sees all its keys.
  const auto sum = SumOfValues(call, static_cast<size_t>(row->lengths_k));
  const size_t lengths =
      sum ? call.args[static_cast<size_t>(row->lengths_k)].int_list.size() : size_t{0};
  if (sum && static_cast<int64_t>(lengths) == a.queries) {
    a.pairs = *sum;
    return EngineAttentionPriceOf(a);
  }
  if (!keys) return Unpriced(Reason::kUnsupportedArgs);
  a.pairs = Checked(a.queries) * *keys;
  a.known = Cached::Known::kAtMost;
  return EngineAttentionPriceOf(a);
}

// custom_flash_aligned(q, k, v, positions, scale) [B,H,S,D]: each score gets a term for its row and
// one for its column, two additions, from a table that is read once.
PriceResult PricePositions(std::string_view, const OpCall& call) {
  const std::vector<Tensor> tensors = PositionalTensors(call);
  if (tensors.size() != 4) return Unpriced(Reason::kUnsupportedArgs);
  const Tensor& q = tensors[0];
  const Tensor& k = tensors[1];
  const Tensor& v = tensors[2];
  if (q.shape.size() != 4 || k.shape.size() != 4 || v.shape.size() != 4 ||
      q.shape[0] != k.shape[0] || q.shape[1] != k.shape[1] || q.shape[3] != k.shape[3] ||
      k.shape[2] != v.shape[2] || k.shape[1] != v.shape[1] || tensors[3].shape.size() != 4 ||
      !std::equal(q.shape.begin(), q.shape.begin() + 3, tensors[3].shape.begin())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked pairs = Checked(q.shape[0]) * q.shape[1] * q.shape[2] * k.shape[2];
  const Checked output = Checked(q.shape[0]) * q.shape[1] * q.shape[2] * v.shape[3];
  const Work forward{pairs * 2 * (Checked(q.shape[3]) + v.shape[3]), pairs * 2,
                     BytesOfAll(tensors) + BytesOf(output, q.dtype)};
  PriceResult result = Priced(fmt::format("B={},H={},Sq={},Sk={},D={},{}", q.shape[0], q.shape[1],
                                          q.shape[2], k.shape[2], q.shape[3], DTypeWord(q.dtype)),
                              forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->product =
      EngineAttentionProductOf(q.dtype, q.shape[2], q.shape[1], q.shape[3], v.shape[3]);
  return result;
}

constexpr std::string_view kUnifiedNames[] = {"unified_attention", "unified_attention_with_output"};
constexpr std::string_view kPagedNames[] = {"paged_attention_v1", "paged_attention_v2"};
constexpr std::string_view kPrefillNames[] = {"mha_batch_prefill"};
constexpr std::string_view kEngineAttentionCacheNames[] = {"flash_attn_with_kvcache", "fwd",
                                                           "varlen_fwd"};
constexpr std::string_view kPositionNames[] = {"custom_flash_aligned"};
constexpr OpModel kEngineAttentionModels[] = {{kUnifiedNames, PriceUnified},
                                              {kPagedNames, PricePaged},
                                              {kPrefillNames, PriceBatchPrefill},
                                              {kEngineAttentionCacheNames, PriceCacheFunction},
                                              {kPositionNames, PricePositions}};

}  // namespace

std::span<const OpModel> EngineAttentionOps() { return kEngineAttentionModels; }

}  // namespace oplens::ops
