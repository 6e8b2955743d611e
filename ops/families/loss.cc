// Losses that compare an input with a target element by element.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/loss_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct Loss {
  std::string_view name;
  // FLOPs an element, the addition to the sum included; without it where there is no sum.
  int reduced;
  int unreduced;
  int division;  // 1: a mean divides once.
  int backward;
  std::string_view functional;  // Parameters, for NameArguments.
  std::string_view native;
};

constexpr std::string_view kOldStyle = "input target size_average reduce reduction factor";
constexpr std::string_view kNewStyle = "input target reduction factor weight";

constexpr Loss kLosses[] = {
    // Subtract, square, add.
    {"mse_loss", 3, 2, 1, 2, "input target size_average reduce reduction weight", kNewStyle},
    {"l1_loss", 2, 1, 1, 2, "input target size_average reduce reduction weight", kNewStyle},
    {"smooth_l1_loss", 5, 4, 1, 4, kOldStyle, kNewStyle},
    {"huber_loss", 5, 4, 1, 4, kNewStyle, kNewStyle},
    // Two logarithms 40 and their products.
    {"binary_cross_entropy", 43, 43, 0, 6, "input target weight size_average reduce reduction",
     "input target weight reduction"},
    // Three functions 60.
    {"binary_cross_entropy_with_logits", 65, 65, 0, 23,
     "input target weight size_average reduce reduction pos_weight",
     "input target weight pos_weight reduction"},
    // A logarithm 20, subtract, multiply.
    {"kl_div", 22, 22, 0, 2, kOldStyle, kNewStyle},
};

// The heaviest loss of counted operations alone.
constexpr int kLossMaxCounted = 5;

struct LossCall {
  Tensor input;
  Tensor target;
  std::vector<Tensor> weights;

  std::vector<Tensor> operands() const {
    std::vector<Tensor> all{input, target};
    all.insert(all.end(), weights.begin(), weights.end());
    return all;
  }
};

LossCall ReadLossOperands(CallArgs* args, size_t first) {
  LossCall call{args->RequireTensor(first), args->RequireTensor(first + 1), {}};
  for (const size_t parameter : {first + 2, first + 3}) {
    const std::optional<Tensor> weight = args->FindTensor(parameter);
    if (weight) call.weights.push_back(*weight);
  }
  return call;
}

Checked ReadLossBytes(const LossCall& call) {
  Checked bytes;
  for (const Tensor& tensor : call.operands()) bytes += tensor.bytes();
  return bytes;
}

Work LossBackward(const Loss& loss, const LossCall& call, Checked n, Checked gradient_bytes) {
  Work work{0, n * loss.backward, gradient_bytes + ReadLossBytes(call) + call.input.bytes()};
  // The gradient of an input that was broadcast is a sum.
  if (!(call.input.elements() == n)) work.vec += n;
  return work;
}

PriceResult PricedLoss(const Loss& loss, const LossCall& call, LossReduction reduction) {
  const std::vector<Tensor> operands = call.operands();
  const auto shape = Broadcast(operands);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  const bool none = reduction == LossReduction::kNone;
  const Checked output_bytes =
      BytesOf(none ? n : Checked(1), PromoteDTypes(call.input.dtype, call.target.dtype));
  Work forward{0, n * (none ? loss.unreduced : loss.reduced), ReadLossBytes(call) + output_bytes};
  if (reduction == LossReduction::kMean) forward.vec += loss.division;
  PriceResult result =
      Priced(TensorsText(operands), forward, LossBackward(loss, call, n, output_bytes));
  result.price->vec_estimated = loss.reduced > kLossMaxCounted;
  return result;
}

PriceResult PriceLoss(std::string_view op, const OpCall& call) {
  const Loss* loss = FindRow(kLosses, op);
  if (loss == nullptr) return Unpriced(Reason::kUnknownOp);
  const std::optional<OpCall> named = NameArguments(call, loss->functional, loss->native);
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"input|self", "target", "weight", "pos_weight", "size_average", "reduce",
                         "reduction"});
  const LossCall operands = ReadLossOperands(&args, 0);
  const LossReduction reduction = ReductionOf(&args, 4, 5, 6);
  return args.failed() ? Unpriced(args.reason()) : PricedLoss(*loss, operands, reduction);
}

// LOSS_backward(g, input, target, ..): g is one element or as large as the losses, which tells
// whether they were reduced.
PriceResult PriceLossGradient(std::string_view op, const OpCall& call) {
  const Loss* loss = FindRow(kLosses, op);
  if (loss == nullptr) return Unpriced(Reason::kUnknownOp);
  const bool weighted = loss->native.find("target weight") != std::string_view::npos;
  const std::string_view names = weighted ? "grad_output input target weight reduction"
                                          : "grad_output input target reduction factor";
  const std::optional<OpCall> named = NameArguments(call, names, names);
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"grad_output", "input|self", "target", "weight", "pos_weight"});
  const Tensor g = args.RequireTensor(0);
  const LossCall operands = ReadLossOperands(&args, 1);
  if (args.failed()) return Unpriced(args.reason());
  const std::vector<Tensor> tensors = operands.operands();
  const auto shape = Broadcast(tensors);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  const Checked g_elements = g.elements();
  if (!(g_elements == 1) && !(g_elements == n)) return Unpriced(Reason::kShapeMismatch);
  PriceResult result = Priced(TensorsText(tensors), LossBackward(*loss, operands, n, g.bytes()),
                              std::vector<PartWork>());
  result.price->vec_estimated = loss->reduced > kLossMaxCounted;
  return result;
}

constexpr auto kLossNames = NamesOf(kLosses);
constexpr OpModel kLossModels[] = {{kLossNames, PriceLoss}};
constexpr OpModel kLossGradients[] = {{kLossNames, PriceLossGradient}};

}  // namespace

std::span<const OpModel> LossOps() { return kLossModels; }

std::span<const OpModel> LossGradients() { return kLossGradients; }

}  // namespace oplens::ops
