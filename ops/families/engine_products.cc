// Matrix products of libraries with operators of their own: DeepGEMM, SGLang, AITER, torchao, and
// layers of Transformer Engine.

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/families/quantized.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Y[M,N] = A[M,K] W[N,K]^T, or W[K,N] if only that fits; each operand has its own type.
struct ScaledProduct {
  std::string_view name;
  size_t a;
  size_t weight;
  size_t result;    // If Y is an argument.
  bool transposed;  // W is [N,K].
};

constexpr size_t kNoResult = SIZE_MAX;

constexpr ScaledProduct kEngineProducts[] = {
    // DeepGEMM, as registered by SGLang and vLLM: (a, scales, w, scales, result)
    {"deep_gemm_fp8_fp8_bf16_nt", 0, 2, 4, true},
    {"fp8_gemm_nt", 0, 2, 4, true},
    {"w8a8_block_fp8_matmul_deepgemm", 0, 1, kNoResult, true},
    // SGLang: (a, w[K,N], scales, scales, type, bias)
    {"fp8_scaled_mm", 0, 1, kNoResult, false},
    {"fp8_blockwise_scaled_mm", 0, 1, kNoResult, false},
    {"int8_scaled_mm", 0, 1, kNoResult, false},
    // AITER: (a, w[N,K], ..)
    {"gemm_a16w16", 0, 1, kNoResult, true},
    {"gemm_a8w8", 0, 1, kNoResult, true},
    {"gemm_a8w8_bpreshuffle", 0, 1, kNoResult, true},
    {"gemm_a8w8_blockscale", 0, 1, kNoResult, true},
    // vLLM: (a, w[N,K], scales, scales, block, type)
    {"w8a8_triton_block_scaled_mm_func", 0, 1, kNoResult, true},
    // torchao: (a, scales, w[N,K], 4-bit [N,K/2], scales, bias, type)
    {"rowwise_scaled_linear_cutlass_s8s4", 0, 2, kNoResult, true},
    {"rowwise_scaled_linear_cutlass_s4s4", 0, 2, kNoResult, true},
};

// Engines compute in Y's type: bf16 unless A has 16 bits or more.
DType EngineProductsResultType(const Tensor& a) {
  return a.bytes() == a.elements() ? DType::kBFloat16 : a.dtype;
}

PriceResult PriceScaledProduct(std::string_view op, const OpCall& call) {
  const ScaledProduct* row = FindRow(kEngineProducts, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  const auto a = TensorAt(call, row->a);
  const auto w = TensorAt(call, row->weight);
  if (!a || !w) return Unpriced(Reason::kUnsupportedArgs);
  if (a->shape.size() < 2 || w->shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
  const bool packed = op.ends_with("s4");
  const bool packed_a = op.ends_with("s4s4");
  const Checked k = Checked(a->shape.back()) * (packed_a ? 2 : 1);
  const Checked stored = Checked(row->transposed ? w->shape[1] : w->shape[0]) * (packed ? 2 : 1);
  const int64_t n = row->transposed ? w->shape[0] : w->shape[1];
  const auto k_value = k.Value();
  if (!k_value || !(stored == *k_value)) return Unpriced(Reason::kShapeMismatch);
  const Checked m = Elements(a->shape.first(a->shape.size() - 1));
  const auto m_value = m.Value();
  if (!m_value) return Unpriced(Reason::kCostOverflow);
  const auto result = row->result == kNoResult ? std::nullopt : TensorAt(call, row->result);
  const DType output = result ? result->dtype : EngineProductsResultType(*a);
  // Scales and a bias; Y is counted separately.
  Checked others;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const auto tensor = TensorAt(call, i);
    const bool operand = i == row->a || i == row->weight || i == row->result;
    // A result elsewhere has Y's size.
    if (tensor && !operand && !(tensor->elements() == m * n)) others += tensor->bytes();
  }
  const Work forward{m * n * *k_value * 2, 0,
                     a->bytes() + w->bytes() + BytesOf(m * n, output) + others};
  PriceResult priced =
      Priced(fmt::format("M={},N={},K={},{},{},{}", n, *m_value, *k_value, DTypeWord(a->dtype),
                         DTypeWord(w->dtype), DTypeWord(output)),
             forward, std::vector<PartWork>());
  priced.price->matmul_like = true;
  priced.price->vec_estimated = false;
  priced.price->product = ProductOf({*m_value, n, *k_value}, a->dtype, w->dtype, output);
  return priced;
}

// torchao's quant_llm_linear(exponent bits, mantissa bits, x[M,K], packed w, scales[N], split).
PriceResult PricePackedFloat(std::string_view, const OpCall& call) {
  const auto exponent = IntAt(call, 0);
  const auto mantissa = IntAt(call, 1);
  const auto x = TensorAt(call, 2);
  const auto w = TensorAt(call, 3);
  const auto scales = TensorAt(call, 4);
  if (!exponent || !mantissa || !x || !w || !scales) return Unpriced(Reason::kUnsupportedArgs);
  if (x->shape.size() != 2 || scales->shape.size() != 1) return Unpriced(Reason::kShapeMismatch);
  const int64_t m = x->shape[0];
  const int64_t n = scales->shape[0];
  const int64_t k = x->shape[1];
  const Checked outputs = Checked(m) * n;
  const Work forward{outputs * k * 2, 0,
                     x->bytes() + w->bytes() + scales->bytes() + BytesOf(outputs, x->dtype)};
  PriceResult result = Priced(fmt::format("M={},N={},K={},{},fp{}", n, m, k, DTypeWord(x->dtype),
                                          1 + *exponent + *mantissa),
                              forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->product = ProductOf({m, n, k}, x->dtype, x->dtype, x->dtype);
  return result;
}

// Functions of Transformer Engine's modules: _Linear(weight[N,K], .., x[..,K], bias[N], ..) and
// _LayerNormLinear(x[..,K], gamma[K], [beta[K],] weight[N,K], .., bias[N], ..); only tensors are
// recorded. As linear, preceded by layer_norm, or by rms_norm without a beta.
PriceResult PriceTransformerLinear(std::string_view op, const OpCall& call) {
  std::vector<size_t> places;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (TensorAt(call, i)) places.push_back(i);
  }
  const bool normed = op == "_LayerNormLinear";
  std::optional<size_t> weight;
  std::optional<size_t> x;
  for (const size_t place : places) {
    const Tensor tensor = *TensorAt(call, place);
    const bool first_is_x = normed && !x;
    if (first_is_x) {
      x = place;
    } else if (!weight && tensor.shape.size() == 2) {
      weight = place;
    } else if (weight && !x && tensor.shape.size() >= 2 &&
               tensor.shape.back() == TensorAt(call, *weight)->shape[1]) {
      x = place;
    }
  }
  const OpModel* linear = FindOpModel("linear");
  if (!weight || !x || linear == nullptr) return Unpriced(Reason::kUnsupportedArgs);
  const Tensor w = *TensorAt(call, *weight);
  OpCall product{"torch.nn.functional", "linear", {call.args[*x], call.args[*weight]}};
  std::vector<size_t> affine;
  for (const size_t place : places) {
    const Tensor tensor = *TensorAt(call, place);
    if (tensor.shape.size() != 1) continue;
    const bool before = place < *weight;
    if (normed && before && tensor.shape[0] == w.shape[1]) affine.push_back(place);
    const bool is_bias = (!normed || !before) && tensor.shape[0] == w.shape[0];
    if (is_bias && product.args.size() == 2) product.args.push_back(call.args[place]);
  }
  for (OpArg& arg : product.args) arg.name.clear();
  PriceResult result = linear->price("linear", product);
  if (!normed || !result.price) return result;
  if (affine.empty()) return Unpriced(Reason::kUnsupportedArgs);
  const std::string_view norm_name =
      affine.size() > 1 ? "FusedLayerNormAffineFunction" : "FusedRMSNormAffineFunction";
  const OpModel* model = FindOpModel(norm_name);
  OpCall norm{"", std::string(norm_name), {call.args[*x]}};
  for (const size_t place : affine) norm.args.push_back(call.args[place]);
  const PriceResult first = model->price(norm_name, norm);
  if (!first.price) return first;
  Work& forward = result.price->forward.front().work;
  forward.vec += first.price->forward.front().work.vec;
  forward.bytes += first.price->forward.front().work.bytes;
  // The gradients belong to both and are not separated by part.
  result.price->backward.clear();
  result.price->vec_estimated = true;
  return result;
}

constexpr auto kProductNames = NamesOf(kEngineProducts);
constexpr std::string_view kPackedNames[] = {"quant_llm_linear", "fp6_llm_linear"};
constexpr std::string_view kLayerNames[] = {"_Linear", "_LayerNormLinear"};
constexpr OpModel kEngineProductsModels[] = {{kProductNames, PriceScaledProduct},
                                             {kPackedNames, PricePackedFloat},
                                             {kLayerNames, PriceTransformerLinear}};

// A whole layer of experts as one operator of an inference engine.

// moe_forward(x[T,H], scores[T,E], layer), with what the inner calls record: k experts per row
// (topk=) and I elements inside an expert (intermediate=). Each row passes k experts: a product
// with a gated [H,2I], the activation, a product with [I,H]. An upper bound: it is unknown which
// experts this GPU has. The weights are no arguments, so their bytes and type are unknown.
PriceResult PriceMoeForward(std::string_view, const OpCall& call) {
  constexpr int kGate = 22;
  const auto x = TensorAt(call, 0);
  const auto scores = TensorAt(call, 1);
  const auto topk = IntNamed(call, "topk");
  const auto intermediate = IntNamed(call, "intermediate");
  if (!x || !scores || !topk || !intermediate || *topk < 1 || *intermediate < 1) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  if (x->shape.size() != 2 || scores->shape.size() != 2 || scores->shape[0] != x->shape[0] ||
      *topk > scores->shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t h = x->shape[1];
  const Checked rows = Checked(x->shape[0]) * *topk;
  const Work forward{rows * h * *intermediate * 6, rows * *intermediate * kGate + rows * h * 2, 0};
  PriceResult result = Priced(
      fmt::format("E={},T={},k={},H={},I={},{},rows<={}", scores->shape[1], x->shape[0], *topk, h,
                  *intermediate, DTypeWord(x->dtype), rows.Value().value_or(INT64_MAX)),
      forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->flops_bounded = true;
  result.price->bytes_known = false;
  result.price->why_no_bytes = Reason::kUnsupportedArgs;
  return result;
}

constexpr std::string_view kEngineExpertsNames[] = {"moe_forward", "moe_forward_shared"};
constexpr OpModel kEngineExpertsModels[] = {{kEngineExpertsNames, PriceMoeForward}};

}  // namespace

std::span<const OpModel> EngineProductOps() { return kEngineProductsModels; }

std::span<const OpModel> EngineExpertOps() { return kEngineExpertsModels; }

}  // namespace oplens::ops
