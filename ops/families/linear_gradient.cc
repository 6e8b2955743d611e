// linear_backward(X, dY, W, mask): the gradients of linear that the mask asks for.

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// The places of a part in the mask: dX, dW, db.
constexpr Part kMasked[] = {Part::kDgrad, Part::kWgrad, Part::kBgrad};

bool IsWanted(const std::vector<int64_t>& mask, Part part) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if (kMasked[i] == part) return mask[i] != 0;
  }
  return false;
}

PriceResult PriceLinearGradient(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"self|input", "grad_output|grad", "weight", "output_mask"});
  const Tensor x = args.RequireTensor(0);
  const Tensor dy = args.RequireTensor(1);
  const Tensor w = args.RequireTensor(2);
  const std::optional<std::vector<int64_t>> mask = args.FindInts(3);
  if (!mask || mask->size() != std::size(kMasked)) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  const bool fits = !x.shape.empty() && dy.shape.size() == x.shape.size() && w.shape.size() == 2 &&
                    dy.shape.back() == w.shape[0] &&
                    std::equal(x.shape.begin(), x.shape.end() - 1, dy.shape.begin());
  if (!fits) return Unpriced(Reason::kShapeMismatch);

  OpCall forward{call.mod, "linear", {*args.Find(0), *args.Find(2), *args.Find(2)}};
  for (OpArg& arg : forward.args) arg.name.clear();
  forward.args[2].shape = {w.shape[0]};  // The bias, of which only the gradient counts.
  const OpModel* model = FindOpModel(op);
  if (model == nullptr) return Unpriced(Reason::kUnknownOp);
  PriceResult result = model->price(op, forward);
  if (!result.price) return result;
  std::vector<PartWork> parts = std::exchange(result.price->backward, {});
  std::erase_if(parts, [&](const PartWork& part) { return !IsWanted(*mask, part.part); });
  if (parts.empty()) return Unpriced(Reason::kUnsupportedArgs);
  result.price->matmul_like = std::any_of(
      parts.begin(), parts.end(), [](const PartWork& part) { return part.part != Part::kBgrad; });
  result.price->forward = std::move(parts);
  return result;
}

constexpr std::string_view kLinearGradientNames[] = {"linear"};
constexpr OpModel kLinearGradientModels[] = {{kLinearGradientNames, PriceLinearGradient}};

}  // namespace

std::span<const OpModel> LinearGradients() { return kLinearGradientModels; }

}  // namespace oplens::ops
