// Elementwise ops whose operands do not broadcast: slopes per channel, gating by halves.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// x and one slope per channel, or one for all.
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
  // dX, and the slopes' gradient, summed over all but the channels.
  const Work backward{0, n * (kWeight + 1), x.bytes() * 3 + slope.bytes() * 2};
  return Priced(TensorsText(tensors), forward, backward);
}

// One half of a dimension scales the other: Y = f(a) b. f weighs as in the table of elementwise
// ops, b is one product. Backward: f's, applied to dY b (a product), f(a) once more from its
// intermediates (a product), and dY f(a) (a product). glu has its weight in the table.
struct GatedOp {
  std::string_view name;
  int forward;  // FLOPs per output element.
  int backward;
};

constexpr GatedOp kGatedOps[] = {
    {"glu", 21, 25},          {"reglu", 2, 4},
    {"swiglu", 22, 27},       {"geglu", 25, 31},
    {"silu_and_mul", 22, 27}, {"mul_and_silu", 22, 27},
    {"gelu_and_mul", 25, 31}, {"gelu_tanh_and_mul", 29, 37},
};

bool GatedSameShape(const Tensor& a, const Tensor& b) {
  return std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end());
}

PriceResult PricedGate(const GatedOp& row, std::string params, Checked n, Checked input_bytes,
                       Checked output_bytes) {
  const Work forward{0, n * row.forward, input_bytes + output_bytes};
  return Priced(std::move(params), forward,
                Work{0, n * row.backward, input_bytes * 2 + output_bytes});
}

// x holds both halves along a dimension.
PriceResult PriceHalves(const GatedOp& row, const Tensor& x, int64_t dimension) {
  const std::optional<size_t> dim = DimIndex(dimension, x.shape.size());
  if (!dim || x.shape.empty() || x.shape[*dim] % 2 != 0) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements() / 2;
  return PricedGate(row, TensorText(x), n, x.bytes(), BytesOf(n, x.dtype));
}

// Two tensors: the halves, or (result, x) in inference engines, with x's last dimension doubled.
PriceResult PricePair(const GatedOp& row, Tensor a, Tensor b) {
  const Tensor tensors[] = {a, b};
  if (GatedSameShape(a, b)) {
    const Checked n = a.elements();
    return PricedGate(row, TensorsText(tensors), n, a.bytes() + b.bytes(),
                      BytesOf(n, PromoteDTypes(a.dtype, b.dtype)));
  }
  if (a.elements() == b.elements() * 2) std::swap(a, b);
  if (a.shape.empty() || a.shape.size() != b.shape.size() ||
      !(Checked(a.shape.back()) * 2 == b.shape.back()) ||
      !std::equal(a.shape.begin(), a.shape.end() - 1, b.shape.begin())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  return PricedGate(row, TensorText(b), a.elements(), b.bytes(), a.bytes());
}

PriceResult PriceGated(std::string_view op, const OpCall& call) {
  const GatedOp* row = FindRow(kGatedOps, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self|x|gate", "dim|up|other", "out|threshold"});
  const Tensor x = args.RequireTensor(0);
  if (args.failed()) return Unpriced(args.reason());
  const OpArg* second = args.Find(1);
  if (second != nullptr && second->kind == OpArg::Kind::kTensor) {
    const Tensor other = args.RequireTensor(1);
    return args.failed() ? Unpriced(args.reason()) : PricePair(*row, x, other);
  }
  const int64_t dim = args.IntOr(1, -1);
  return args.failed() ? Unpriced(args.reason()) : PriceHalves(*row, x, dim);
}

constexpr std::string_view kPreluNames[] = {"prelu"};
constexpr auto kGatedNames = NamesOf(kGatedOps);
constexpr OpModel kGatedModels[] = {{kPreluNames, PricePrelu}, {kGatedNames, PriceGated}};

}  // namespace

std::span<const OpModel> GatedOps() { return kGatedModels; }

}  // namespace oplens::ops
