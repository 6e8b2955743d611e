// Products of operands with scales of their own: fp8, int8, packed weights, experts.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct Sizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

MatrixProduct ProductOf(const Sizes& s, DType left, DType right, DType output) {
  MatrixProduct product;
  product.left = left;
  product.right = right;
  product.output = output;
  product.m = s.m;
  product.n = s.n;
  product.k = s.k;
  product.extents = {{"M", s.m}, {"N", s.n}, {"K", s.k}};
  return product;
}

std::string SizesText(const Sizes& s, DType left, DType right, DType output) {
  return fmt::format("M={},N={},K={},{},{},{}", s.n, s.m, s.k, DTypeWord(left), DTypeWord(right),
                     DTypeWord(output));
}

PriceResult PricedProduct(const Sizes& s, const Tensor& a, const Tensor& b, DType output,
                          Checked extra_bytes, Checked vec) {
  const Checked outputs = Checked(s.m) * s.n;
  const Work forward{outputs * s.k * 2, vec,
                     a.bytes() + b.bytes() + BytesOf(outputs, output) + extra_bytes};
  PriceResult result =
      Priced(SizesText(s, a.dtype, b.dtype, output), forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->product = ProductOf(s, a.dtype, b.dtype, output);
  return result;
}

std::optional<Sizes> SizesOf(const Tensor& a, const Tensor& b) {
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[1] != b.shape[0]) return std::nullopt;
  return Sizes{a.shape[0], b.shape[1], a.shape[1]};
}

// Scales are tensors of one or many elements; as a 0-d tensor a scale may be recorded as a number.
Checked ScaleBytes(CallArgs* args, size_t parameter) {
  const OpArg* arg = args->Find(parameter);
  if (arg == nullptr || arg->kind != OpArg::Kind::kTensor) {
    return arg != nullptr && IsNumber(*arg) ? Checked(4) : Checked(0);
  }
  const std::optional<Tensor> scale = args->FindTensor(parameter);
  return scale ? scale->bytes() : Checked(0);
}

// _scaled_mm(a, b, scale_a, scale_b, bias, scale_result, out_dtype): the type of Y is given, else
// that of A.
PriceResult PriceScaledMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "scale_a", "scale_b", "bias", "scale_result",
                       "out_dtype|dtype", "use_fast_accum", "out"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  const std::optional<Tensor> bias = args.FindTensor(4);
  const DType output = args.DTypeOr(6, a.dtype);
  Checked extra;
  for (const size_t scale : {size_t{2}, size_t{3}, size_t{5}}) extra += ScaleBytes(&args, scale);
  if (args.failed()) return Unpriced(args.reason());
  const std::optional<Sizes> sizes = SizesOf(a, b);
  if (!sizes || (bias && !(bias->elements() == sizes->n))) return Unpriced(Reason::kShapeMismatch);
  if (bias) extra += bias->bytes();
  return PricedProduct(*sizes, a, b, output, extra,
                       bias ? Checked(sizes->m) * sizes->n : Checked(0));
}

// _int_mm(a, b): int8 operands, int32 result.
PriceResult PriceIntMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "out"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  const std::optional<Sizes> sizes = SizesOf(a, b);
  if (!sizes) return Unpriced(Reason::kShapeMismatch);
  return PricedProduct(*sizes, a, b, DType::kInt32, 0, 0);
}

// _weight_int8pack_mm(x[M,K], w[N,K], scales[N]): each weight is scaled once.
PriceResult PriceInt8Weight(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "scales"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const Tensor scales = args.RequireTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || w.shape.size() != 2 || x.shape[1] != w.shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Sizes sizes{x.shape[0], w.shape[0], x.shape[1]};
  PriceResult result =
      PricedProduct(sizes, x, w, x.dtype, scales.bytes(), Checked(sizes.k) * sizes.n);
  result.price->product->right_transposed = true;
  result.price->vec_estimated = true;
  return result;
}

// _weight_int4pack_mm(x[M,K], packed, group, scales_and_zeros[K/group,N,2]): N is that of the
// scales; the packed weights hold 4 bits for each of K N.
PriceResult PriceInt4Weight(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "qGroupSize", "qScaleAndZeros"});
  const Tensor x = args.RequireTensor(0);
  args.RequireTensor(1);
  const Tensor scales = args.RequireTensor(3);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || scales.shape.size() != 3) return Unpriced(Reason::kShapeMismatch);
  const Sizes sizes{x.shape[0], scales.shape[1], x.shape[1]};
  const int64_t weights[] = {sizes.k, sizes.n};
  const Tensor packed{weights, DType::kInt4, false};
  PriceResult result =
      PricedProduct(sizes, x, packed, x.dtype, scales.bytes(), Checked(sizes.k) * sizes.n);
  result.price->vec_estimated = true;
  return result;
}

// ---- experts: rows of X go to the weights of the expert that their place tells ----

// How many rows each expert has, from the ends of their groups; nullopt when the ends were not
// recorded or do not ascend to at most `rows`.
std::optional<std::vector<int64_t>> RowsOfExperts(const OpArg* ends, int64_t rows) {
  if (ends == nullptr || ends->int_list.empty()) return std::nullopt;
  std::vector<int64_t> counts;
  int64_t begin = 0;
  for (const int64_t end : ends->int_list) {
    if (end < begin || end > rows) return std::nullopt;
    counts.push_back(end - begin);
    begin = end;
  }
  return counts;
}

// _grouped_mm(x[T,K], w[E,K,N], offs[E], bias, out_dtype) and, with scales behind the operands,
// _scaled_grouped_mm. Without the values of offs all rows count, and all experts are read: an upper
// bound.
PriceResult PriceGroupedMm(std::string_view op, const OpCall& call) {
  const bool scaled = op == "_scaled_grouped_mm";
  CallArgs args = scaled
                      ? CallArgs(call, {"input|self", "mat2", "scale_a", "scale_b", "offs", "bias",
                                        "scale_result", "out_dtype|dtype", "use_fast_accum"})
                      : CallArgs(call, {"input|self", "mat2", "offs", "bias", "out_dtype|dtype"});
  const size_t offsets = scaled ? 4 : 2;
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const std::optional<Tensor> ends = args.FindTensor(offsets);
  const DType output = args.DTypeOr(scaled ? 7 : 4, scaled ? DType::kBFloat16 : x.dtype);
  Checked extra = ends ? ends->bytes() : Checked(0);
  if (scaled) extra += ScaleBytes(&args, 2) + ScaleBytes(&args, 3);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || w.shape.size() != 3 || x.shape[1] != w.shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  if (ends && !(ends->elements() == w.shape[0])) return Unpriced(Reason::kShapeMismatch);
  const Sizes sizes{x.shape[0], w.shape[2], x.shape[1]};
  const auto counts = RowsOfExperts(args.Find(offsets), sizes.m);
  Checked rows = sizes.m;
  int64_t experts = w.shape[0];
  if (counts) {
    rows = 0;
    for (const int64_t count : *counts) rows += count;
    experts -= std::count(counts->begin(), counts->end(), 0);
  }
  const Checked weights = Checked(experts) * sizes.n * sizes.k;
  const Work forward{
      rows * sizes.n * sizes.k * 2, 0,
      x.bytes() + BytesOf(weights, w.dtype) + BytesOf(Checked(sizes.m) * sizes.n, output) + extra};
  PriceResult result = Priced(fmt::format("E={},T={},K={},N={},{}", w.shape[0], sizes.m, sizes.k,
                                          sizes.n, DTypeWord(x.dtype)),
                              forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->mma_estimated = !counts;
  result.price->product = ProductOf(sizes, x.dtype, w.dtype, output);
  return result;
}

constexpr std::string_view kScaledNames[] = {"_scaled_mm", "fp8_gemm"};
constexpr std::string_view kIntNames[] = {"_int_mm"};
constexpr std::string_view kInt8Names[] = {"_weight_int8pack_mm"};
constexpr std::string_view kInt4Names[] = {"_weight_int4pack_mm"};
constexpr std::string_view kGroupedNames[] = {"_grouped_mm", "_scaled_grouped_mm"};
constexpr OpModel kModels[] = {
    {kScaledNames, PriceScaledMm}, {kIntNames, PriceIntMm},         {kInt8Names, PriceInt8Weight},
    {kInt4Names, PriceInt4Weight}, {kGroupedNames, PriceGroupedMm},
};

}  // namespace

std::span<const OpModel> QuantizedOps() { return kModels; }

}  // namespace oplens::ops
