#include "ops/pricing.h"

#include <utility>

namespace oplens::ops {
namespace {

bool Fits(const std::vector<PartWork>& parts) {
  Work sum;
  for (const PartWork& part : parts) {
    sum.mma += part.work.mma;
    sum.vec += part.work.vec;
    sum.bytes += part.work.bytes;
  }
  return (sum.mma + sum.vec).Value().has_value() && sum.bytes.Value().has_value();
}

}  // namespace

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
  if (Fits(op.forward) && Fits(op.backward)) return result;
  return Unpriced(Reason::kCostOverflow);
}

std::string_view RoleWord(Role role) {
  switch (role) {
    case Role::kMain:
      return "main";
    case Role::kHelper:
      return "helper";
    case Role::kLayout:
      return "layout";
    case Role::kReduce:
      return "reduce";
    case Role::kEpilogue:
      return "epilogue";
    case Role::kUnknown:
      break;
  }
  return "";
}

std::string_view FlopsKindWord(FlopsKind kind) {
  switch (kind) {
    case FlopsKind::kNone:
      return "none";
    case FlopsKind::kExact:
      return "exact";
    case FlopsKind::kEstimate:
      return "estimate";
    case FlopsKind::kUnknown:
      break;
  }
  return "unknown";
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
