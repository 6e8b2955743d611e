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

const std::vector<PartWork>& PartsOf(const PricedOp& op, Direction direction) {
  return direction == Direction::kBackward ? op.backward : op.forward;
}

std::optional<int64_t> FindExtent(std::span<const NamedExtent> extents, std::string_view name) {
  for (const NamedExtent& extent : extents) {
    if (extent.name == name) return extent.extent;
  }
  return std::nullopt;
}

// The part, if it has its own sizes; otherwise nullptr.
const PartWork* FindSizedPart(const PricedOp& op, Direction direction, Part part) {
  const std::vector<PartWork>& parts = PartsOf(op, direction);
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
  if (const PartWork* sized = FindSizedPart(op, direction, part)) return sized->extents;
  const std::vector<PartWork>& parts = PartsOf(op, direction);
  const bool have_own = std::any_of(parts.begin(), parts.end(),
                                    [](const PartWork& other) { return !other.params.empty(); });
  return have_own ? std::span<const NamedExtent>() : op.product->extents;
}

std::optional<int64_t> SizeNamed(const PricedOp& op, std::span<const NamedExtent> extents,
                                 std::string_view key) {
  if (!op.product) return std::nullopt;
  if (op.product->kind != MatrixProduct::Kind::kGemm) return FindExtent(op.product->sizes, key);
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"m", "M"}, {"n", "N"}, {"k", "K"}};
  // Products of several matrices of different sizes name theirs otherwise.
  for (const auto& [lower, name] : kNames) {
    if (!FindExtent(extents, name)) return std::nullopt;
  }
  if (key == "batch") return op.product->batch;
  for (const auto& [lower, name] : kNames) {
    if (key == lower) return FindExtent(extents, name);
  }
  return std::nullopt;
}

std::string_view LayoutOf(const PricedOp& op, Direction direction, Part part) {
  if (!op.product || op.product->kind != MatrixProduct::Kind::kGemm ||
      !op.product->right_transposed || ExtentsOf(op, direction, part).empty()) {
    return "";
  }
  const std::vector<PartWork>& parts = PartsOf(op, direction);
  // A call that is no gradient function computes its own product, whatever its result is for.
  if (direction != Direction::kBackward && !parts.empty() && parts.front().part == Part::kForward) {
    part = Part::kForward;
  }
  switch (part) {
    case Part::kForward:
      return "TN";
    case Part::kDgrad:
      return "NN";
    case Part::kWgrad:
      return "NT";
    case Part::kBackward:
    case Part::kBgrad:
      break;
  }
  return "";
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
