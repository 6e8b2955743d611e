// Elementwise ops whose operands do not broadcast: slopes by channel, gates by halves.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// x and one slope a channel, or one for all.
PriceResult PricePrelu(std::string_view, const OpCall& call) {
  constexpr int kWeight = 2;
  CallArgs args(call, {"input|self", "weight"});
  const Tensor tensors[] = {args.RequireTensor(0), args.RequireTensor(1)};
  if (args.failed()) return Unpriced(args.reason());
  const auto& [x, slope] = tensors;
  const Checked channels = x.shape.size() > 1 ? x.shape[1] : 1;
  if (!(slope.elements() == 1) && !(slope.elements() == channels)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked n = x.elements();
  const Work forward{0, n * kWeight, x.bytes() * 2 + slope.bytes()};
  // dX and, summed over all but the channels, the gradient of the slopes.
  const Work backward{0, n * (kWeight + 1), x.bytes() * 3 + slope.bytes() * 2};
  return Priced(TensorsText(tensors), forward, backward);
}

// One half of a dimension scales the other: Y = a f(b).
struct GatedOp {
  std::string_view name;
  int forward;   // FLOPs an output element.
  int backward;  // 0: no model.
};

constexpr GatedOp kGatedOps[] = {
    {"glu", 21, 25},
    {"swiglu", 22, 0},
    {"silu_and_mul", 22, 0},
    {"geglu", 25, 0},
};

PriceResult PriceGated(std::string_view op, const OpCall& call) {
  const GatedOp* row = FindRow(kGatedOps, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self|x", "dim"});
  const Tensor x = args.RequireTensor(0);
  const std::optional<size_t> dim = DimIndex(args.IntOr(1, -1), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!dim || x.shape.empty() || x.shape[*dim] % 2 != 0) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements() / 2;
  const Checked output_bytes = BytesOf(n, x.dtype);
  const Work forward{0, n * row->forward, x.bytes() + output_bytes};
  if (row->backward == 0) return Priced(TensorText(x), forward, std::vector<PartWork>());
  return Priced(TensorText(x), forward, Work{0, n * row->backward, x.bytes() * 2 + output_bytes});
}

constexpr std::string_view kPreluNames[] = {"prelu"};
constexpr auto kGatedNames = NamesOf(kGatedOps);
constexpr OpModel kModels[] = {{kPreluNames, PricePrelu}, {kGatedNames, PriceGated}};

}  // namespace

std::span<const OpModel> GatedOps() { return kModels; }

}  // namespace oplens::ops
