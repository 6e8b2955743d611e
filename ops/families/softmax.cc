// Softmax and log-softmax over one dimension.

#include <optional>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs per element: subtract the maximum, exponential (20), add up, divide; the maximum itself.
constexpr int kSoftmaxForward = 24;
// dX = Y (dY - sum(dY Y)).
constexpr int kSoftmaxBackward = 4;
// dX = dY - exp(Y) sum(dY).
constexpr int kSoftmaxLogSoftmaxBackward = 23;
// The logarithm, once per row.
constexpr int kLogarithm = 20;

// torch.nn.functional's default `dim`: 0 for 0-d, 1-d and 3-d inputs, otherwise 1.
int64_t ImplicitDim(size_t rank) { return rank == 0 || rank == 1 || rank == 3 ? 0 : 1; }

// The type of Y: `dtype=`; fp32 if ATen's flag half_to_float is set in its place.
DType SoftmaxOutputType(CallArgs* args, size_t parameter, DType input) {
  const OpArg* arg = args->Find(parameter);
  if (arg != nullptr && arg->kind == OpArg::Kind::kBool) {
    return arg->int_value != 0 ? DType::kFloat32 : input;
  }
  return args->DTypeOr(parameter, input);
}

PriceResult PriceSoftmaxOf(std::string_view op, const Tensor& x, DType output_type,
                           std::optional<int64_t> dim) {
  const size_t rank = x.shape.size();
  const std::optional<size_t> index = DimIndex(dim.value_or(ImplicitDim(rank)), rank);
  if (!index) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements();
  Checked rows = 1;
  for (size_t i = 0; i < rank; ++i) rows *= i == *index ? 1 : x.shape[i];

  const bool log = op == "log_softmax";
  const Checked output_bytes = BytesOf(n, output_type);
  const Work forward{0, n * kSoftmaxForward + (log ? rows * kLogarithm : Checked(0)),
                     x.bytes() + output_bytes};
  const Work backward{0, n * (log ? kSoftmaxLogSoftmaxBackward : kSoftmaxBackward),
                      output_bytes * 2 + x.bytes()};
  return Priced(TensorText(x), forward, backward);
}

// torch.nn.functional has the parameters input, dim, _stacklevel, dtype; others no _stacklevel.
PriceResult PriceSoftmax(std::string_view op, const OpCall& call) {
  const bool functional = call.mod == "torch.nn.functional";
  CallArgs args = functional ? CallArgs(call, {"input", "dim", "_stacklevel", "dtype"})
                             : CallArgs(call, {"input|self", "dim", "dtype|half_to_float"});
  const Tensor x = args.RequireTensor(0);
  const bool has_dim = args.Find(1) != nullptr;
  const int64_t dim = args.IntOr(1, 0);
  const DType output_type = SoftmaxOutputType(&args, functional ? 3 : 2, x.dtype);
  if (!has_dim && !functional) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  return PriceSoftmaxOf(op, x, output_type, has_dim ? std::optional(dim) : std::nullopt);
}

constexpr std::string_view kLocalSoftmaxNames[] = {"softmax", "log_softmax"};
constexpr OpModel kSoftmaxModels[] = {{kLocalSoftmaxNames, PriceSoftmax}};

}  // namespace

std::span<const OpModel> SoftmaxOps() { return kSoftmaxModels; }

}  // namespace oplens::ops
