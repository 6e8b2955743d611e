// Products of operands with scales of their own: fp8, fp4, int8.

#include "ops/families/quantized.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {

MatrixProduct ProductOf(const Sizes& sizes, DType left, DType right, DType output) {
  MatrixProduct product;
  product.left = left;
  product.right = right;
  product.output = output;
  product.m = sizes.m;
  product.n = sizes.n;
  product.k = sizes.k;
  product.extents = ColumnMajorExtents(sizes.m, sizes.n, sizes.k);
  return product;
}

Checked ScaleBytes(CallArgs* args, size_t parameter) {
  constexpr int kNumber = 4;
  const OpArg* arg = args->Find(parameter);
  if (arg == nullptr || arg->kind != OpArg::Kind::kTensor) {
    return arg != nullptr && IsNumber(*arg) ? kNumber : 0;
  }
  const std::optional<Tensor> scale = args->FindTensor(parameter);
  return scale ? scale->bytes() : Checked(0);
}

namespace {

// An operand of a product. Elements that hold a pair of 4-bit numbers count twice along K.
struct QuantizedOperand {
  std::vector<int64_t> shape;
  DType type = DType::kUnknown;
  Checked bytes;
};

bool HoldsPairs(const OpArg& arg) { return std::string_view(arg.dtype).ends_with("_x2"); }

std::optional<QuantizedOperand> ReadOperand(CallArgs* args, size_t parameter, size_t k_dimension) {
  const Tensor tensor = args->RequireTensor(parameter);
  if (args->failed() || tensor.shape.size() != 2) return std::nullopt;
  QuantizedOperand operand{
      {tensor.shape.begin(), tensor.shape.end()}, tensor.dtype, tensor.bytes()};
  if (HoldsPairs(*args->Find(parameter))) {
    const std::optional<int64_t> k = (Checked(operand.shape[k_dimension]) * 2).Value();
    if (!k) return std::nullopt;
    operand.shape[k_dimension] = *k;
    operand.bytes = BytesOf(Elements(operand.shape), operand.type);
  }
  return operand;
}

std::optional<Sizes> QuantizedSizesOf(const std::optional<QuantizedOperand>& a,
                                      const std::optional<QuantizedOperand>& b) {
  if (!a || !b || a->shape[1] != b->shape[0]) return std::nullopt;
  return Sizes{a->shape[0], b->shape[1], a->shape[1]};
}

PriceResult PricedScaled(const Sizes& s, const QuantizedOperand& a, const QuantizedOperand& b,
                         DType output, Checked extra_bytes, Checked vec) {
  const Checked outputs = Checked(s.m) * s.n;
  const Work forward{outputs * s.k * 2, vec,
                     a.bytes + b.bytes + BytesOf(outputs, output) + extra_bytes};
  PriceResult result = Priced(fmt::format("M={},N={},K={},{},{},{}", s.n, s.m, s.k,
                                          DTypeWord(a.type), DTypeWord(b.type), DTypeWord(output)),
                              forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->product = ProductOf(s, a.type, b.type, output);
  return result;
}

// The common end: a bias has one element a column.
PriceResult PricedWithBias(CallArgs* args, const std::optional<Tensor>& bias, DType output,
                           Checked extra) {
  const std::optional<QuantizedOperand> a = ReadOperand(args, 0, 1);
  const std::optional<QuantizedOperand> b = ReadOperand(args, 1, 0);
  if (args->failed()) return Unpriced(args->reason());
  const std::optional<Sizes> sizes = QuantizedSizesOf(a, b);
  if (!sizes || (bias && !(bias->elements() == sizes->n))) return Unpriced(Reason::kShapeMismatch);
  const Checked vec = bias ? Checked(sizes->m) * sizes->n : Checked(0);
  if (bias) extra += bias->bytes();
  return PricedScaled(*sizes, *a, *b, output, extra, vec);
}

// _scaled_mm(a, b, scale_a, scale_b, bias, scale_result, out_dtype): the type of Y is given, else
// that of A.
PriceResult PriceScaledMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "scale_a", "scale_b", "bias", "scale_result",
                       "out_dtype|dtype", "use_fast_accum", "out"});
  const DType output = args.DTypeOr(6, args.RequireTensor(0).dtype);
  const std::optional<Tensor> bias = args.FindTensor(4);
  Checked extra;
  for (const size_t scale : {size_t{2}, size_t{3}, size_t{5}}) extra += ScaleBytes(&args, scale);
  return PricedWithBias(&args, bias, output, extra);
}

// _scaled_mm_v2(a, b, scales_a, recipes_a, swizzles_a, scales_b, recipes_b, swizzles_b, bias,
// out_dtype, ..): scales are lists of tensors, which stand one by one, between lists of numbers;
// a tensor behind four of those is the bias. scaled_mm of torch.nn.functional has them as keywords.
PriceResult PriceListScaledMm(std::string_view op, const OpCall& call) {
  constexpr size_t kListsOfNumbers = 4;
  OpCall operands{call.mod, call.op, {}};
  size_t lists = 0;
  Checked extra;
  std::optional<Tensor> bias;
  std::optional<DType> output;
  for (const OpArg& arg : call.args) {
    const bool is_tensor = arg.kind == OpArg::Kind::kTensor;
    if (is_tensor && operands.args.size() < 2) {
      operands.args.push_back(arg);
      operands.args.back().name.clear();
      continue;
    }
    if (arg.kind == OpArg::Kind::kString) output = ParseDType(arg.text);
    if (arg.kind == OpArg::Kind::kString && !output) return Unpriced(Reason::kUnknownDType);
    if (arg.name.empty() && !is_tensor) ++lists;
    if (!is_tensor) continue;
    Reason reason;
    const std::optional<Tensor> tensor = TensorOf(arg, &reason);
    if (!tensor) return Unpriced(reason);
    const bool is_bias = arg.name == "bias" || (arg.name.empty() && lists >= kListsOfNumbers);
    if (is_bias) {
      bias = tensor;
    } else {
      extra += tensor->bytes();
    }
  }
  CallArgs args(operands, {"a", "b"});
  const DType absent = op == "scaled_mm" ? DType::kBFloat16 : args.RequireTensor(0).dtype;
  return PricedWithBias(&args, bias, output.value_or(absent), extra);
}

// cutlass_scaled_mm(result, a, b, scale_a, scale_b, bias) of inference engines.
PriceResult PriceCutlassMm(std::string_view, const OpCall& call) {
  if (call.args.size() < 3) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs all(call, {"out", "a", "b", "a_scales", "b_scales", "bias|azp"});
  const Tensor result = all.RequireTensor(0);
  all.RequireTensor(1);
  all.RequireTensor(2);
  const OpArg* given = all.Find(5);
  const bool has_bias = given != nullptr && given->kind == OpArg::Kind::kTensor;
  const std::optional<Tensor> bias = has_bias ? all.FindTensor(5) : std::nullopt;
  const Checked extra = ScaleBytes(&all, 3) + ScaleBytes(&all, 4);
  if (all.failed()) return Unpriced(all.reason());
  OpCall operands{call.mod, call.op, {*all.Find(1), *all.Find(2)}};
  for (OpArg& arg : operands.args) arg.name.clear();
  CallArgs args(operands, {"a", "b"});
  return PricedWithBias(&args, bias, result.dtype, extra);
}

// _int_mm(a, b): int8 operands, int32 result.
PriceResult PriceIntMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2", "out"});
  return PricedWithBias(&args, std::nullopt, DType::kInt32, 0);
}

constexpr std::string_view kScaledNames[] = {"_scaled_mm", "fp8_gemm"};
constexpr std::string_view kListScaledNames[] = {"_scaled_mm_v2", "scaled_mm"};
constexpr std::string_view kCutlassNames[] = {"cutlass_scaled_mm"};
constexpr std::string_view kIntNames[] = {"_int_mm"};
constexpr OpModel kQuantizedModels[] = {{kScaledNames, PriceScaledMm},
                                        {kListScaledNames, PriceListScaledMm},
                                        {kCutlassNames, PriceCutlassMm},
                                        {kIntNames, PriceIntMm}};

}  // namespace

std::span<const OpModel> QuantizedOps() { return kQuantizedModels; }

}  // namespace oplens::ops
