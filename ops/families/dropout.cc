
#include <optional>
#include <string_view>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Per mask element: a fused multiply-add that makes the random number uniform, and the scale. Per
// element of X: the product with the mask. Backward: mask and scale.
constexpr int kPerMaskElement = 3;
constexpr int kLocalDropoutBackward = 2;

struct DropoutVariant {
  std::string_view name;
  bool features;  // Drops whole feature maps: one mask element each.
};

constexpr DropoutVariant kDropoutVariants[] = {
    {"dropout", false},
    {"alpha_dropout", false},
    {"feature_dropout", true},
    {"dropout1d", true},
    {"dropout2d", true},
    {"dropout3d", true},
    {"feature_alpha_dropout", true},
};

std::optional<Checked> MaskElements(std::string_view op, const Tensor& x) {
  const DropoutVariant* variant = FindRow(kDropoutVariants, op);
  if (variant == nullptr || !variant->features) return x.elements();
  if (x.shape.size() < 2) return std::nullopt;
  return Elements(x.shape.first(2));
}

// Reads X, writes Y and a one-byte mask. Outside training nothing is computed.
PriceResult PriceDropout(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input", "p", "training|train", "inplace|generator"});
  const Tensor x = args.RequireTensor(0);
  const bool training = args.BoolOr(2, true);
  if (args.failed()) return Unpriced(args.reason());
  if (!training) return Priced(TensorText(x), Work(), Work());
  const Checked n = x.elements();
  const std::optional<Checked> mask = MaskElements(op, x);
  if (!mask) return Unpriced(Reason::kShapeMismatch);
  const Checked bytes = x.bytes() * 2 + BytesOf(*mask, DType::kBool);
  return Priced(TensorText(x), {0, n + *mask * kPerMaskElement, bytes},
                Work{0, n * kLocalDropoutBackward, bytes});
}

constexpr auto kDropoutNames = NamesOf(kDropoutVariants);
constexpr OpModel kDropoutModels[] = {{kDropoutNames, PriceDropout}};

}  // namespace

std::span<const OpModel> DropoutOps() { return kDropoutModels; }

}  // namespace oplens::ops
