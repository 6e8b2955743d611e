#include "ops/pricing.h"

#include <algorithm>
#include <utility>

namespace oplens::ops {

Work SumOf(const std::vector<PartWork>& parts) {
  Work sum;
  for (const PartWork& part : parts) {
    sum.mma += part.work.mma;
    sum.vec += part.work.vec;
    sum.bytes += part.work.bytes;
  }
  return sum;
}

bool Fits(const Work& work) {
  return (work.mma + work.vec).Value().has_value() && work.bytes.Value().has_value();
}

PriceResult Unpriced(Reason reason) { return {std::nullopt, reason}; }

PriceResult Priced(std::string params, Work forward, std::vector<PartWork> backward) {
  PricedOp op;
  op.params = std::move(params);
  op.forward = {{Part::kForward, forward}};
  op.backward = std::move(backward);
  return {std::move(op), Reason::kUnknownOp};
}

PriceResult Priced(std::string params, Work forward, Work backward) {
  return Priced(std::move(params), forward, {{Part::kBackward, backward}});
}

PriceResult CheckRange(PriceResult result) {
  if (!result.price) return result;
  const PricedOp& op = *result.price;
  if (Fits(SumOf(op.forward)) && Fits(SumOf(op.backward))) return result;
  return Unpriced(Reason::kCostOverflow);
}

namespace {

// The part, if it has its own sizes; otherwise nullptr.
const PartWork* FindSizedPart(const PricedOp& op, Direction direction, Part part) {
  const std::vector<PartWork>& parts = direction == Direction::kBackward ? op.backward : op.forward;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartWork& candidate) {
    return candidate.part == part && !candidate.params.empty();
  });
  return found == parts.end() ? nullptr : &*found;
}

}  // namespace

std::string_view ParamsOf(const PricedOp& op, Direction direction, Part part) {
  const PartWork* sized = FindSizedPart(op, direction, part);
  return sized != nullptr ? sized->params : op.params;
}

std::span<const NamedExtent> ExtentsOf(const PricedOp& op, Direction direction, Part part) {
  if (!op.product) return {};
  const PartWork* sized = FindSizedPart(op, direction, part);
  return sized != nullptr ? sized->extents : op.product->extents;
}

std::optional<Part> PartOfFunction(std::string_view op) {
  constexpr std::string_view kBackward = "_backward_";
  const size_t at = op.rfind(kBackward);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view of = op.substr(at + kBackward.size());
  of = of.substr(0, of.find('.'));
  if (of.ends_with("_out")) of.remove_suffix(4);
  if (of == "input") return Part::kDgrad;
  if (of == "weight" || of == "weights") return Part::kWgrad;
  if (of == "bias") return Part::kBgrad;
  return std::nullopt;
}

std::string_view GradientWord(Part part) {
  switch (part) {
    case Part::kDgrad:
      return "dgrad";
    case Part::kWgrad:
      return "wgrad";
    case Part::kBgrad:
      return "bgrad";
    case Part::kForward:
    case Part::kBackward:
      break;
  }
  return "";
}

}  // namespace oplens::ops
