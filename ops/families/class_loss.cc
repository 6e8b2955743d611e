// Losses over classes: negative log likelihood, and cross entropy, which is log_softmax and it.

#include <algorithm>
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

constexpr std::string_view kNllFunctional =
    "input target weight size_average ignore_index reduce reduction";
constexpr std::string_view kNllNative = "input target weight reduction ignore_index";
constexpr std::string_view kCrossEntropyFunctional =
    "input target weight size_average ignore_index reduce reduction label_smoothing";
constexpr std::string_view kCrossEntropyNative =
    "input target weight reduction ignore_index label_smoothing";

struct ClassLoss {
  Tensor input;   // [C], [rows,C] or [rows,C,d1,..].
  Tensor target;  // A class a row, or probabilities as large as the input.
  std::optional<Tensor> weight;
  LossReduction reduction = LossReduction::kMean;
};

bool ClassLossSameShape(Shape a, Shape b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// What is left of the input without its classes.
std::vector<int64_t> RowShape(Shape input) {
  std::vector<int64_t> rows;
  if (input.size() > 1) rows.push_back(input[0]);
  for (size_t i = 2; i < input.size(); ++i) rows.push_back(input[i]);
  return rows;
}

int64_t Classes(Shape input) { return input[input.size() > 1 ? 1 : 0]; }

bool IsProbability(const ClassLoss& loss) {
  return ClassLossSameShape(loss.input.shape, loss.target.shape) &&
         CategoryOf(loss.target.dtype) >= DTypeCategory::kFloat && !loss.target.number;
}

// A class a row; an unbatched target may be written as a number or as one element.
bool IsClass(const ClassLoss& loss) {
  const std::vector<int64_t> rows = RowShape(loss.input.shape);
  return loss.target.MayBeInteger() && (ClassLossSameShape(rows, loss.target.shape) ||
                                        (rows.empty() && loss.target.elements() == 1));
}

std::optional<Reason> CheckClassLoss(const ClassLoss& loss) {
  if (loss.input.shape.empty()) return Reason::kShapeMismatch;
  const int64_t classes = Classes(loss.input.shape);
  if (loss.weight && !(loss.weight->shape.size() == 1 && loss.weight->shape[0] == classes)) {
    return Reason::kShapeMismatch;
  }
  return std::nullopt;
}

Checked Rows(const ClassLoss& loss) { return Elements(RowShape(loss.input.shape)); }

Checked ClassLossOutputBytes(const ClassLoss& loss) {
  const bool none = loss.reduction == LossReduction::kNone;
  return BytesOf(none ? Rows(loss) : Checked(1), loss.input.dtype);
}

Checked WeightBytes(const ClassLoss& loss) {
  return loss.weight ? loss.weight->bytes() : Checked(0);
}

// Picks an element a row and adds them up; the weight of all rows is the other result.
Work NllForward(const ClassLoss& loss) {
  const Checked rows = Rows(loss);
  const bool none = loss.reduction == LossReduction::kNone;
  const Checked picked = BytesOf(rows, loss.input.dtype);
  const Checked total = none ? Checked(0) : BytesOf(1, loss.input.dtype);
  return {0, loss.reduction == LossReduction::kMean ? rows + 1 : rows,
          loss.target.bytes() + picked + WeightBytes(loss) + ClassLossOutputBytes(loss) + total};
}

// dX is written whole, with zeros but for an element a row.
Checked NllZeros(const ClassLoss& loss) {
  return loss.input.bytes() - BytesOf(Rows(loss), loss.input.dtype);
}

Work NllBackward(const ClassLoss& loss, Checked gradient_bytes) {
  return {0, Rows(loss),
          gradient_bytes + loss.target.bytes() + WeightBytes(loss) + loss.input.bytes()};
}

std::vector<Tensor> ClassLossOperands(const ClassLoss& loss) {
  std::vector<Tensor> operands{loss.input, loss.target};
  if (loss.weight) operands.push_back(*loss.weight);
  return operands;
}

ClassLoss ReadLoss(CallArgs* args) {
  return {args->RequireTensor(0), args->RequireTensor(1), args->FindTensor(2),
          ReductionOf(args, 3, 4, 5)};
}

PriceResult PriceNll(std::string_view, const OpCall& call) {
  const std::optional<OpCall> named = NameArguments(call, kNllFunctional, kNllNative);
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"input|self", "target", "weight", "size_average", "reduce", "reduction"});
  const ClassLoss loss = ReadLoss(&args);
  if (args.failed()) return Unpriced(args.reason());
  if (const std::optional<Reason> reason = CheckClassLoss(loss)) return Unpriced(*reason);
  if (!IsClass(loss)) return Unpriced(Reason::kShapeMismatch);
  PriceResult result = Priced(TensorsText(ClassLossOperands(loss)), NllForward(loss),
                              NllBackward(loss, ClassLossOutputBytes(loss)));
  result.price->backward.front().zeros = NllZeros(loss);
  result.price->vec_estimated = false;
  return result;
}

// nll_loss_backward(g, x, target, weight, reduction, ignore_index, total_weight)
PriceResult PriceNllGradient(std::string_view, const OpCall& call) {
  CallArgs args(call, {"grad_output", "input|self", "target", "weight", "reduction", "ignore_index",
                       "total_weight"});
  const Tensor g = args.RequireTensor(0);
  const ClassLoss loss{args.RequireTensor(1), args.RequireTensor(2), args.FindTensor(3),
                       LossReduction::kMean};
  if (args.failed()) return Unpriced(args.reason());
  if (const std::optional<Reason> reason = CheckClassLoss(loss)) return Unpriced(*reason);
  if (!IsClass(loss) || !(g.elements() == 1 || g.elements() == Rows(loss))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  PriceResult result = Priced(TensorsText(ClassLossOperands(loss)), NllBackward(loss, g.bytes()),
                              std::vector<PartWork>());
  result.price->forward.front().zeros = NllZeros(loss);
  result.price->vec_estimated = false;
  return result;
}

// ---- cross entropy ----

// FLOPs an element of log_softmax, and a row.
constexpr int kLogSoftmax = 24;
constexpr int kLogSoftmaxRow = 20;
constexpr int kClassLossLogSoftmaxBackward = 23;
constexpr int kSmoothing = 2;      // Adds up all classes.
constexpr int kProbabilities = 2;  // Multiplies with the target and adds up.

Work ClassLossSum(const Work& a, const Work& b) {
  return {a.mma + b.mma, a.vec + b.vec, a.bytes + b.bytes};
}

// With probabilities the log-probabilities and the target are read whole.
Work ProbabilityForward(const ClassLoss& loss) {
  Work work{
      0, loss.input.elements() * kProbabilities,
      loss.input.bytes() + loss.target.bytes() + WeightBytes(loss) + ClassLossOutputBytes(loss)};
  if (loss.reduction == LossReduction::kMean) work.vec += 1;
  return work;
}

Work ProbabilityBackward(const ClassLoss& loss) {
  return {
      0, loss.input.elements(),
      ClassLossOutputBytes(loss) + loss.target.bytes() + WeightBytes(loss) + loss.input.bytes()};
}

PriceResult PricedCrossEntropy(const ClassLoss& loss, bool smoothing) {
  const Checked n = loss.input.elements();
  Work softmax{0, n * kLogSoftmax + Rows(loss) * kLogSoftmaxRow, loss.input.bytes() * 2};
  if (smoothing) softmax.vec += n * kSmoothing;
  const Work softmax_backward{0, n * kClassLossLogSoftmaxBackward, loss.input.bytes() * 3};
  const bool probability = IsProbability(loss);
  if (!probability && !IsClass(loss)) return Unpriced(Reason::kShapeMismatch);
  return Priced(
      TensorsText(ClassLossOperands(loss)),
      ClassLossSum(softmax, probability ? ProbabilityForward(loss) : NllForward(loss)),
      ClassLossSum(softmax_backward, probability ? ProbabilityBackward(loss)
                                                 : NllBackward(loss, ClassLossOutputBytes(loss))));
}

PriceResult PriceCrossEntropy(std::string_view, const OpCall& call) {
  const std::optional<OpCall> named =
      NameArguments(call, kCrossEntropyFunctional, kCrossEntropyNative);
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"input|self", "target", "weight", "size_average", "reduce", "reduction",
                         "label_smoothing"});
  const ClassLoss loss = ReadLoss(&args);
  const double smoothing = args.NumberOr(6, 0);
  if (args.failed()) return Unpriced(args.reason());
  if (const std::optional<Reason> reason = CheckClassLoss(loss)) return Unpriced(*reason);
  return PricedCrossEntropy(loss, smoothing > 0);
}

constexpr std::string_view kNllNames[] = {"nll_loss", "nll_loss_nd", "nll_loss2d",
                                          "nll_loss_forward", "nll_loss2d_forward"};
constexpr std::string_view kCrossEntropyNames[] = {"cross_entropy", "cross_entropy_loss"};
constexpr OpModel kClassLossModels[] = {{kNllNames, PriceNll},
                                        {kCrossEntropyNames, PriceCrossEntropy}};
constexpr OpModel kClassLossGradients[] = {{kNllNames, PriceNllGradient}};

}  // namespace

std::span<const OpModel> ClassLossOps() { return kClassLossModels; }

std::span<const OpModel> ClassLossGradients() { return kClassLossGradients; }

}  // namespace oplens::ops
