// Products with weights of 4 or 8 bits that are scaled in groups: X[M,K] W[K,N]. One FLOP for each
// weight, which is scaled once.

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/quantized.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct Packed {
  Sizes sizes;
  int64_t bits = 4;
  int64_t group = 0;  // Weights along K with one scale; 0: all of them.
  Checked weight_bytes;
  Checked scale_bytes;  // Of scales and zeros.
};

// 2MNK, and X, the packed weights, scales, zeros and Y, which has the type of X.
PriceResult PricedPacked(const Packed& packed, const Tensor& x) {
  const Sizes& s = packed.sizes;
  const Checked outputs = Checked(s.m) * s.n;
  const Work forward{
      outputs * s.k * 2, Checked(s.k) * s.n,
      x.bytes() + packed.weight_bytes + packed.scale_bytes + BytesOf(outputs, x.dtype)};
  PriceResult result =
      Priced(fmt::format("M={},N={},K={},{},w{},g={}", s.n, s.m, s.k, DTypeWord(x.dtype),
                         packed.bits, packed.group == 0 ? s.k : packed.group),
             forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  constexpr int64_t kByte = 8;
  const DType type = packed.bits == kByte ? DType::kInt8 : DType::kInt4;
  result.price->product = ProductOf(s, x.dtype, type, x.dtype);
  return result;
}

Checked PackedBytes(int64_t k, int64_t n, int64_t bits) { return (Checked(k) * n * bits + 7) / 8; }

// _weight_int8pack_mm(x[M,K], w[N,K], scales[N])
PriceResult PriceInt8Weight(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "scales"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const Tensor scales = args.RequireTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || w.shape.size() != 2 || x.shape[1] != w.shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  constexpr int64_t kBits = 8;
  const Packed packed{{x.shape[0], w.shape[0], x.shape[1]}, kBits, 0, w.bytes(), scales.bytes()};
  PriceResult result = PricedPacked(packed, x);
  result.price->product->right_transposed = true;
  return result;
}

// _weight_int4pack_mm(x[M,K], packed, group, scales_and_zeros[K/group,N,2]), and the same with
// scales and zeros apart, [K/group,N]: N is that of the scales.
PriceResult PriceInt4Weight(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "qGroupSize", "qScaleAndZeros|qScale", "qZeros"});
  const Tensor x = args.RequireTensor(0);
  args.RequireTensor(1);
  const int64_t group = args.IntOr(2, 0);
  const Tensor scales = args.RequireTensor(3);
  const std::optional<Tensor> zeros = args.FindTensor(4);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || scales.shape.size() < 2 || scales.shape.size() > 3 || group < 0) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Sizes sizes{x.shape[0], scales.shape[1], x.shape[1]};
  constexpr int64_t kBits = 4;
  return PricedPacked({sizes, kBits, group, PackedBytes(sizes.k, sizes.n, kBits),
                       scales.bytes() + (zeros ? zeros->bytes() : Checked(0))},
                      x);
}

// The group of K weights for the rows of their scales.
int64_t PackedWeightsGroupOf(int64_t k, const Tensor& scales) {
  const int64_t rows = scales.shape.size() < 2 ? 1 : scales.shape[0];
  return rows > 0 ? k / rows : 0;
}

// awq_gemm(x[M,K], w[K,N/8], scales[K/g,N], zeros[K/g,N/8], splits): words of eight 4-bit weights.
PriceResult PriceAwq(std::string_view, const OpCall& call) {
  constexpr int64_t kBits = 4;
  CallArgs args(call, {"_in_feats|input", "_kernel|qweight", "_scaling_factors|scales",
                       "_zeros|qzeros", "split_k_iters"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const Tensor scales = args.RequireTensor(2);
  const Tensor zeros = args.RequireTensor(3);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || w.shape.size() != 2 || scales.shape.size() != 2 ||
      x.shape[1] != w.shape[0] || !(Checked(w.shape[1]) * (32 / kBits) == scales.shape[1])) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t k = x.shape[1];
  return PricedPacked({{x.shape[0], scales.shape[1], k},
                       kBits,
                       PackedWeightsGroupOf(k, scales),
                       w.bytes(),
                       scales.bytes() + zeros.bytes()},
                      x);
}

// gptq_gemm(x[M,K], w[K/(32/bits),N], zeros[K/g,..], scales[K/g,N], order, ..)
PriceResult PriceGptq(std::string_view, const OpCall& call) {
  CallArgs args(call, {"a", "b_q_weight", "b_gptq_qzeros", "b_gptq_scales", "b_g_idx",
                       "use_exllama", "use_v2_format|bit", "bit"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const Tensor zeros = args.RequireTensor(2);
  const Tensor scales = args.RequireTensor(3);
  if (args.failed()) return Unpriced(args.reason());
  constexpr int64_t kWord = 32;
  if (x.shape.size() != 2 || w.shape.size() != 2 || scales.shape.size() != 2 ||
      scales.shape[1] != w.shape[1] || x.shape[1] <= 0 || w.shape[0] > x.shape[1] / (kWord / 8)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t k = x.shape[1];
  return PricedPacked({{x.shape[0], w.shape[1], k},
                       w.shape[0] * kWord / k,
                       PackedWeightsGroupOf(k, scales),
                       w.bytes(),
                       scales.bytes() + zeros.bytes()},
                      x);
}

// The columns of W among the numbers of a call that ends with m, n, k.
std::optional<int64_t> ColumnsOf(const OpCall& call, const Tensor& x) {
  std::vector<int64_t> numbers;
  for (const OpArg& arg : call.args) {
    if (arg.kind == OpArg::Kind::kInt) numbers.push_back(arg.int_value);
  }
  for (size_t i = 0; i + 2 < numbers.size(); ++i) {
    const bool found =
        numbers[i] == x.shape[0] && numbers[i + 2] == x.shape[1] && numbers[i + 1] > 0;
    if (found) return numbers[i + 1];
  }
  return std::nullopt;
}

// gptq_marlin_gemm(x[M,K], .., packed, .., scales, .., m, n, k, ..) and its kind, whose arguments
// differ from version to version: the packed weights are the first matrix of integers, scales and
// zeros the matrices behind it; vectors are orders of rows and scratch memory.
PriceResult PriceMarlin(std::string_view, const OpCall& call) {
  Packed packed;
  std::optional<Tensor> x, scales;
  bool has_weights = false;
  for (const OpArg& arg : call.args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    Reason reason;
    const std::optional<Tensor> tensor = TensorOf(arg, &reason);
    if (!tensor) return Unpriced(reason);
    const bool is_matrix = tensor->shape.size() == 2 && !(tensor->elements() == 0);
    if (!x) {
      if (tensor->shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
      x = tensor;
    } else if (is_matrix && !has_weights) {
      has_weights = CategoryOf(tensor->dtype) == DTypeCategory::kInteger;
      if (has_weights) packed.weight_bytes = tensor->bytes();
    } else if (is_matrix) {
      packed.scale_bytes += tensor->bytes();
      if (!scales) scales = tensor;
    }
  }
  if (!x || !has_weights || !scales) return Unpriced(Reason::kUnsupportedArgs);
  const std::optional<int64_t> n = ColumnsOf(call, *x);
  const int64_t k = x->shape[1];
  if (!n || k <= 0) return Unpriced(Reason::kUnsupportedArgs);
  packed.sizes = {x->shape[0], *n, k};
  packed.group = PackedWeightsGroupOf(k, *scales);
  const auto weights = (Checked(k) * *n).Value();
  const auto bits = (packed.weight_bytes * 8).Value();
  if (!weights || !bits) return Unpriced(Reason::kCostOverflow);
  constexpr int64_t kByte = 8;
  packed.bits = *bits / *weights;
  if (packed.bits < 1 || packed.bits > kByte) return Unpriced(Reason::kShapeMismatch);
  return PricedPacked(packed, *x);
}

// gemv_4bit(x[..,K], packed, (N,K), scales, code, block)
PriceResult PriceGemv4Bit(std::string_view, const OpCall& call) {
  constexpr int64_t kBits = 4;
  CallArgs args(call, {"A", "B", "shapeB", "absmax", "code", "blocksize", "out"});
  const Tensor x = args.RequireTensor(0);
  args.RequireTensor(1);
  const auto shape = args.FindInts(2);
  const Tensor scales = args.RequireTensor(3);
  const int64_t block = args.IntOr(5, 0);
  if (args.failed()) return Unpriced(args.reason());
  if (!shape) return Unpriced(Reason::kUnsupportedArgs);
  if (shape->size() != 2 || x.shape.empty() || x.shape.back() != (*shape)[1] || (*shape)[0] < 0 ||
      block < 0) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const auto rows = Elements(x.shape.first(x.shape.size() - 1)).Value();
  if (!rows) return Unpriced(Reason::kCostOverflow);
  const Sizes sizes{*rows, (*shape)[0], (*shape)[1]};
  PriceResult result =
      PricedPacked({sizes, kBits, block, PackedBytes(sizes.k, sizes.n, kBits), scales.bytes()}, x);
  result.price->product->right_transposed = true;
  return result;
}

constexpr std::string_view kInt8Names[] = {"_weight_int8pack_mm"};
constexpr std::string_view kInt4Names[] = {"_weight_int4pack_mm",
                                           "_weight_int4pack_mm_with_scales_and_zeros"};
constexpr std::string_view kAwqNames[] = {"awq_gemm"};
constexpr std::string_view kGptqNames[] = {"gptq_gemm"};
constexpr std::string_view kMarlinNames[] = {"gptq_marlin_gemm", "marlin_gemm", "awq_marlin_gemm",
                                             "fp8_marlin_gemm"};
constexpr std::string_view kGemvNames[] = {"gemv_4bit"};
constexpr OpModel kPackedWeightsModels[] = {
    {kInt8Names, PriceInt8Weight}, {kInt4Names, PriceInt4Weight}, {kAwqNames, PriceAwq},
    {kGptqNames, PriceGptq},       {kMarlinNames, PriceMarlin},   {kGemvNames, PriceGemv4Bit}};

}  // namespace

std::span<const OpModel> PackedWeightOps() { return kPackedWeightsModels; }

}  // namespace oplens::ops
