// Losses over distances between rows, Gaussian likelihoods, and the alignment of sequences.

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

constexpr int kRoot = 20;

// What each loss of a row or element adds to a sum, and the division of a mean.
Checked ReductionFlops(LossReduction reduction, Checked losses) {
  if (reduction == LossReduction::kNone) return 0;
  return reduction == LossReduction::kMean ? losses + 1 : losses;
}

PriceResult PricedRows(const std::vector<Tensor>& operands, Checked flops, Checked losses,
                       LossReduction reduction) {
  Checked bytes;
  for (const Tensor& tensor : operands) bytes += tensor.bytes();
  const bool none = reduction == LossReduction::kNone;
  bytes += BytesOf(none ? losses : Checked(1), operands.front().dtype);
  return Priced(TensorsText(operands), {0, flops + ReductionFlops(reduction, losses), bytes},
                std::vector<PartWork>());
}

// The rows of [..,D]; one for a vector.
Checked RowsOf(Shape shape) {
  return shape.empty() ? Checked(1) : Elements(shape.first(shape.size() - 1));
}

// cosine_embedding_loss(x1, x2, target): three products of rows, then a root and a quotient, a
// difference, a comparison and a selection.
PriceResult PriceCosine(std::string_view, const OpCall& call) {
  constexpr std::string_view kFunctional =
      "input1 input2 target margin size_average reduce reduction";
  const auto named = NameArguments(call, kFunctional, "input1 input2 target margin reduction");
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"input1", "input2", "target", "size_average", "reduce", "reduction"});
  const std::vector<Tensor> operands{args.RequireTensor(0), args.RequireTensor(1),
                                     args.RequireTensor(2)};
  const LossReduction reduction = ReductionOf(&args, 3, 4, 5);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast({operands[0].shape, operands[1].shape});
  if (!shape || shape->empty()) return Unpriced(Reason::kShapeMismatch);
  const Checked rows = RowsOf(*shape);
  if (!(operands[2].elements() == rows)) return Unpriced(Reason::kShapeMismatch);
  return PricedRows(operands, Elements(*shape) * 6 + rows * (kRoot + 6), rows, reduction);
}

// triplet_margin_loss(anchor, positive, negative): a distance to each, subtract, square and add an
// element and a root a row (a third with swap); then subtract, add, compare.
PriceResult PriceTriplet(std::string_view, const OpCall& call) {
  constexpr std::string_view kFunctional =
      "anchor positive negative margin p eps swap size_average reduce reduction";
  const auto named =
      NameArguments(call, kFunctional, "anchor positive negative margin p eps swap reduction");
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named,
                {"anchor", "positive", "negative", "swap", "size_average", "reduce", "reduction"});
  const std::vector<Tensor> operands{args.RequireTensor(0), args.RequireTensor(1),
                                     args.RequireTensor(2)};
  const bool swap = args.BoolOr(3, false);
  const LossReduction reduction = ReductionOf(&args, 4, 5, 6);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast(operands);
  if (!shape || shape->empty()) return Unpriced(Reason::kShapeMismatch);
  const Checked rows = RowsOf(*shape);
  const int distances = swap ? 3 : 2;
  const Checked flops = (Elements(*shape) * 3 + rows * kRoot) * distances + rows * (distances + 1);
  return PricedRows(operands, flops, rows, reduction);
}

// margin_ranking_loss(x1, x2, target): subtract, multiply, add, compare.
PriceResult PriceMargin(std::string_view, const OpCall& call) {
  constexpr std::string_view kFunctional =
      "input1 input2 target margin size_average reduce reduction";
  const auto named = NameArguments(call, kFunctional, "input1 input2 target margin reduction");
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named, {"input1", "input2", "target", "size_average", "reduce", "reduction"});
  const std::vector<Tensor> operands{args.RequireTensor(0), args.RequireTensor(1),
                                     args.RequireTensor(2)};
  const LossReduction reduction = ReductionOf(&args, 3, 4, 5);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast(operands);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  return PricedRows(operands, n * 4, n, reduction);
}

// gaussian_nll_loss(x, target, variance): a logarithm 20, subtract, square, divide, add; its sum
// included.
PriceResult PriceGaussian(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "target", "var", "full", "eps", "reduction"});
  const std::vector<Tensor> operands{args.RequireTensor(0), args.RequireTensor(1),
                                     args.RequireTensor(2)};
  const LossReduction reduction = ReductionOf(&args, 5);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast({operands[0].shape, operands[1].shape});
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  // A variance a row may lack the last dimension.
  if (!Broadcast({*shape, operands[2].shape}) && !(operands[2].elements() == RowsOf(*shape))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  Checked bytes;
  for (const Tensor& tensor : operands) bytes += tensor.bytes();
  const bool none = reduction == LossReduction::kNone;
  bytes += BytesOf(none ? n : Checked(1), operands[0].dtype);
  return Priced(TensorsText(operands), {0, n * 24, bytes}, std::vector<PartWork>());
}

// ---- connectionist temporal classification ----

// FLOPs a time step, sample and state: two sums of exponentials in log space.
constexpr int kCtcState = 60;

// The longest target: the second extent of targets[N,S], or the largest of the recorded lengths of
// targets that stand one behind the other.
std::optional<int64_t> LongestTarget(const Tensor& targets, const OpArg* lengths) {
  if (targets.shape.size() == 2) return targets.shape[1];
  if (lengths == nullptr || lengths->kind != OpArg::Kind::kIntList || lengths->int_list.empty()) {
    return std::nullopt;
  }
  const int64_t longest = *std::max_element(lengths->int_list.begin(), lengths->int_list.end());
  return longest < 0 ? std::nullopt : std::optional(longest);
}

// ctc_loss(log_probs[T,N,C], targets, ..): 2L+1 states for L labels.
PriceResult PriceCtc(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"log_probs", "targets", "input_lengths", "target_lengths", "blank",
                       "reduction", "zero_infinity"});
  const Tensor x = args.RequireTensor(0);
  const Tensor targets = args.RequireTensor(1);
  // The inner functions return the loss of every sample.
  const LossReduction reduction = op == "ctc_loss" ? ReductionOf(&args, 5) : LossReduction::kNone;
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 && x.shape.size() != 3) return Unpriced(Reason::kShapeMismatch);
  const int64_t samples = x.shape.size() == 3 ? x.shape[1] : 1;
  std::optional<int64_t> longest = LongestTarget(targets, args.Find(3));
  if (!longest && samples == 1 && targets.shape.size() == 1) longest = targets.shape[0];
  if (!longest) return Unpriced(Reason::kUnsupportedArgs);
  const Checked states = Checked(*longest) * 2 + 1;
  const bool none = reduction == LossReduction::kNone;
  const Checked output = BytesOf(none ? samples : 1, x.dtype);
  const Tensor operands[] = {x, targets};
  return Priced(
      TensorsText(operands),
      {0, Checked(x.shape[0]) * samples * states * kCtcState, x.bytes() + targets.bytes() + output},
      std::vector<PartWork>());
}

constexpr std::string_view kCosineNames[] = {"cosine_embedding_loss"};
constexpr std::string_view kTripletNames[] = {"triplet_margin_loss"};
constexpr std::string_view kMarginNames[] = {"margin_ranking_loss"};
constexpr std::string_view kGaussianNames[] = {"gaussian_nll_loss"};
constexpr std::string_view kCtcNames[] = {"ctc_loss", "_ctc_loss", "_cudnn_ctc_loss"};
constexpr OpModel kDistanceLossModels[] = {
    {kCosineNames, PriceCosine},     {kTripletNames, PriceTriplet}, {kMarginNames, PriceMargin},
    {kGaussianNames, PriceGaussian}, {kCtcNames, PriceCtc},
};

}  // namespace

std::span<const OpModel> DistanceLossOps() { return kDistanceLossModels; }

}  // namespace oplens::ops
