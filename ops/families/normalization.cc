// Layer norm and RMS norm over the trailing dimensions.

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/norm_shapes.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs per element, and statistics per row that are written forward and read backward.
struct NormWeights {
  int forward;
  int forward_affine;
  int backward;
  int backward_affine;
  int statistics;
};

// Mean and variance 3, normalise 3, scale and shift 2.
constexpr NormWeights kLayerNorm{6, 8, 11, 16, 2};
// Square and add 2, scale by the root 1, by gamma 1; the weight includes gamma.
constexpr NormWeights kRmsNorm{4, 4, 10, 10, 1};

bool IsSuffix(const std::vector<int64_t>& tail, Shape shape) {
  return !tail.empty() && tail.size() <= shape.size() &&
         std::equal(tail.begin(), tail.end(), shape.end() - static_cast<ptrdiff_t>(tail.size()));
}

bool HasNormalizationShape(const std::optional<Tensor>& tensor, const std::vector<int64_t>& shape) {
  return !tensor ||
         std::equal(tensor->shape.begin(), tensor->shape.end(), shape.begin(), shape.end());
}

PriceResult PriceNorm(const NormWeights& weights, CallArgs* args, bool has_bias) {
  const Tensor x = args->RequireTensor(0);
  const std::optional<std::vector<int64_t>> normalized = args->FindInts(1);
  const std::optional<Tensor> gamma = args->FindTensor(2);
  const std::optional<Tensor> beta = has_bias ? args->FindTensor(3) : std::nullopt;
  if (!normalized) args->Fail(Reason::kUnsupportedArgs);
  if (args->failed()) return Unpriced(args->reason());
  if (!IsSuffix(*normalized, x.shape) || !HasNormalizationShape(gamma, *normalized) ||
      !HasNormalizationShape(beta, *normalized)) {
    return Unpriced(Reason::kShapeMismatch);
  }

  const Checked n = x.elements();
  const Checked rows = Elements(x.shape.first(x.shape.size() - normalized->size()));
  const Checked statistics = BytesOf(rows * weights.statistics, StatisticsType(x.dtype));
  Work forward{0, n * (gamma ? weights.forward_affine : weights.forward),
               x.bytes() * 2 + statistics};
  Work backward{0, n * (gamma ? weights.backward_affine : weights.backward),
                x.bytes() * 3 + statistics};
  std::vector<Tensor> tensors{x};
  if (gamma) {
    forward.bytes += gamma->bytes();
    backward.bytes += gamma->bytes() * 2;  // Read, and its gradient written.
    tensors.push_back(*gamma);
  }
  if (beta) {
    forward.bytes += beta->bytes();
    backward.bytes += beta->bytes();  // Only its gradient.
    tensors.push_back(*beta);
  }
  return Priced(TensorsText(tensors), forward, backward);
}

PriceResult PriceLayerNorm(std::string_view, const OpCall& call) {
  CallArgs args(
      call, {"input", "normalized_shape", "weight", "bias", "eps", "cudnn_enable|cudnn_enabled"});
  return PriceNorm(kLayerNorm, &args, true);
}

// Inference engines' functions: rms_norm(result, x, weight, eps), and with the residual connection
// fused_add_rms_norm(x, residual, weight, eps), which overwrites them with the norm and the sum. No
// statistics are kept for a backward.
PriceResult PriceInferenceNorm(const OpCall& call, bool adds) {
  CallArgs args(call, {"result|input", "input|residual", "weight", "epsilon"});
  const Tensor first = args.RequireTensor(0);
  const Tensor x = args.RequireTensor(1);
  const Tensor gamma = args.RequireTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  const bool fits = gamma.shape.size() == 1 && !x.shape.empty() &&
                    x.shape.back() == gamma.shape[0] && first.elements() == x.elements();
  if (!fits) return Unpriced(Reason::kShapeMismatch);
  const int weight = kRmsNorm.forward_affine + (adds ? 1 : 0);
  const Checked moved = (first.bytes() + x.bytes()) * (adds ? 2 : 1);
  const Tensor tensors[] = {x, gamma};
  return Priced(TensorsText(tensors), {0, x.elements() * weight, moved + gamma.bytes()},
                std::vector<PartWork>());
}

PriceResult PriceFusedAddRmsNorm(std::string_view, const OpCall& call) {
  return PriceInferenceNorm(call, true);
}

PriceResult PriceRmsNorm(std::string_view, const OpCall& call) {
  const bool second_is_tensor = call.args.size() > 1 && call.args[1].name.empty() &&
                                call.args[1].kind == OpArg::Kind::kTensor;
  const bool third_is_tensor = call.args.size() > 2 && call.args[2].kind == OpArg::Kind::kTensor;
  // (x, weight, eps, ..) returns a new result.
  if (second_is_tensor && !third_is_tensor) {
    return FindOpModel("rmsnorm")->price("rmsnorm", call);
  }
  if (second_is_tensor) return PriceInferenceNorm(call, false);
  CallArgs args(call, {"input", "normalized_shape", "weight", "eps"});
  return PriceNorm(kRmsNorm, &args, false);
}

constexpr std::string_view kLayerNormNames[] = {"layer_norm"};
constexpr std::string_view kRmsNormNames[] = {"rms_norm"};
constexpr std::string_view kFusedAddNames[] = {"fused_add_rms_norm"};
constexpr OpModel kNormalizationModels[] = {{kLayerNormNames, PriceLayerNorm},
                                            {kRmsNormNames, PriceRmsNorm},
                                            {kFusedAddNames, PriceFusedAddRmsNorm}};

}  // namespace

std::span<const OpModel> NormalizationOps() { return kNormalizationModels; }

}  // namespace oplens::ops
