// Dropout.

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Random number, comparison, scaling; backward: mask and scale.
constexpr int kForward = 5;
constexpr int kBackward = 2;

// X is read, Y and a one-byte mask are written. Outside training nothing is computed.
PriceResult PriceDropout(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "p", "training|train", "inplace|generator"});
  const Tensor x = args.RequireTensor(0);
  const bool training = args.BoolOr(2, true);
  if (args.failed()) return Unpriced(args.reason());
  if (!training) return Priced(TensorText(x), Work(), Work());
  const Checked n = x.elements();
  const Checked bytes = x.bytes() * 2 + BytesOf(n, DType::kBool);
  return Priced(TensorText(x), {0, n * kForward, bytes}, Work{0, n * kBackward, bytes});
}

constexpr std::string_view kNames[] = {"dropout", "alpha_dropout"};
constexpr OpModel kModels[] = {{kNames, PriceDropout}};

}  // namespace

std::span<const OpModel> DropoutOps() { return kModels; }

}  // namespace oplens::ops
