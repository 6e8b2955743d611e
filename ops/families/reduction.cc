// Reductions and scans over dimensions.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

enum class ReductionOutput : uint8_t {
  kSame,  // The input's type.
  kSum,   // The input's type; integers are summed in int64.
  kBool,
  kInt64,
  kTwo,           // Two results of the input's type.
  kSelected,      // Values and, with a dimension, their int64 indices.
  kScan,          // As kSum, one result per input.
  kScanSelected,  // Running values and their int64 indices.
};

// The gradient of a reduction: FLOPs per element of the input and of the output, and what is read
// beside dY. A view costs nothing; kUnknown has no model.
struct ReductionGradient {
  enum class Kind : uint8_t {
    kUnknown,
    kView,      // dX is dY expanded: no kernel.
    kComputed,  // dX is written whole.
    kSelected,  // With indices, dY goes to their positions; otherwise as kComputed.
  };
  Kind kind = Kind::kUnknown;
  int per_input = 0;
  int per_output = 0;
  bool reads_input = false;
  bool reads_output = false;
};

constexpr ReductionGradient Computed(int per_input, int per_output, bool reads_input,
                                     bool reads_output) {
  return {ReductionGradient::Kind::kComputed, per_input, per_output, reads_input, reads_output};
}

constexpr ReductionGradient kExpanded{ReductionGradient::Kind::kView, 0, 0, false, false};
// Compares X with Y, counts equal ones, divides and masks dY.
constexpr ReductionGradient kEqualShare = Computed(4, 0, true, true);
constexpr ReductionGradient kSelected{ReductionGradient::Kind::kSelected, 4, 0, true, true};

struct Reduction {
  std::string_view name;
  int per_input;   // FLOPs per input element.
  int per_output;  // FLOPs per output element.
  ReductionOutput output;
  ReductionGradient gradient = {};
};

constexpr Reduction kReductions[] = {
    {"sum", 1, 0, ReductionOutput::kSum, kExpanded},
    {"nansum", 2, 0, ReductionOutput::kSum, Computed(1, 0, true, false)},
    {"mean", 1, 1, ReductionOutput::kSame, Computed(1, 0, false, false)},
    // dY Y / X
    {"prod", 1, 0, ReductionOutput::kSum, Computed(2, 0, true, true)},
    {"amax", 1, 0, ReductionOutput::kSame, kEqualShare},
    {"amin", 1, 0, ReductionOutput::kSame, kEqualShare},
    {"aminmax", 2, 0, ReductionOutput::kTwo, Computed(8, 0, true, true)},
    {"max", 1, 0, ReductionOutput::kSelected, kSelected},
    {"min", 1, 0, ReductionOutput::kSelected, kSelected},
    {"any", 1, 0, ReductionOutput::kBool},
    {"all", 1, 0, ReductionOutput::kBool},
    {"argmax", 1, 0, ReductionOutput::kInt64},
    {"argmin", 1, 0, ReductionOutput::kInt64},
    {"count_nonzero", 1, 0, ReductionOutput::kInt64},
    // Subtract the maximum, exponential 20, add up, the maximum; backward: subtract, exp, multiply
    {"logsumexp", 23, 0, ReductionOutput::kSame, Computed(22, 0, true, true)},
    {"cumsum", 1, 0, ReductionOutput::kScan, Computed(1, 0, false, false)},
    // The reverse cumulative sum of dY Y, divided by X
    {"cumprod", 1, 0, ReductionOutput::kScan, Computed(3, 0, true, true)},
    // dY is added at the indices
    {"cummax", 1, 0, ReductionOutput::kScanSelected, Computed(1, 0, false, false)},
    {"cummin", 1, 0, ReductionOutput::kScanSelected, Computed(1, 0, false, false)},
};

constexpr Reduction kVariances[] = {
    // Mean 1, subtract, square and add 3; the root 20. Backward: the mean again, subtract, scale,
    // multiply by dY; the mean's gradient is added
    {"var", 4, 0, ReductionOutput::kSame, Computed(4, 0, true, false)},
    {"std", 4, 20, ReductionOutput::kSame, Computed(4, 2, true, true)},
    {"var_mean", 4, 0, ReductionOutput::kTwo, Computed(5, 0, true, false)},
    {"std_mean", 4, 20, ReductionOutput::kTwo, Computed(5, 2, true, true)},
};

// Larger weights include functions, not only counted operations.
constexpr int kReductionMaxCounted = 19;

bool IsScan(ReductionOutput output) {
  return output == ReductionOutput::kScan || output == ReductionOutput::kScanSelected;
}

// Elements left after reducing `dims` (empty: all); nullopt if one is invalid or repeated.
std::optional<Checked> ReducedElements(Shape shape, const std::vector<int64_t>& dims) {
  if (dims.empty()) return Checked(1);
  std::vector<bool> reduced(std::max<size_t>(shape.size(), 1), false);
  for (const int64_t dim : dims) {
    const std::optional<size_t> index = DimIndex(dim, shape.size());
    if (!index || reduced[*index]) return std::nullopt;
    reduced[*index] = true;
  }
  Checked left = 1;
  for (size_t i = 0; i < shape.size(); ++i) left *= reduced[i] ? 1 : shape[i];
  return left;
}

DType SumType(DType input) {
  return CategoryOf(input) < DTypeCategory::kFloat ? DType::kInt64 : input;
}

Checked ReductionOutputBytes(const Reduction& reduction, const Tensor& x, Checked outputs,
                             bool has_dim, std::optional<DType> asked) {
  const Checked indices = BytesOf(outputs, DType::kInt64);
  switch (reduction.output) {
    case ReductionOutput::kSame:
      return BytesOf(outputs, asked.value_or(x.dtype));
    case ReductionOutput::kSum:
    case ReductionOutput::kScan:
      return BytesOf(outputs, asked.value_or(SumType(x.dtype)));
    case ReductionOutput::kBool:
      return BytesOf(outputs, DType::kBool);
    case ReductionOutput::kInt64:
      return indices;
    case ReductionOutput::kTwo:
      return BytesOf(outputs, x.dtype) * 2;
    case ReductionOutput::kSelected:
      return BytesOf(outputs, x.dtype) + (has_dim ? indices : Checked(0));
    case ReductionOutput::kScanSelected:
      return BytesOf(outputs, x.dtype) + indices;
  }
  return 0;
}

// Arguments of a reduction.
struct Arguments {
  Tensor x;
  std::vector<int64_t> dims;
  std::optional<DType> dtype;
};

bool IsFloating(const Tensor& x) { return CategoryOf(x.dtype) >= DTypeCategory::kFloat; }

Work GradientOf(const ReductionGradient& gradient, const Tensor& x, Checked outputs,
                Checked output_bytes, bool indexed) {
  if (gradient.kind == ReductionGradient::Kind::kView) return {};
  // output_bytes: dY and any indices.
  if (indexed) return {0, 0, output_bytes + x.bytes()};
  Work work{0, x.elements() * gradient.per_input + outputs * gradient.per_output,
            output_bytes + x.bytes()};
  if (gradient.reads_input) work.bytes += x.bytes();
  if (gradient.reads_output) work.bytes += output_bytes;
  return work;
}

PriceResult PriceReduced(const Reduction& reduction, const Arguments& arguments,
                         std::string params) {
  const Tensor& x = arguments.x;
  const std::optional<Checked> left = ReducedElements(x.shape, arguments.dims);
  if (!left) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements();
  const Checked outputs = IsScan(reduction.output) ? n : *left;
  const Checked output_bytes =
      ReductionOutputBytes(reduction, x, outputs, !arguments.dims.empty(), arguments.dtype);
  const Work forward{0, n * reduction.per_input + outputs * reduction.per_output,
                     x.bytes() + output_bytes};
  PriceResult result = Priced(std::move(params), forward, std::vector<PartWork>());
  result.price->vec_estimated =
      reduction.per_input > kReductionMaxCounted || reduction.per_output > kReductionMaxCounted;
  if (reduction.gradient.kind != ReductionGradient::Kind::kUnknown && IsFloating(x)) {
    const bool indexed = reduction.output == ReductionOutput::kSelected && !arguments.dims.empty();
    result.price->backward = {
        {Part::kBackward, GradientOf(reduction.gradient, x, outputs, output_bytes, indexed)}};
  }
  return result;
}

// PyProf prints the input of a mean as a tensor, other inputs as T and type.
std::string ReductionText(std::string_view op, const Tensor& x) {
  return op == "mean" ? TensorText(x) : NamedTensorText(x);
}

PriceResult PriceReduction(std::string_view op, const OpCall& call) {
  const Reduction* row = FindRow(kReductions, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args = IsScan(row->output)
                      ? CallArgs(call, {"input|self", "dim|axis", "dtype"})
                      : CallArgs(call, {"input|self", "dim|axis|other", "keepdim", "dtype"});
  const OpArg* dim = args.Find(1);
  // max and min of two tensors are pointwise.
  if (row->output == ReductionOutput::kSelected && dim != nullptr &&
      dim->kind == OpArg::Kind::kTensor) {
    const std::string_view pointwise = op == "max" ? "maximum" : "minimum";
    return FindOpModel(pointwise)->price(pointwise, call);
  }
  // A scan's cost does not depend on an unrecorded dimension.
  const bool skip = IsScan(row->output) && dim != nullptr && dim->kind == OpArg::Kind::kOther;
  const auto dims = skip ? std::nullopt : args.FindInts(1);
  Arguments arguments{args.RequireTensor(0), dims.value_or(std::vector<int64_t>()), {}};
  if (IsScan(row->output) && dim == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const size_t dtype = IsScan(row->output) ? 2 : 3;
  if (args.Find(dtype) != nullptr) arguments.dtype = args.DTypeOr(dtype, arguments.x.dtype);
  if (args.failed()) return Unpriced(args.reason());
  return PriceReduced(*row, arguments, ReductionText(op, arguments.x));
}

// var(x, unbiased) or var(x, dim, unbiased, keepdim): the second argument decides.
PriceResult PriceVariance(std::string_view op, const OpCall& call) {
  const Reduction* row = FindRow(kVariances, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self", "dim|axis|unbiased", "unbiased|correction", "keepdim"});
  const OpArg* dim = args.Find(1);
  Arguments arguments{args.RequireTensor(0), {}, {}};
  if (dim != nullptr && dim->kind != OpArg::Kind::kBool) {
    arguments.dims = args.FindInts(1).value_or(std::vector<int64_t>());
  }
  if (args.failed()) return Unpriced(args.reason());
  return PriceReduced(*row, arguments, NamedTensorText(arguments.x));
}

// Weights of a norm by its order: 2 squares, adds and takes a root; 1, 0 and infinity take the
// absolute value or compare, then add up or select; any other order is a power. nullopt: no vector
// norm. Backward: X dY / Y; the sign of X; the share of the largest; zeros; a power.
std::optional<Reduction> NormOfOrder(const OpArg* order) {
  constexpr Reduction kEuclidean{"norm", 2, 20, ReductionOutput::kSame, Computed(1, 1, true, true)};
  if (order == nullptr) return kEuclidean;
  if (order->kind == OpArg::Kind::kString) {
    return order->text == "fro" ? std::optional(kEuclidean) : std::nullopt;
  }
  if (!IsNumber(*order) || std::isnan(NumberOf(*order))) return std::nullopt;
  const double p = NumberOf(*order);
  if (p == 2) return kEuclidean;
  if (p == 1) return Reduction{"norm", 2, 0, ReductionOutput::kSame, Computed(2, 0, true, false)};
  if (p == 0) return Reduction{"norm", 2, 0, ReductionOutput::kSame, Computed(0, 0, false, false)};
  if (std::isinf(p)) return Reduction{"norm", 2, 0, ReductionOutput::kSame, kEqualShare};
  return Reduction{"norm", 21, 20, ReductionOutput::kSame, Computed(22, 1, true, true)};
}

PriceResult PriceVectorNorm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self|x|A", "p|ord", "dim", "keepdim", "dtype"});
  const std::optional<Reduction> norm = NormOfOrder(args.Find(1));
  if (!norm) return Unpriced(Reason::kUnsupportedArgs);
  Arguments arguments{args.RequireTensor(0), args.FindInts(2).value_or(std::vector<int64_t>()), {}};
  if (args.Find(4) != nullptr) arguments.dtype = args.DTypeOr(4, arguments.x.dtype);
  if (args.failed()) return Unpriced(args.reason());
  return PriceReduced(*norm, arguments, NamedTensorText(arguments.x));
}

// torch.equal: compares, then all() of the results, to one truth value.
PriceResult PriceEqual(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "other"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (!std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Tensor operands[] = {a, b};
  PriceResult result =
      Priced(TensorsText(operands), {0, a.elements() * 2, a.bytes() + b.bytes() + 1},
             std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

// linalg_norm(x, ord, dim): a matrix norm if two dimensions are reduced and an order is given. Only
// Frobenius' is a vector norm; the largest sum of a row or column costs as much.
PriceResult PriceLinalgNorm(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input|self|A", "ord", "dim", "keepdim", "dtype"});
  const OpArg* order = args.Find(1);
  const Tensor x = args.RequireTensor(0);
  const auto dims = args.FindInts(2);
  if (args.failed()) return Unpriced(args.reason());
  const bool matrix = dims ? dims->size() == 2 : x.shape.size() == 2;
  if (matrix && order != nullptr && IsNumber(*order)) {
    const double p = NumberOf(*order);
    if (!(p == 1 || p == -1 || std::isinf(p))) return Unpriced(Reason::kUnsupportedArgs);
  }
  return PriceVectorNorm(op, call);
}

constexpr auto kReductionNames = NamesOf(kReductions);
constexpr auto kVarianceNames = NamesOf(kVariances);
constexpr std::string_view kReductionNormNames[] = {"norm", "vector_norm"};
constexpr std::string_view kLinalgNormNames[] = {"linalg_norm"};
constexpr std::string_view kEqualNames[] = {"equal"};
constexpr OpModel kReductionModels[] = {
    {kReductionNames, PriceReduction},
    {kVarianceNames, PriceVariance},
    {kReductionNormNames, PriceVectorNorm},
    {kLinalgNormNames, PriceLinalgNorm},
    {kEqualNames, PriceEqual},
};

}  // namespace

std::span<const OpModel> ReductionOps() { return kReductionModels; }

}  // namespace oplens::ops
