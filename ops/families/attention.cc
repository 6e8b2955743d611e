// Fused attention: Y = softmax(Q K^T) V; only Q, K, V and Y are in memory. One kernel does both
// products, so the softmax between them has no cost of its own.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/attention_call.h"
#include "ops/families/families.h"
#include "ops/families/multi_head_attention.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

std::string AttentionParamsText(const Attention& a) {
  const int64_t batch = a.varlen ? a.sequences : Elements(a.batch).Value().value_or(0);
  std::string text = fmt::format("B={},H={}", batch, a.heads);
  if (a.k.heads != a.heads) text += fmt::format(",Hk={}", a.k.heads);
  if (a.varlen) text += fmt::format(",Tq={},Tk={}", a.q.length, a.k.length);
  text += fmt::format(",Sq={},Sk={},D={}", a.varlen ? a.max_q : a.q.length,
                      a.varlen ? a.max_k : a.k.length, a.q.width);
  if (a.v.width != a.q.width) text += fmt::format(",Dv={}", a.v.width);
  text += fmt::format(",{}", DTypeWord(a.q.tensor.dtype));
  if (!(a.pairs == a.all_pairs)) {
    text += fmt::format(",pairs{}{}/{}", a.unknown_lengths ? "<=" : "=",
                        a.pairs.Value().value_or(0), a.all_pairs.Value().value_or(0));
  } else if (a.unknown_lengths) {
    text += fmt::format(",pairs<={}", a.pairs.Value().value_or(0));
  }
  return text;
}

std::vector<NamedExtent> AttentionSizes(const Attention& a) {
  std::vector<NamedExtent> sizes = {{"heads", a.heads},
                                    {"sq", a.varlen ? a.max_q : a.q.length},
                                    {"sk", a.varlen ? a.max_k : a.k.length},
                                    {"head_dim", a.q.width}};
  const auto batch = a.varlen ? std::optional(a.sequences) : Elements(a.batch).Value();
  if (batch) sizes.push_back({"batch", *batch});
  // A mask may be causal, or what decides was not recorded.
  if (a.seen.right == 0) {
    sizes.push_back({"causal", 1});
  } else if (!a.mask && !a.upper_bound) {
    sizes.push_back({"causal", 0});
  }
  return sizes;
}

MatrixProduct AttentionProductOf(const Attention& a) {
  MatrixProduct product;
  product.kind = MatrixProduct::Kind::kAttention;
  product.left = a.q.tensor.dtype;
  product.right = a.k.tensor.dtype;
  product.output = a.q.tensor.dtype;
  const Checked batch = a.varlen ? Checked(a.sequences) * a.heads : a.batch_heads();
  product.batch = batch.Value().value_or(0);
  product.m = a.varlen ? a.max_q : a.q.length;
  product.n = a.varlen ? a.max_k : a.k.length;
  product.k = a.q.width;
  product.right_transposed = true;
  product.extents = {{"D", a.q.width}, {"Dv", a.v.width}};
  product.sizes = AttentionSizes(a);
  return product;
}

PriceResult AttentionPriceOf(const Attention& a) {
  const Checked d = a.q.width;
  const Checked dv = a.v.width;
  const Checked pairs = a.batch_heads() * a.pairs * 2;
  const Checked rows = a.batch_heads() * a.q.length;
  const Checked query_sized = a.q.tensor.bytes() + BytesOf(rows * dv, a.q.tensor.dtype);
  const Checked keys_and_values = a.k.tensor.bytes() + a.v.tensor.bytes();
  const bool all_seen = a.varlen || a.k.length <= 0;
  const Checked seen =
      all_seen ? keys_and_values
               : keys_and_values / a.k.length * VisibleKeys(a.q.length, a.k.length, a.seen);
  const Checked mask = a.mask ? a.mask->bytes() : Checked(0);
  const Checked statistics = BytesOf(rows, DType::kFloat32);
  const Work forward{pairs * (d + dv), 0,
                     query_sized + seen + mask + (a.log_sum_exp ? statistics : Checked(0))};
  // dV = P^T dY, dP = dY V^T, dQ = dS K, dK = dS^T Q; before them P, if it was not kept.
  const Work backward{pairs * (d * (a.recomputes ? 3 : 2) + dv * 2), 0,
                      query_sized * 2 + seen + keys_and_values + mask + statistics};
  PriceResult result = Priced(AttentionParamsText(a), forward, backward);
  result.price->matmul_like = true;
  result.price->mma_estimated = a.upper_bound;
  result.price->flops_bounded = a.unknown_lengths;
  result.price->vec_estimated = false;
  result.price->product = AttentionProductOf(a);
  return result;
}

PriceResult PriceAttention(std::string_view op, const OpCall& call) {
  Attention attention;
  if (const auto reason = ReadAttention(op, call, &attention)) return Unpriced(*reason);
  return AttentionPriceOf(attention);
}

// Only picks which of the functions above PyTorch will call; nothing runs on the GPU.
PriceResult PriceChoice(std::string_view, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  if (call.args.empty()) return Unpriced(reason);
  const std::optional<Tensor> query = TensorOf(call.args.front(), &reason);
  if (!query || query->number) return Unpriced(reason);
  PriceResult result = Priced(TensorText(*query), {0, 0, 0}, std::vector<PartWork>());
  result.price->op_class = OpClass::kView;
  return result;
}

constexpr std::string_view kMultiHeadNames[] = {"multi_head_attention_forward"};
constexpr std::string_view kChoiceNames[] = {"_fused_sdp_choice"};

}  // namespace

std::span<const OpModel> AttentionOps() {
  static const OpModel models[] = {{AttentionNames(), PriceAttention},
                                   {kChoiceNames, PriceChoice},
                                   {kMultiHeadNames, PriceMultiHeadAttention}};
  return models;
}

}  // namespace oplens::ops
