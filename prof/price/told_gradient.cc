#include "prof/price/told_gradient.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ops/op_model.h"

namespace oplens::prof {
namespace {

bool HasPart(const std::vector<ops::PartWork>& parts, ops::Part part) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const ops::PartWork& other) { return other.part == part; });
}

}  // namespace

std::optional<ops::GradientGuess> GradientOfOwnCall(const Annotation& own, const ForwardOp& forward,
                                                    Annotations* annotations) {
  // A gradient function names its gradients itself.
  if (own.price->forward.empty() || own.price->forward.front().part != ops::Part::kForward) {
    return std::nullopt;
  }
  const Annotation* outer = nullptr;
  for (size_t i = forward.markers.size(); i-- > 0 && outer == nullptr;) {
    const Annotation* annotation = annotations->Of(forward.markers[i]);
    if (annotation->price && annotation->price->product) outer = annotation;
  }
  if (outer == nullptr) return std::nullopt;
  if (own.price->product) return ops::GradientOfInner(*outer->price->product, *own.price->product);
  if (HasPart(outer->price->backward, ops::Part::kBgrad) && ops::NormalizeOpName(own.op) == "sum") {
    return ops::GradientGuess{ops::Part::kBgrad, .95};
  }
  return std::nullopt;
}

std::optional<ops::GradientGuess> GradientOfFunctionInside(const Annotation& call,
                                                           const Annotation& innermost) {
  if (innermost.price) return std::nullopt;
  const std::optional<ops::Part> part = ops::PartOfFunction(innermost.op);
  if (!part || !HasPart(call.price->forward, *part)) return std::nullopt;
  return ops::GradientGuess{*part, 1};
}

}  // namespace oplens::prof
