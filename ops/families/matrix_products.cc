// Products of more than two operands, or along other dimensions than the last two.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

std::string OperandsText(const Tensor& a, const Tensor& b) {
  return fmt::format("A={},B={},{}", TupleText(a.shape), TupleText(b.shape), DTypeWord(a.dtype));
}

// One multiplication per output.
PriceResult PricedOuter(const Tensor& a, const Tensor& b, Checked n) {
  const Checked output_bytes = BytesOf(n, PromoteDTypes(a.dtype, b.dtype));
  const bool differentiable = a.Differentiable() || b.Differentiable();
  std::vector<PartWork> backward;
  if (differentiable) {
    backward.push_back({Part::kBackward, OuterGradients(a, b, n, output_bytes), {}});
  }
  PriceResult result =
      Priced(OperandsText(a, b), {0, n, a.bytes() + b.bytes() + output_bytes}, std::move(backward));
  result.price->vec_estimated = FlopsPerFma(a.dtype, b.dtype) > 2;
  return result;
}

// A[m,k] B[k,n] with computed extents; kCostOverflow if one is too large.
PriceResult PricedFlat(const Tensor& a, const Tensor& b, Checked m, Checked n, Checked k,
                       bool right_transposed) {
  const auto rows = m.Value();
  const auto columns = n.Value();
  const auto depth = k.Value();
  if (!rows || !columns || !depth) return Unpriced(Reason::kCostOverflow);
  const Product p{1, *rows, *columns, *depth, 0, 0};
  PriceResult result = PricedProduct(OperandsText(a, b), p, a, b);
  if (right_transposed) MarkTransposed(p, a, b, &*result.price);
  return result;
}

Shape Lead(Shape shape) { return shape.first(shape.size() - 1); }

// inner(A[..,K], B[..,K]): every row of A with every row of B. A 0-d operand scales the other.
PriceResult PriceInner(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "other|tensor"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (a.shape.empty() || b.shape.empty()) return PricedOuter(a, b, a.elements() * b.elements());
  if (a.shape.back() != b.shape.back()) return Unpriced(Reason::kShapeMismatch);
  return PricedFlat(a, b, Elements(Lead(a.shape)), Elements(Lead(b.shape)), a.shape.back(), true);
}

// kron: each element of A scales a copy of B.
PriceResult PriceKron(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "other"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  return PricedOuter(a, b, a.elements() * b.elements());
}

// ---- tensordot ----

struct Dimensions {
  std::vector<size_t> a;
  std::vector<size_t> b;
};

bool ReadDimensions(const std::vector<int64_t>& given, size_t rank, std::vector<size_t>* dims) {
  for (const int64_t dim : given) {
    const std::optional<size_t> index = DimIndex(dim, rank);
    if (!index || *index >= rank) return false;
    if (std::find(dims->begin(), dims->end(), *index) != dims->end()) return false;
    dims->push_back(*index);
  }
  return true;
}

// dims=2: the last two of A with the first two of B; or lists of dimensions of A and B.
std::optional<Dimensions> ReadTensordot(CallArgs* args, const Tensor& a, const Tensor& b) {
  const std::optional<std::vector<int64_t>> first = args->FindInts(2);
  const std::optional<std::vector<int64_t>> second = args->FindInts(3);
  Dimensions dims;
  if (first && second) {
    const bool fits = first->size() == second->size() &&
                      ReadDimensions(*first, a.shape.size(), &dims.a) &&
                      ReadDimensions(*second, b.shape.size(), &dims.b);
    return fits ? std::optional(dims) : std::nullopt;
  }
  const OpArg* arg = args->Find(2);
  const bool is_count = arg == nullptr || arg->kind == OpArg::Kind::kInt;
  if (second || !is_count) {
    args->Fail(Reason::kUnsupportedArgs);
    return std::nullopt;
  }
  constexpr int64_t kDefault = 2;
  const int64_t count = arg == nullptr ? kDefault : arg->int_value;
  if (count < 0 || count > static_cast<int64_t>(std::min(a.shape.size(), b.shape.size()))) {
    return std::nullopt;
  }
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    dims.a.push_back(a.shape.size() - static_cast<size_t>(count) + i);
    dims.b.push_back(i);
  }
  return dims;
}

// Product of the extents that are not contracted.
Checked FreeElements(Shape shape, const std::vector<size_t>& contracted) {
  Checked product = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_free = std::find(contracted.begin(), contracted.end(), i) == contracted.end();
    if (is_free) product *= shape[i];
  }
  return product;
}

PriceResult PriceTensordot(std::string_view, const OpCall& call) {
  constexpr size_t kMaxRank = 64;  // PyTorch's limit.
  CallArgs args(call, {"a|self", "b|other", "dims|dims_self", "dims_other"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (a.shape.size() > kMaxRank || b.shape.size() > kMaxRank) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  const std::optional<Dimensions> dims = ReadTensordot(&args, a, b);
  if (args.failed()) return Unpriced(args.reason());
  if (!dims) return Unpriced(Reason::kShapeMismatch);
  Checked k = 1;
  for (size_t i = 0; i < dims->a.size(); ++i) {
    if (a.shape[dims->a[i]] != b.shape[dims->b[i]]) return Unpriced(Reason::kShapeMismatch);
    k *= a.shape[dims->a[i]];
  }
  if (dims->a.empty()) return PricedOuter(a, b, a.elements() * b.elements());
  return PricedFlat(a, b, FreeElements(a.shape, dims->a), FreeElements(b.shape, dims->b), k, false);
}

// ---- chains ----

// FLOPs of the cheapest order of A1[d0,d1] A2[d1,d2] ..., as PyTorch's; dynamic programming.
Checked ChainFlops(const std::vector<int64_t>& d, int per_fma) {
  const size_t factors = d.size() - 1;
  std::vector<std::vector<Checked>> cost(factors, std::vector<Checked>(factors, 0));
  const auto less = [](Checked x, Checked y) {
    return x.Value() && (!y.Value() || *x.Value() < *y.Value());
  };
  for (size_t length = 2; length <= factors; ++length) {
    for (size_t i = 0; i + length <= factors; ++i) {
      const size_t j = i + length - 1;
      for (size_t split = i; split < j; ++split) {
        const Checked flops =
            cost[i][split] + cost[split + 1][j] + Checked(d[i]) * d[split + 1] * d[j + 1] * per_fma;
        if (split == i || less(flops, cost[i][j])) cost[i][j] = flops;
      }
    }
  }
  return cost[0][factors - 1];
}

// The chain's extents d0, d1, ..; the first factor may be a row, the last one a column.
std::optional<std::vector<int64_t>> ChainExtents(const std::vector<Tensor>& factors) {
  std::vector<int64_t> d;
  for (size_t i = 0; i < factors.size(); ++i) {
    std::vector<int64_t> shape(factors[i].shape.begin(), factors[i].shape.end());
    if (shape.size() == 1 && i == 0) shape.insert(shape.begin(), 1);
    if (shape.size() == 1 && i + 1 == factors.size()) shape.push_back(1);
    if (shape.size() != 2 || (i > 0 && d.back() != shape[0])) return std::nullopt;
    if (i == 0) d.push_back(shape[0]);
    d.push_back(shape[1]);
  }
  return d;
}

// chain_matmul(A, B, ..) and multi_dot([A, B, ..]).
PriceResult PriceChain(std::string_view, const OpCall& call) {
  constexpr size_t kMaxFactors = 64;
  std::vector<Tensor> factors;
  for (const OpArg& arg : call.args) {
    Reason reason = Reason::kUnsupportedArgs;
    if (arg.name == "out" || arg.kind == OpArg::Kind::kNone) continue;
    const std::optional<Tensor> tensor = TensorOf(arg, &reason);
    if (!tensor || tensor->number) return Unpriced(reason);
    factors.push_back(*tensor);
    if (factors.size() > kMaxFactors) return Unpriced(Reason::kUnsupportedArgs);
  }
  if (factors.size() < 2) return Unpriced(Reason::kUnsupportedArgs);
  const std::optional<std::vector<int64_t>> extents = ChainExtents(factors);
  if (!extents) return Unpriced(Reason::kShapeMismatch);
  DType type = factors.front().dtype;
  Checked bytes;
  bool differentiable = true;
  for (const Tensor& factor : factors) {
    type = PromoteDTypes(type, factor.dtype);
    bytes += factor.bytes();
    differentiable = differentiable && factor.Differentiable();
  }
  const Checked output_bytes = BytesOf(Checked(extents->front()) * extents->back(), type);
  const Checked mma = ChainFlops(*extents, FlopsPerFma(type, type));
  // Each product has two gradients.
  std::vector<PartWork> backward;
  if (differentiable) {
    backward.push_back({Part::kBackward, {mma * 2, 0, bytes * 2 + output_bytes}, {}});
  }
  PriceResult result =
      Priced(TensorsText(factors), {mma, 0, bytes + output_bytes}, std::move(backward));
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  return result;
}

// ---- bilinear ----

// Y[..,o] = sum over i and j of X1[..,i] W[o,i,j] X2[..,j], and b[o]: X1 times W, then times X2.
// With M rows, dX1 and dX2 are the same two products with dY for the other operand; dW is the
// product of dY with the outer product of X1 and X2.
PriceResult PriceBilinear(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input1", "input2", "weight", "bias"});
  const Tensor x1 = args.RequireTensor(0);
  const Tensor x2 = args.RequireTensor(1);
  const Tensor w = args.RequireTensor(2);
  const std::optional<Tensor> bias = args.FindTensor(3);
  if (args.failed()) return Unpriced(args.reason());
  if (w.shape.size() != 3 || x1.shape.empty() || x1.shape.size() != x2.shape.size() ||
      x1.shape.back() != w.shape[1] || x2.shape.back() != w.shape[2] ||
      !std::equal(x1.shape.begin(), x1.shape.end() - 1, x2.shape.begin()) ||
      (bias && !(bias->shape.size() == 1 && bias->shape[0] == w.shape[0]))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t o = w.shape[0];
  const int64_t i = w.shape[1];
  const int64_t j = w.shape[2];
  const Checked m = Elements(Lead(x1.shape));
  const DType type = PromoteDTypes(PromoteDTypes(x1.dtype, x2.dtype), w.dtype);
  const int per_fma = FlopsPerFma(x1.dtype, PromoteDTypes(x2.dtype, w.dtype));
  const Checked outputs = m * o;
  const Checked output_bytes = BytesOf(outputs, type);
  const Checked operand_bytes = x1.bytes() + x2.bytes() + w.bytes();
  const Checked largest = outputs * i * j * per_fma;
  Work forward{largest + outputs * j * per_fma, 0, operand_bytes + output_bytes};
  if (bias) {
    forward.vec = outputs;
    forward.bytes += bias->bytes();
  }

  std::vector<PartWork> backward;
  Work dgrad;
  const Checked moved = operand_bytes + output_bytes;
  if (x1.Differentiable()) dgrad = {largest + outputs * i * per_fma, 0, moved};
  if (x2.Differentiable()) {
    dgrad.mma += largest + outputs * j * per_fma;
    dgrad.bytes += moved;
  }
  if (x1.Differentiable() || x2.Differentiable()) backward.push_back({Part::kDgrad, dgrad, {}});
  if (w.Differentiable()) backward.push_back({Part::kWgrad, {largest, m * i * j, moved}, {}});
  if (bias && bias->Differentiable()) {
    backward.push_back({Part::kBgrad, {0, outputs, output_bytes + bias->bytes()}, {}});
  }
  const Tensor tensors[] = {x1, x2, w};
  PriceResult result = Priced(TensorsText(tensors), forward, std::move(backward));
  result.price->matmul_like = true;
  result.price->vec_estimated = per_fma > 2;
  return result;
}

constexpr std::string_view kInnerNames[] = {"inner"};
constexpr std::string_view kKronNames[] = {"kron"};
constexpr std::string_view kTensordotNames[] = {"tensordot"};
constexpr std::string_view kChainNames[] = {"chain_matmul", "multi_dot", "linalg_multi_dot"};
constexpr std::string_view kBilinearNames[] = {"bilinear"};
constexpr OpModel kMatrixProductsModels[] = {{kInnerNames, PriceInner},
                                             {kKronNames, PriceKron},
                                             {kTensordotNames, PriceTensordot},
                                             {kChainNames, PriceChain},
                                             {kBilinearNames, PriceBilinear}};

// linear_backward(X, dY, W, mask): the gradients of linear selected by the mask.

// Parts by position in the mask: dX, dW, db.
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
  forward.args[2].shape = {w.shape[0]};  // The bias; only its gradient counts.
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

std::span<const OpModel> MatrixProductOps() { return kMatrixProductsModels; }

std::span<const OpModel> LinearGradients() { return kLinearGradientModels; }

}  // namespace oplens::ops
