// Multi-head attention with its projections, as composed by PyTorch's Python function: linear,
// scale, bmm, mask, softmax, dropout, bmm, linear, mean of the weights. The cost is their sum.

#include "ops/families/multi_head_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/product.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

enum MultiHeadAttentionParameter : size_t {
  kMhaQuery,
  kMhaKey,
  kMhaValue,
  kMhaEmbedDim,
  kMhaHeads,
  kMhaInWeight,
  kMhaInBias,
  kMhaBiasK,
  kMhaBiasV,
  kMhaAddZero,
  kMhaDropout,
  kMhaOutWeight,
  kMhaOutBias,
  kMhaTraining,
  kMhaPaddingMask,
  kMhaNeedWeights,
  kMhaMask,
  kMhaSeparate,
  kMhaQueryWeight,
  kMhaKeyWeight,
  kMhaValueWeight,
  kMhaStaticK,
  kMhaStaticV,
  kMhaAverage,
};

// FLOPs per element, as in softmax and dropout.
constexpr int64_t kSoftmax = 24;
constexpr int64_t kSoftmaxGradient = 4;
constexpr int64_t kDropoutFlops = 4;
constexpr int64_t kDropoutGradient = 2;

struct Heads {
  Tensor q, k, v;
  std::optional<Tensor> in_bias, out_weight, out_bias, mask, padding;
  std::vector<Tensor> weights;  // One for all of Q, K and V, or one each.
  bool batched = true;          // [L,N,E], otherwise [L,E].
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t embedding = 0;
  int64_t queries = 0;
  int64_t keys = 0;  // As given.
  int64_t seen = 0;  // Including keys that the function adds.
  bool dropout = false;
  bool averages = false;

  int64_t width() const { return embedding / heads; }
};

bool HasMultiHeadAttentionShape(const Tensor& tensor, std::initializer_list<int64_t> shape) {
  return std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end());
}

bool MultiHeadAttentionSameShape(const Tensor& a, const Tensor& b) {
  return std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end());
}

// ---- the call ----

void ReadTensors(CallArgs* args, Heads* h) {
  h->q = args->RequireTensor(kMhaQuery);
  h->k = args->RequireTensor(kMhaKey);
  h->v = args->RequireTensor(kMhaValue);
  if (args->BoolOr(kMhaSeparate, false) || args->Find(kMhaInWeight) == nullptr) {
    for (const MultiHeadAttentionParameter weight :
         {kMhaQueryWeight, kMhaKeyWeight, kMhaValueWeight}) {
      h->weights.push_back(args->RequireTensor(weight));
    }
  } else {
    h->weights.push_back(args->RequireTensor(kMhaInWeight));
  }
  h->in_bias = args->FindTensor(kMhaInBias);
  h->out_weight = args->RequireTensor(kMhaOutWeight);
  h->out_bias = args->FindTensor(kMhaOutBias);
  h->mask = args->FindTensor(kMhaMask);
  h->padding = args->FindTensor(kMhaPaddingMask);
  // Keys and values projected earlier.
  if (args->Find(kMhaStaticK) != nullptr || args->Find(kMhaStaticV) != nullptr ||
      !h->q.Differentiable()) {
    args->Fail(Reason::kUnsupportedArgs);
  }
}

bool ReadMultiHeadAttentionSizes(CallArgs* args, Heads* h) {
  const size_t rank = h->q.shape.size();
  if (rank < 2 || rank > 3 || h->k.shape.size() != rank || h->v.shape.size() != rank) return false;
  h->batched = rank == 3;
  h->queries = h->q.shape[0];
  h->keys = h->k.shape[0];
  if (h->batched) h->batch = h->q.shape[1];
  h->embedding = h->q.shape.back();
  h->heads = args->IntOr(kMhaHeads, 0);
  if (args->IntOr(kMhaEmbedDim, h->embedding) != h->embedding || h->heads <= 0 ||
      h->embedding % h->heads != 0 || h->v.shape[0] != h->keys) {
    return false;
  }
  if (h->batched && (h->k.shape[1] != h->batch || h->v.shape[1] != h->batch)) return false;
  const int added =
      (args->Find(kMhaBiasK) != nullptr ? 1 : 0) + (args->BoolOr(kMhaAddZero, false) ? 1 : 0);
  const std::optional<int64_t> seen = (Checked(h->keys) + added).Value();
  h->seen = seen.value_or(0);
  h->dropout = args->NumberOr(kMhaDropout, 0) > 0 && args->BoolOr(kMhaTraining, true);
  h->averages = args->BoolOr(kMhaNeedWeights, true) && args->BoolOr(kMhaAverage, true);
  return seen.has_value();
}

bool MultiHeadAttentionWeightsFit(const Heads& h) {
  const int64_t e = h.embedding;
  const std::optional<int64_t> all = (Checked(e) * 3).Value();
  if (!all) return false;
  if (h.weights.size() == 1) {
    if (!HasMultiHeadAttentionShape(h.weights[0], {*all, e}) || h.k.shape.back() != e ||
        h.v.shape.back() != e) {
      return false;
    }
  } else if (!HasMultiHeadAttentionShape(h.weights[0], {e, e}) ||
             !HasMultiHeadAttentionShape(h.weights[1], {e, h.k.shape.back()}) ||
             !HasMultiHeadAttentionShape(h.weights[2], {e, h.v.shape.back()})) {
    return false;
  }
  if (h.in_bias && !HasMultiHeadAttentionShape(*h.in_bias, {*all})) return false;
  return HasMultiHeadAttentionShape(*h.out_weight, {e, e}) &&
         (!h.out_bias || HasMultiHeadAttentionShape(*h.out_bias, {e}));
}

bool MasksFit(const Heads& h) {
  if (h.padding && !(h.batched ? HasMultiHeadAttentionShape(*h.padding, {h.batch, h.keys})
                               : HasMultiHeadAttentionShape(*h.padding, {h.keys}))) {
    return false;
  }
  if (!h.mask) return true;
  const std::optional<int64_t> all = (Checked(h.batch) * h.heads).Value();
  return HasMultiHeadAttentionShape(*h.mask, {h.queries, h.keys}) ||
         HasMultiHeadAttentionShape(*h.mask, {1, h.queries, h.keys}) ||
         (all && HasMultiHeadAttentionShape(*h.mask, {*all, h.queries, h.keys}));
}

std::optional<Reason> ReadHeads(const OpCall& call, Heads* h) {
  CallArgs args(call, {"query",
                       "key",
                       "value",
                       "embed_dim_to_check",
                       "num_heads",
                       "in_proj_weight",
                       "in_proj_bias",
                       "bias_k",
                       "bias_v",
                       "add_zero_attn",
                       "dropout_p",
                       "out_proj_weight",
                       "out_proj_bias",
                       "training",
                       "key_padding_mask",
                       "need_weights",
                       "attn_mask",
                       "use_separate_proj_weight",
                       "q_proj_weight",
                       "k_proj_weight",
                       "v_proj_weight",
                       "static_k",
                       "static_v",
                       "average_attn_weights",
                       "is_causal"});
  ReadTensors(&args, h);
  if (args.failed()) return args.reason();
  const bool sizes_fit = ReadMultiHeadAttentionSizes(&args, h);
  if (args.failed()) return args.reason();
  if (!sizes_fit || !MultiHeadAttentionWeightsFit(*h) || !MasksFit(*h))
    return Reason::kShapeMismatch;
  return std::nullopt;
}

// ---- products ----

MatrixProduct MultiHeadAttentionProductOf(int64_t batch, int64_t m, int64_t n, int64_t k,
                                          DType left, DType right) {
  MatrixProduct product;
  product.left = left;
  product.right = right;
  product.output = left;
  product.batch = batch;
  product.m = m;
  product.n = n;
  product.k = k;
  product.extents = ColumnMajorExtents(m, n, k);
  return product;
}

// The weight is [outputs, inputs].
MatrixProduct Linear(const Heads& h, const Tensor& x, int64_t outputs, const Tensor& weight) {
  const std::optional<int64_t> rows = (Checked(x.shape[0]) * h.batch).Value();
  MatrixProduct product = MultiHeadAttentionProductOf(1, rows.value_or(0), outputs, x.shape.back(),
                                                      h.q.dtype, weight.dtype);
  product.right_transposed = true;
  return product;
}

// Identical tensors are projected in one product; equal shapes count as identical.
std::vector<MatrixProduct> Projections(const Heads& h) {
  const int64_t e = h.embedding;
  const bool packed = h.weights.size() == 1;
  if (packed && MultiHeadAttentionSameShape(h.k, h.v)) {
    if (MultiHeadAttentionSameShape(h.q, h.k)) return {Linear(h, h.q, 3 * e, h.weights[0])};
    return {Linear(h, h.q, e, h.weights[0]), Linear(h, h.k, 2 * e, h.weights[0])};
  }
  return {Linear(h, h.q, e, h.weights[0]), Linear(h, h.k, e, h.weights[packed ? 0 : 1]),
          Linear(h, h.v, e, h.weights[packed ? 0 : 2])};
}

std::vector<MatrixProduct> Products(const Heads& h) {
  std::vector<MatrixProduct> products = Projections(h);
  const int64_t batch = (Checked(h.batch) * h.heads).Value().value_or(0);
  const DType type = h.q.dtype;
  products.push_back(MultiHeadAttentionProductOf(batch, h.queries, h.seen, h.width(), type, type));
  products.back().right_transposed = true;
  products.push_back(MultiHeadAttentionProductOf(batch, h.queries, h.width(), h.seen, type, type));
  products.push_back(Linear(h, h.q, h.embedding, *h.out_weight));
  return products;
}

Checked FlopsOf(const MatrixProduct& p) { return Checked(p.batch) * p.m * p.n * p.k * 2; }

Checked MultiHeadAttentionBytesOf(const MatrixProduct& p) {
  const Checked batch = p.batch;
  return ops::BytesOf(batch * p.m * p.k, p.left) + ops::BytesOf(batch * p.k * p.n, p.right) +
         ops::BytesOf(batch * p.m * p.n, p.output);
}

// ---- the price ----

// The work between the products. `n` scores; `x` elements of the query.
Work ElementwiseForward(const Heads& h, Checked n, Checked x) {
  const DType type = h.q.dtype;
  const Checked scores = ops::BytesOf(n, type);
  Work work{0, x + n * kSoftmax, ops::BytesOf(x, type) * 2 + scores * 2};
  for (const auto& mask : {h.mask, h.padding}) {
    if (!mask) continue;
    work.vec += n;
    work.bytes += scores * 2 + mask->bytes();
  }
  if (h.dropout) {
    work.vec += n * kDropoutFlops;
    work.bytes += scores * 2 + n;
  }
  if (h.averages) {
    const Checked mean = Checked(h.batch) * h.queries * h.seen;
    work.vec += n + mean;
    work.bytes += scores + ops::BytesOf(mean, type) * 3;
  }
  return work;
}

Work ElementwiseBackward(const Heads& h, Checked n, Checked x) {
  const DType type = h.q.dtype;
  const Checked scores = ops::BytesOf(n, type);
  Work work{0, x + n * kSoftmaxGradient, ops::BytesOf(x, type) * 2 + scores * 3};
  if (h.padding) {
    work.vec += n;
    work.bytes += scores * 2 + h.padding->bytes();
  }
  if (h.dropout) {
    work.vec += n * kDropoutGradient;
    work.bytes += scores * 2 + n;
  }
  return work;
}

// A bias is added while the product is written; its gradient is a sum of dY.
void AddBias(const std::optional<Tensor>& bias, Checked outputs, DType type, Work* forward,
             Work* backward) {
  if (!bias) return;
  forward->vec += outputs;
  forward->bytes += bias->bytes();
  backward->vec += outputs;
  backward->bytes += ops::BytesOf(outputs, type) + bias->bytes();
}

}  // namespace

std::vector<MatrixProduct> ProductsOfMultiHeadAttention(const OpCall& call) {
  Heads h;
  if (ReadHeads(call, &h)) return {};
  return Products(h);
}

PriceResult PriceMultiHeadAttention(std::string_view, const OpCall& call) {
  Heads h;
  if (const auto reason = ReadHeads(call, &h)) return Unpriced(*reason);
  const Checked n = Checked(h.batch) * h.heads * h.queries * h.seen;
  const Checked x = h.q.elements();
  Work forward = ElementwiseForward(h, n, x);
  Work backward = ElementwiseBackward(h, n, x);
  for (const MatrixProduct& product : Products(h)) {
    forward.mma += FlopsOf(product);
    forward.bytes += MultiHeadAttentionBytesOf(product);
    backward.mma += FlopsOf(product) * 2;
    backward.bytes += MultiHeadAttentionBytesOf(product) * 2;
  }
  const Checked projected = x + Checked(h.keys) * h.batch * h.embedding * 2;
  AddBias(h.in_bias, projected, h.q.dtype, &forward, &backward);
  AddBias(h.out_bias, x, h.q.dtype, &forward, &backward);
  PriceResult result = Priced(fmt::format("B={},H={},Sq={},Sk={},E={},{}", h.batch, h.heads,
                                          h.queries, h.seen, h.embedding, DTypeWord(h.q.dtype)),
                              forward, backward);
  result.price->matmul_like = true;
  return result;
}

}  // namespace oplens::ops
