// Group norm and instance norm: mean and variance per sample and group of channels.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/norm_shapes.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs per element, with and without weights, as for layer norm.
constexpr int kGroupNormForward = 6;
constexpr int kForwardAffine = 8;
constexpr int kGroupNormBackward = 11;
constexpr int kBackwardAffine = 16;
constexpr int kWeightsBackward = 6;
// With running statistics, as for batch norm.
constexpr int kGroupNormEvaluation = 2;
constexpr int kGroupNormEvaluationBackward = 3;

struct GroupNorm {
  Tensor x;
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  Checked statistics;  // Number of means, and of variances.
};

std::optional<Reason> CheckGroupNorm(const GroupNorm& norm) {
  const Shape shape = norm.x.shape;
  const bool fits =
      shape.size() >= 2 && FitsChannels(norm.weight, shape[1]) && FitsChannels(norm.bias, shape[1]);
  return fits ? std::nullopt : std::optional(Reason::kShapeMismatch);
}

Checked GroupNormStatisticsBytes(const GroupNorm& norm) {
  return BytesOf(norm.statistics * 2, StatisticsType(norm.x.dtype));
}

Work GroupNormForward(const GroupNorm& norm) {
  return {0, norm.x.elements() * (norm.weight ? kForwardAffine : kGroupNormForward),
          norm.x.bytes() * 2 + BytesIfAny(norm.weight) + BytesIfAny(norm.bias) +
              GroupNormStatisticsBytes(norm)};
}

int BackwardWeight(bool input, bool weights) {
  if (input) return weights ? kBackwardAffine : kGroupNormBackward;
  return weights ? kWeightsBackward : 0;
}

Work GroupNormBackward(const GroupNorm& norm, GradientMask mask) {
  const bool weights = (norm.weight && mask.weight) || (norm.bias && mask.bias);
  Work work{0, norm.x.elements() * BackwardWeight(mask.input, weights),
            norm.x.bytes() * 2 + GroupNormStatisticsBytes(norm)};
  if (mask.input) work.bytes += norm.x.bytes() + BytesIfAny(norm.weight);
  if (mask.weight) work.bytes += BytesIfAny(norm.weight);
  if (mask.bias) work.bytes += BytesIfAny(norm.bias);
  return work;
}

PriceResult PricedGroupNorm(CallArgs* args, const GroupNorm& norm) {
  if (args->failed()) return Unpriced(args->reason());
  if (const std::optional<Reason> reason = CheckGroupNorm(norm)) return Unpriced(*reason);
  return Priced(NamedTensorText(norm.x), GroupNormForward(norm), GroupNormBackward(norm, {}));
}

// One mean per sample and group; the groups must divide the channels.
Checked GroupStatistics(CallArgs* args, size_t parameter, const Tensor& x) {
  const int64_t groups = args->IntOr(parameter, 0);
  if (groups <= 0) args->Fail(Reason::kUnsupportedArgs);
  if (args->failed()) return 0;
  if (x.shape.size() < 2 || x.shape[1] % groups != 0) args->Fail(Reason::kShapeMismatch);
  return args->failed() ? Checked(0) : Checked(x.shape[0]) * groups;
}

PriceResult PriceGroupNorm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "num_groups", "weight", "bias", "eps", "cudnn_enabled"});
  GroupNorm norm{args.RequireTensor(0), args.FindTensor(2), args.FindTensor(3), 0};
  norm.statistics = GroupStatistics(&args, 1, norm.x);
  return PricedGroupNorm(&args, norm);
}

// native_group_norm_backward(dY, x, means, .., weight, ..): one mean per sample and group.
PriceResult PriceGroupNormGradient(std::string_view, const OpCall& call) {
  CallArgs args(call, {"grad_out", "input", "mean", "rstd", "weight", "N", "C", "HxW", "group",
                       "output_mask"});
  const Tensor dy = args.RequireTensor(0);
  GroupNorm norm{args.RequireTensor(1), args.FindTensor(4), {}, args.RequireTensor(2).elements()};
  norm.bias = norm.weight;
  const GradientMask mask = MaskOf(&args, 9);
  if (args.failed()) return Unpriced(args.reason());
  if (!(dy.elements() == norm.x.elements())) return Unpriced(Reason::kShapeMismatch);
  if (const std::optional<Reason> reason = CheckGroupNorm(norm)) return Unpriced(*reason);
  return Priced(NamedTensorText(norm.x), GroupNormBackward(norm, mask), std::vector<PartWork>());
}

// ---- instance norm: every channel is a group ----

struct InstanceNorm {
  GroupNorm norm;
  std::optional<Tensor> mean;  // Running.
  std::optional<Tensor> variance;
  bool use_input = true;  // Uses the input's statistics, not the running ones.
};

void FindStatistics(GroupNorm* norm) {
  const Shape shape = norm->x.shape;
  norm->statistics = shape.size() < 2 ? Checked(0) : Checked(shape[0]) * shape[1];
}

PriceResult PricedInstanceNorm(CallArgs* args, InstanceNorm instance) {
  GroupNorm& norm = instance.norm;
  FindStatistics(&norm);
  if (args->failed()) return Unpriced(args->reason());
  if (const std::optional<Reason> reason = CheckGroupNorm(norm)) return Unpriced(*reason);
  const int64_t channels = norm.x.shape[1];
  if (!FitsChannels(instance.mean, channels) || !FitsChannels(instance.variance, channels)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked running = BytesIfAny(instance.mean) + BytesIfAny(instance.variance);
  if (instance.use_input) {
    Work forward = GroupNormForward(norm);
    forward.bytes += running * 2;
    return Priced(NamedTensorText(norm.x), forward, GroupNormBackward(norm, {}));
  }
  if (!instance.mean || !instance.variance) return Unpriced(Reason::kUnsupportedArgs);
  const Checked weights = BytesIfAny(norm.weight) + BytesIfAny(norm.bias);
  const Checked n = norm.x.elements();
  return Priced(NamedTensorText(norm.x),
                {0, n * kGroupNormEvaluation, norm.x.bytes() * 2 + weights + running},
                Work{0, n * kGroupNormEvaluationBackward,
                     norm.x.bytes() * 3 + weights + BytesIfAny(norm.weight) + running});
}

// As for batch norm, torch.nn.functional's function takes the running statistics first.
PriceResult PriceInstanceNorm(std::string_view, const OpCall& call) {
  if (call.mod == "torch.nn.functional") {
    CallArgs args(call, {"input", "running_mean", "running_var", "weight", "bias",
                         "use_input_stats", "momentum", "eps"});
    InstanceNorm instance{{args.RequireTensor(0), args.FindTensor(3), args.FindTensor(4), 0},
                          args.FindTensor(1),
                          args.FindTensor(2),
                          args.BoolOr(5, true)};
    return PricedInstanceNorm(&args, instance);
  }
  CallArgs args(call, {"input", "weight", "bias", "running_mean", "running_var", "use_input_stats",
                       "momentum", "eps", "cudnn_enabled"});
  if (args.Find(5) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  InstanceNorm instance{{args.RequireTensor(0), args.FindTensor(1), args.FindTensor(2), 0},
                        args.FindTensor(3),
                        args.FindTensor(4),
                        args.BoolOr(5, true)};
  return PricedInstanceNorm(&args, instance);
}

constexpr std::string_view kGroupNormNames[] = {"group_norm"};
constexpr std::string_view kInstanceNormNames[] = {"instance_norm"};
constexpr OpModel kGroupNormModels[] = {
    {kGroupNormNames, PriceGroupNorm},
    {kInstanceNormNames, PriceInstanceNorm},
};
constexpr OpModel kGroupNormGradients[] = {{kGroupNormNames, PriceGroupNormGradient}};

}  // namespace

std::span<const OpModel> GroupNormOps() { return kGroupNormModels; }

std::span<const OpModel> GroupNormGradients() { return kGroupNormGradients; }

}  // namespace oplens::ops
