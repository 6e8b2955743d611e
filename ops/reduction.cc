// Reductions and scans over dimensions.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// What a reduction writes.
enum class Output : uint8_t {
  kSame,  // The input's type.
  kSum,   // The input's type; integers are added up in int64.
  kBool,
  kInt64,
  kTwo,           // Two results of the input's type.
  kSelected,      // Values, and with a dimension their int64 indices.
  kScan,          // As kSum, one result an input.
  kScanSelected,  // Running values and their int64 indices.
};

enum class Gradient : uint8_t {
  kUnknown,  // No model.
  kView,     // dX is dY expanded: no kernel.
  kScale,    // dX is dY expanded and divided by the count.
};

struct Reduction {
  std::string_view name;
  int per_input;   // FLOPs an input element.
  int per_output;  // FLOPs an output element.
  Output output;
  Gradient gradient = Gradient::kUnknown;
};

constexpr Reduction kReductions[] = {
    {"sum", 1, 0, Output::kSum, Gradient::kView},
    {"mean", 1, 1, Output::kSame, Gradient::kScale},
    {"prod", 1, 0, Output::kSum},
    {"amax", 1, 0, Output::kSame},
    {"amin", 1, 0, Output::kSame},
    {"max", 1, 0, Output::kSelected},
    {"min", 1, 0, Output::kSelected},
    {"any", 1, 0, Output::kBool},
    {"all", 1, 0, Output::kBool},
    {"argmax", 1, 0, Output::kInt64},
    {"argmin", 1, 0, Output::kInt64},
    {"count_nonzero", 1, 0, Output::kInt64},
    // Subtract the maximum, exponential 20, add up, and the maximum itself.
    {"logsumexp", 23, 0, Output::kSame},
    {"cumsum", 1, 0, Output::kScan},
    {"cumprod", 1, 0, Output::kScan},
    {"cummax", 1, 0, Output::kScanSelected},
    {"cummin", 1, 0, Output::kScanSelected},
};

constexpr Reduction kVariances[] = {
    // Mean 1, subtract, square and add 3; the root 20.
    {"var", 4, 0, Output::kSame},
    {"std", 4, 20, Output::kSame},
    {"var_mean", 4, 0, Output::kTwo},
    {"std_mean", 4, 20, Output::kTwo},
};

bool IsScan(Output output) { return output == Output::kScan || output == Output::kScanSelected; }

// The elements left when `dims` (none: all) are reduced; nullopt when a dimension is out of range
// or named twice.
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

Checked OutputBytes(const Reduction& reduction, const Tensor& x, Checked outputs, bool has_dim,
                    std::optional<DType> asked) {
  const Checked indices = BytesOf(outputs, DType::kInt64);
  switch (reduction.output) {
    case Output::kSame:
      return BytesOf(outputs, asked.value_or(x.dtype));
    case Output::kSum:
    case Output::kScan:
      return BytesOf(outputs, asked.value_or(SumType(x.dtype)));
    case Output::kBool:
      return BytesOf(outputs, DType::kBool);
    case Output::kInt64:
      return indices;
    case Output::kTwo:
      return BytesOf(outputs, x.dtype) * 2;
    case Output::kSelected:
      return BytesOf(outputs, x.dtype) + (has_dim ? indices : Checked(0));
    case Output::kScanSelected:
      return BytesOf(outputs, x.dtype) + indices;
  }
  return 0;
}

// Where a reduction has its arguments.
struct Arguments {
  Tensor x;
  std::vector<int64_t> dims;
  std::optional<DType> dtype;
};

PriceResult PriceReduced(const Reduction& reduction, const Arguments& arguments,
                         std::string params) {
  const Tensor& x = arguments.x;
  const std::optional<Checked> left = ReducedElements(x.shape, arguments.dims);
  if (!left) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements();
  const Checked outputs = IsScan(reduction.output) ? n : *left;
  const Checked output_bytes =
      OutputBytes(reduction, x, outputs, !arguments.dims.empty(), arguments.dtype);
  const Work forward{0, n * reduction.per_input + outputs * reduction.per_output,
                     x.bytes() + output_bytes};
  if (reduction.gradient == Gradient::kUnknown || CategoryOf(x.dtype) < DTypeCategory::kFloat) {
    return Priced(std::move(params), forward, std::vector<PartWork>());
  }
  const Work backward =
      reduction.gradient == Gradient::kView ? Work() : Work{0, n, output_bytes + x.bytes()};
  return Priced(std::move(params), forward, backward);
}

// PyProf prints the input of a mean as a tensor, of the others as T and type.
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
  if (row->output == Output::kSelected && dim != nullptr && dim->kind == OpArg::Kind::kTensor) {
    const std::string_view pointwise = op == "max" ? "maximum" : "minimum";
    return FindOpModel(pointwise)->price(pointwise, call);
  }
  Arguments arguments{args.RequireTensor(0), args.FindInts(1).value_or(std::vector<int64_t>()), {}};
  if (IsScan(row->output) && dim == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const size_t dtype = IsScan(row->output) ? 2 : 3;
  if (args.Find(dtype) != nullptr) arguments.dtype = args.DTypeOr(dtype, arguments.x.dtype);
  if (args.failed()) return Unpriced(args.reason());
  return PriceReduced(*row, arguments, ReductionText(op, arguments.x));
}

// var(x, unbiased) or var(x, dim, unbiased, keepdim): the second argument says which.
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

// The weights of a norm by its order: 2 squares, adds and takes a root; 1, 0 and infinity take the
// absolute value or compare, then add up or select; any other order is a power. nullopt: no vector
// norm.
std::optional<Reduction> NormOfOrder(const OpArg* order) {
  constexpr Reduction kEuclidean{"norm", 2, 20, Output::kSame};
  if (order == nullptr) return kEuclidean;
  if (order->kind == OpArg::Kind::kString) {
    return order->text == "fro" ? std::optional(kEuclidean) : std::nullopt;
  }
  if (!IsNumber(*order) || std::isnan(NumberOf(*order))) return std::nullopt;
  const double p = NumberOf(*order);
  if (p == 2) return kEuclidean;
  if (p == 1 || p == 0 || std::isinf(p)) return Reduction{"norm", 2, 0, Output::kSame};
  return Reduction{"norm", 21, 20, Output::kSame};
}

PriceResult PriceVectorNorm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self|x", "p|ord", "dim", "keepdim", "dtype"});
  const std::optional<Reduction> norm = NormOfOrder(args.Find(1));
  if (!norm) return Unpriced(Reason::kUnsupportedArgs);
  Arguments arguments{args.RequireTensor(0), args.FindInts(2).value_or(std::vector<int64_t>()), {}};
  if (args.Find(4) != nullptr) arguments.dtype = args.DTypeOr(4, arguments.x.dtype);
  if (args.failed()) return Unpriced(args.reason());
  return PriceReduced(*norm, arguments, NamedTensorText(arguments.x));
}

// torch.equal: compare, then all() of the results, to one truth value.
PriceResult PriceEqual(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "other"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (!std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Tensor operands[] = {a, b};
  return Priced(TensorsText(operands), {0, a.elements() * 2, a.bytes() + b.bytes() + 1},
                std::vector<PartWork>());
}

constexpr auto kReductionNames = NamesOf(kReductions);
constexpr auto kVarianceNames = NamesOf(kVariances);
constexpr std::string_view kNormNames[] = {"norm", "vector_norm"};
constexpr std::string_view kEqualNames[] = {"equal"};
constexpr OpModel kModels[] = {
    {kReductionNames, PriceReduction},
    {kVarianceNames, PriceVariance},
    {kNormNames, PriceVectorNorm},
    {kEqualNames, PriceEqual},
};

}  // namespace

std::span<const OpModel> ReductionOps() { return kModels; }

}  // namespace oplens::ops
