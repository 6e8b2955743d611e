// Gradient functions of convolutions. The work follows from the shapes of x, w and dY alone.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/convolution_call.h"
#include "ops/families/families.h"
#include "ops/families/window.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

enum class Transposed : uint8_t { kNo, kYes, kArgument };

struct ConvolutionGradientGradientFunction {
  std::string_view name;    // Of the op, normalised.
  std::string_view suffix;  // After "_backward".
  std::string_view layout;  // See NameArguments. 'm' is the last argument given.
  Transposed transposed = Transposed::kNo;
};

constexpr ConvolutionGradientGradientFunction kConvolutionGradientFunctions[] = {
    {"convolution", "", "yxwBspdtogm", Transposed::kArgument},
    {"convolution_overrideable", "", "yxwspdtogm", Transposed::kArgument},
    {"cudnn_convolution", "", "xywpsdg---m"},
    {"cudnn_convolution", "_input", "Xywpsdg---"},
    {"cudnn_convolution", "_weight", "Wyxpsdg---"},
    {"cudnn_convolution_transpose", "", "xywposdg---m", Transposed::kYes},
    {"cudnn_convolution_transpose", "_weight", "Wyxpsdg---", Transposed::kYes},
    {"miopen_convolution", "", "xywpsdg--m"},
    {"miopen_convolution", "_input", "Xywpsdg--"},
    {"miopen_convolution", "_weight", "Wyxpsdg--"},
    {"miopen_convolution_transpose", "", "xywposdg--m", Transposed::kYes},
    {"miopen_convolution_transpose", "_weight", "Wyxpsdg--", Transposed::kYes},
    {"miopen_depthwise_convolution", "", "xywpsdg--m"},
    {"miopen_depthwise_convolution", "_input", "Xywpsdg--"},
    {"miopen_depthwise_convolution", "_weight", "Wyxpsdg--"},
    {"mkldnn_convolution", "", "xywpsdgm"},
    {"mkldnn_convolution", "_input", "Xywpsdg-"},
    {"mkldnn_convolution", "_weights", "Wyxpsdg-"},
    {"thnn_conv2d", "", "yxw-sp--m"},
    {"_slow_conv2d", "", "yxw-sp--m"},
    {"slow_conv3d", "", "yxw-sp--m"},
    {"slow_conv_dilated2d", "", "yxw-spdm"},
    {"slow_conv_dilated3d", "", "yxw-spdm"},
    {"slow_conv_transpose2d", "", "yxw-spod--m", Transposed::kYes},
    {"slow_conv_transpose3d", "", "yxw-spod--m", Transposed::kYes},
    {"thnn_conv_depthwise2d", "", "yxw-spdm"},
    {"_conv_depthwise2d", "", "yxw-spdm"},
    {"conv_depthwise3d", "", "yxw-spdm"},
};

constexpr std::string_view kConvolutionGradientBackward = "_backward";

// "cudnn_convolution_backward_input.out" -> "_input"
std::string_view SuffixOf(std::string_view op) {
  const size_t at = op.rfind(kConvolutionGradientBackward);
  if (at == std::string_view::npos) return {};
  op.remove_prefix(at + kConvolutionGradientBackward.size());
  op = op.substr(0, op.find('.'));
  if (op.ends_with("_out")) op.remove_suffix(4);
  return op;
}

const ConvolutionGradientGradientFunction* FindFunction(std::string_view name,
                                                        std::string_view suffix) {
  const auto* row = std::find_if(std::begin(kConvolutionGradientFunctions),
                                 std::end(kConvolutionGradientFunctions),
                                 [&](const ConvolutionGradientGradientFunction& function) {
                                   return function.name == name && function.suffix == suffix;
                                 });
  return row == std::end(kConvolutionGradientFunctions) ? nullptr : row;
}

enum ConvolutionGradientArgument : uint8_t {
  kConvGradientGradOutput,
  kConvGradientInput,
  kConvGradientWeight,
  kConvGradientInputSize,
  kConvGradientWeightSize,
  kConvGradientBiasSizes,
  kConvGradientStride,
  kConvGradientPadding,
  kConvGradientDilation,
  kConvGradientTransposed,
  kConvGradientMask,
};

// A tensor, or one with the listed sizes and the given type. `sizes` must outlive the result.
Tensor TensorOrSizes(CallArgs* args, ConvolutionGradientArgument tensor,
                     ConvolutionGradientArgument list, DType dtype, std::vector<int64_t>* sizes) {
  if (args->Find(list) == nullptr) return args->RequireTensor(tensor);
  *sizes = args->FindInts(list).value_or(std::vector<int64_t>());
  const bool bad = std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n < 0; });
  if (bad || sizes->empty()) args->Fail(Reason::kUnsupportedArgs);
  return Tensor{*sizes, dtype, false};
}

// Infers an unrecorded flag from the shapes. If both kinds fit, a smaller result means a
// convolution: a transposed one shrinks only if its padding drops whole inputs.
std::optional<bool> InferTransposed(ConvolutionTensors tensors) {
  tensors.transposed = true;
  const bool fits_transposed = FitTogether(tensors);
  tensors.transposed = false;
  const bool fits = FitTogether(tensors);
  if (fits != fits_transposed) return fits_transposed;
  if (!fits) return false;
  bool smaller = true;
  for (size_t i = 0; i < tensors.dimensions(); ++i) {
    smaller = smaller && tensors.output_extents()[i] <= tensors.input_extents()[i];
  }
  return smaller ? std::optional(false) : std::nullopt;
}

bool ReadTransposed(const ConvolutionGradientGradientFunction& function,
                    const ConvolutionTensors& tensors, CallArgs* args) {
  if (function.transposed != Transposed::kArgument) return function.transposed == Transposed::kYes;
  const OpArg* flag = args->Find(kConvGradientTransposed);
  if (flag != nullptr && flag->kind != OpArg::Kind::kOther)
    return args->BoolOr(kConvGradientTransposed, false);
  const std::optional<bool> inferred = InferTransposed(tensors);
  if (!inferred) args->Fail(Reason::kUnsupportedArgs);
  return inferred.value_or(false);
}

// The steps, if all were recorded.
std::optional<ConvolutionSteps> ReadConvolutionGradientSteps(const CallArgs& args,
                                                             size_t dimensions) {
  ConvolutionSteps steps;
  const std::pair<ConvolutionGradientArgument, std::vector<int64_t>*> lists[] = {
      {kConvGradientStride, &steps.stride},
      {kConvGradientPadding, &steps.padding},
      {kConvGradientDilation, &steps.dilation}};
  for (const auto& [argument, values] : lists) {
    const OpArg* arg = args.Find(argument);
    std::optional<std::vector<int64_t>> given;
    if (arg != nullptr && arg->kind == OpArg::Kind::kIntList) given = arg->int_list;
    if (arg != nullptr && arg->kind == OpArg::Kind::kInt) given = {arg->int_value};
    if (arg != nullptr && !given) return std::nullopt;
    const auto spread = PerDimension(given, dimensions, argument == kConvGradientPadding ? 0 : 1);
    if (!spread) return std::nullopt;
    *values = *spread;
  }
  return steps;
}

// Whether a convolution with these steps maps x to y.
bool Reaches(const ConvolutionTensors& t, const ConvolutionSteps& steps) {
  for (size_t i = 0; i < t.dimensions(); ++i) {
    const Window window{t.filter()[i], steps.stride[i], steps.padding[i], steps.padding[i],
                        steps.dilation[i]};
    // A transposed convolution is one from its output to its input.
    const Shape from = t.transposed ? t.output_extents() : t.input_extents();
    const Shape to = t.transposed ? t.input_extents() : t.output_extents();
    if (WindowCount(from[i], window) != to[i]) return false;
  }
  return true;
}

// Which of x, w and bias get a gradient. If not recorded, x and w do, and the bias is unknown.
struct Wanted {
  bool dgrad = true;
  bool wgrad = true;
  bool bgrad = false;
};

Wanted ReadConvolutionGradientMask(std::string_view op, const CallArgs& args) {
  if (const std::optional<Part> part = PartOfFunction(op)) {
    return {part == Part::kDgrad, part == Part::kWgrad, part == Part::kBgrad};
  }
  const OpArg* bias = args.Find(kConvGradientBiasSizes);
  const bool has_bias =
      bias != nullptr && bias->kind == OpArg::Kind::kIntList && !bias->int_list.empty();
  const OpArg* mask = args.Find(kConvGradientMask);
  if (mask == nullptr || mask->kind != OpArg::Kind::kIntList || mask->int_list.size() < 2 ||
      mask->int_list.size() > 3) {
    return {true, true, has_bias};
  }
  const std::vector<int64_t>& bits = mask->int_list;
  return {bits[0] != 0, bits[1] != 0, bits.size() > 2 && bits[2] != 0};
}

std::vector<PartWork> WantedParts(const ConvolutionTensors& t, Wanted wanted) {
  std::vector<PartWork> parts;
  if (wanted.dgrad) parts.push_back(ConvolutionPart(t, Part::kDgrad));
  if (wanted.wgrad) parts.push_back(ConvolutionPart(t, Part::kWgrad));
  if (wanted.bgrad) parts.push_back(ConvolutionPart(t, Part::kBgrad));
  return parts;
}

// cudnn_convolution_backward_bias(dY)
PriceResult PriceBiasGradient(const OpCall& call) {
  CallArgs args(call, {"grad_output"});
  const Tensor y = args.RequireTensor(0);
  if (args.failed()) return Unpriced(args.reason());
  if (y.shape.size() < 3) return Unpriced(Reason::kShapeMismatch);
  PriceResult result =
      Priced(NamedTensorText(y), Work{0, y.elements(), y.bytes() + BytesOf(y.shape[1], y.dtype)},
             std::vector<PartWork>());
  result.price->forward.front().part = Part::kBgrad;
  result.price->vec_estimated = false;
  return result;
}

// The mask is the last argument, whatever flags later versions put before it.
std::string LayoutFor(const ConvolutionGradientGradientFunction& function, const OpCall& call) {
  std::string layout(function.layout);
  const auto given = static_cast<size_t>(std::count_if(
      call.args.begin(), call.args.end(), [](const OpArg& arg) { return arg.name.empty(); }));
  const size_t flags = layout.find('-', 4);
  if (layout.back() != 'm' || flags == std::string::npos || given >= layout.size()) return layout;
  if (given > flags) layout[given - 1] = 'm';
  return layout;
}

PriceResult PriceFunction(const ConvolutionGradientGradientFunction& function, const OpCall& call) {
  const std::optional<OpCall> named = NameArguments(call, LayoutFor(function, call));
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  CallArgs args(*named,
                {"grad_output", "input|self", "weight", "input_size|self_size", "weight_size",
                 "bias_sizes", "stride", "padding", "dilation", "transposed", "output_mask"});
  ConvolutionTensors t;
  std::vector<int64_t> sizes;
  t.y = args.RequireTensor(kConvGradientGradOutput);
  t.x = TensorOrSizes(&args, kConvGradientInput, kConvGradientInputSize, t.y.dtype, &sizes);
  t.w = TensorOrSizes(&args, kConvGradientWeight, kConvGradientWeightSize, t.y.dtype, &sizes);
  if (args.failed()) return Unpriced(args.reason());
  t.transposed = ReadTransposed(function, t, &args);
  if (args.failed()) return Unpriced(args.reason());
  if (!FitTogether(t)) return Unpriced(Reason::kShapeMismatch);
  const std::optional<ConvolutionSteps> steps = ReadConvolutionGradientSteps(args, t.dimensions());
  if (steps && !Reaches(t, *steps)) return Unpriced(Reason::kShapeMismatch);

  std::vector<PartWork> parts = WantedParts(t, ReadConvolutionGradientMask(call.op, args));
  if (parts.empty()) return Unpriced(Reason::kUnsupportedArgs);
  const ConvolutionSteps* known = steps ? &*steps : nullptr;
  PriceResult result = DescribeConvolution(
      t, known, Priced(ConvolutionText(t, known), Work(), std::vector<PartWork>()));
  if (!result.price) return result;
  result.price->matmul_like = parts.front().part != Part::kBgrad;
  result.price->forward = std::move(parts);
  return result;
}

}  // namespace

std::optional<PriceResult> PriceConvolutionGradient(std::string_view op, const OpCall& call) {
  const bool known = std::any_of(
      std::begin(kConvolutionGradientFunctions), std::end(kConvolutionGradientFunctions),
      [&](const ConvolutionGradientGradientFunction& row) { return row.name == op; });
  if (!known) return std::nullopt;
  const std::string_view suffix = SuffixOf(call.op);
  if (suffix == "_bias") return PriceBiasGradient(call);
  const ConvolutionGradientGradientFunction* function = FindFunction(op, suffix);
  return function == nullptr ? Unpriced(Reason::kUnsupportedArgs) : PriceFunction(*function, call);
}

}  // namespace oplens::ops
