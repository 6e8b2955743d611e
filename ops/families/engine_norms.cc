// Norms and softmaxes of inference engines and training libraries (apex, Transformer Engine) with
// their own names and arguments.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/families/norm_shapes.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// ---- engines' RMS norms ----

// Roles of a call's tensors, by number and order.
enum class NormForm : uint8_t {
  kResult,            // (result, x, weight): the weight last
  kInPlace,           // (x, residual, weight): both overwritten, or written anew
  kResiduals,         // (result, x, residual, new residual, weight)
  kQuantized,         // (result, x, weight, scale): in the result's type
  kQuantizedInPlace,  // (result, x, residual, weight, scale): residual overwritten
};

struct EngineNorm {
  std::string_view name;
  NormForm form;
  int weight;  // FLOPs per element: norm 4, sum 1, scaling 1, finding a scale 2.
};

constexpr EngineNorm kNorms[] = {
    {"rmsnorm", NormForm::kResult, 4},
    {"gemma_rmsnorm", NormForm::kResult, 4},
    {"rmsnorm2d_fwd", NormForm::kResult, 4},
    {"fused_add_rmsnorm", NormForm::kInPlace, 5},
    {"gemma_fused_add_rmsnorm", NormForm::kInPlace, 5},
    {"rocm_aiter_rmsnorm2d_fwd_with_add", NormForm::kInPlace, 5},
    {"add_rmsnorm", NormForm::kResiduals, 5},
    {"rmsnorm2d_fwd_with_add", NormForm::kResiduals, 5},
    {"rmsnorm2d_fwd_with_add_ck", NormForm::kResiduals, 5},
    {"rms_norm_static_fp8_quant", NormForm::kQuantized, 5},
    {"rms_norm_dynamic_per_token_quant", NormForm::kQuantized, 7},
    {"fused_add_rms_norm_static_fp8_quant", NormForm::kQuantizedInPlace, 6},
};

struct NormTensors {
  size_t count;
  size_t x;
  size_t weight;
  size_t twice;  // Read and written; past the last position: none.
};

NormTensors EngineNormsTensorsOf(NormForm form) {
  switch (form) {
    case NormForm::kInPlace:
      return {3, 0, 2, 1};
    case NormForm::kResiduals:
      return {5, 1, 4, 5};
    case NormForm::kQuantized:
      return {4, 1, 2, 4};
    case NormForm::kQuantizedInPlace:
      return {5, 1, 3, 2};
    case NormForm::kResult:
      break;
  }
  return {3, 1, 2, 3};
}

PriceResult PriceEngineNorm(std::string_view op, const OpCall& call) {
  const EngineNorm* row = FindRow(kNorms, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  const NormTensors places = EngineNormsTensorsOf(row->form);
  std::vector<Tensor> tensors = PositionalTensors(call);
  // An omitted residual leaves a gap; a given one comes last in a quantizing norm.
  const bool functional = row->form == NormForm::kResult && tensors.size() == 2;
  if (functional) tensors.insert(tensors.begin(), tensors.front());  // (x, weight): a new result.
  if (tensors.size() < places.count) return Unpriced(Reason::kUnsupportedArgs);
  tensors.resize(places.count);
  const Tensor& x = tensors[places.x];
  const Tensor& weight = tensors[places.weight];
  if (x.shape.empty() || weight.shape.size() != 1 || weight.shape[0] != x.shape.back()) {
    return Unpriced(Reason::kShapeMismatch);
  }
  for (size_t i = 0; i < places.weight; ++i) {
    if (!(tensors[i].elements() == x.elements())) return Unpriced(Reason::kShapeMismatch);
  }
  Checked bytes = BytesOfAll(tensors);
  if (places.twice < places.count) bytes += tensors[places.twice].bytes();
  if (row->form == NormForm::kInPlace) bytes += x.bytes();
  const Tensor named[] = {x, weight};
  return Priced(TensorsText(named), {0, x.elements() * row->weight, bytes},
                std::vector<PartWork>());
}

// ---- apex norms ----

struct AffineNorm {
  std::string_view name;
  bool bias;
};

constexpr AffineNorm kAffineNorms[] = {
    {"FusedLayerNormAffineFunction", true},
    {"FusedLayerNormAffineMixedDtypesFunction", true},
    {"FastLayerNormFN", true},
    {"FusedRMSNormAffineFunction", false},
    {"FusedRMSNormAffineMixedDtypesFunction", false},
};

// (x, weight[, bias], normalized shape, eps, ..): a Python function of which only tensors are
// recorded; the weight has the normalized shape. FLOPs and bytes of layer_norm and rms_norm.
PriceResult PriceAffineNorm(std::string_view op, const OpCall& call) {
  const AffineNorm* row = FindRow(kAffineNorms, op);
  const size_t count = row != nullptr && row->bias ? 3 : 2;
  if (row == nullptr || call.args.size() < count) return Unpriced(Reason::kUnsupportedArgs);
  const std::string_view name = row->bias ? "layer_norm" : "rms_norm";
  const OpModel* model = FindOpModel(name);
  const auto weight = TensorAt(call, 1);
  if (model == nullptr || !weight) return Unpriced(Reason::kUnsupportedArgs);
  OpArg shape;
  shape.kind = OpArg::Kind::kIntList;
  shape.type = "list";
  shape.int_list.assign(weight->shape.begin(), weight->shape.end());
  OpCall norm{"torch.nn.functional", std::string(name), {call.args[0], shape, call.args[1]}};
  if (row->bias) norm.args.push_back(call.args[2]);
  return model->price(name, norm);
}

// ---- softmaxes of Megatron and apex ----

struct ScaledSoftmax {
  std::string_view name;
  bool causal;  // Row i of [.., S, S] has i + 1 elements; the others are written as zeros.
  bool mask;
};

constexpr ScaledSoftmax kSoftmaxes[] = {
    {"ScaledUpperTriangMaskedSoftmax", true, false},
    {"ScaledAlignedCausalMaskedSoftmax", true, false},
    {"ScaledMaskedSoftmax", false, true},
    {"GenericScaledMaskedSoftmax", false, true},
    {"ScaledSoftmax", false, false},
};

// (x[..,Sq,Sk], mask, scale): softmax, a product with the scale and, with a mask, a selection per
// element. Only unmasked elements are read and computed; all are written.
PriceResult PriceScaledSoftmax(std::string_view op, const OpCall& call) {
  constexpr int kForward = 25;
  constexpr int kBackward = 5;
  const ScaledSoftmax* row = FindRow(kSoftmaxes, op);
  const auto x = TensorAt(call, 0);
  const auto mask = row != nullptr && row->mask ? TensorAt(call, 1) : std::nullopt;
  if (row == nullptr || !x) return Unpriced(Reason::kUnsupportedArgs);
  if (x->shape.size() < 2) return Unpriced(Reason::kShapeMismatch);
  const int64_t queries = x->shape[x->shape.size() - 2];
  const int64_t keys = x->shape.back();
  const Checked n = x->elements();
  Checked seen = n;
  if (row->causal) {
    if (keys < queries) return Unpriced(Reason::kShapeMismatch);
    // The last row sees all.
    const Checked of_one = Checked(queries) * (Checked(keys) * 2 - queries + 1) / 2;
    seen = Elements(x->shape.first(x->shape.size() - 2)) * of_one;
  }
  const Checked read = BytesOf(seen, x->dtype);
  const Work forward{0, seen * (kForward + (mask ? 1 : 0)), read + x->bytes() + BytesIfAny(mask)};
  // dX from the unmasked part of dY and Y.
  const Work backward{0, seen * kBackward, read * 2 + x->bytes()};
  return Priced(TensorText(*x), forward, backward);
}

constexpr auto kEngineNormsNormNames = NamesOf(kNorms);
constexpr auto kEngineNormsAffineNames = NamesOf(kAffineNorms);
constexpr auto kSoftmaxNames = NamesOf(kSoftmaxes);
constexpr OpModel kEngineNormsModels[] = {{kEngineNormsNormNames, PriceEngineNorm},
                                          {kEngineNormsAffineNames, PriceAffineNorm},
                                          {kSoftmaxNames, PriceScaledSoftmax}};

}  // namespace

std::span<const OpModel> EngineNormOps() { return kEngineNormsModels; }

}  // namespace oplens::ops
