// Convolutions, including transposed ones.

#include <optional>
#include <string>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/convolution_call.h"
#include "ops/families/families.h"
#include "ops/families/window.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct ConvolutionOp {
  std::string_view name;
  std::string_view layout;  // See NameArguments.
  size_t dimensions = 0;    // 0: by the weight's rank, and no argument has a default.
  bool transposed = false;
  bool depthwise = false;  // One group per channel by default.
  int activation = 0;      // FLOPs per output of a fused activation.
};

constexpr ConvolutionOp kConvolutionOps[] = {
    {"conv1d", "xwbspdg", 1},
    {"conv2d", "xwbspdg", 2},
    {"conv3d", "xwbspdg", 3},
    {"conv_transpose1d", "xwbspogd", 1, true},
    {"conv_transpose2d", "xwbspogd", 2, true},
    {"conv_transpose3d", "xwbspogd", 3, true},
    {"convolution", "xwbspdtog"},
    {"convolution_overrideable", "xwbspdtog"},
    {"_convolution", "xwbspdtog----"},
    {"_convolution_mode", "xwbspdg"},
    {"cudnn_convolution", "xwpsdg---"},
    {"cudnn_convolution_relu", "xwbspdg", 0, false, false, 1},
    {"cudnn_convolution_transpose", "xwposdg---", 0, true},
    {"miopen_convolution", "xwbpsdg--"},
    {"miopen_convolution_relu", "xwbspdg", 0, false, false, 1},
    {"miopen_convolution_transpose", "xwbposdg--", 0, true},
    {"miopen_depthwise_convolution", "xwbpsdg--"},
    {"mkldnn_convolution", "xwbpsdg"},
    {"thnn_conv2d", "xw-bsp", 2},
    {"_slow_conv2d", "xw-bsp", 2},
    {"slow_conv3d", "xw-bsp", 3},
    {"slow_conv_dilated2d", "xw-bspd", 2},
    {"slow_conv_dilated3d", "xw-bspd", 3},
    {"slow_conv_transpose2d", "xw-bspod", 2, true},
    {"slow_conv_transpose3d", "xw-bspod", 3, true},
    {"thnn_conv_depthwise2d", "xw-bspd", 2, false, true},
    {"_conv_depthwise2d", "xw-bspd", 2, false, true},
    {"conv_depthwise3d", "xw-bspd", 3, false, true},
};

enum ConvolutionArgument : uint8_t {
  kConvInput,
  kConvWeight,
  kConvBias,
  kConvStride,
  kConvPadding,
  kConvDilation,
  kConvTransposed,
  kConvOutputPadding,
  kConvGroups,
};

// How the padding is given: as numbers, or by one of two words.
enum class PaddingMode : uint8_t { kNumbers, kValid, kSame };

// A parsed call; one value per dimension.
struct Request {
  ConvolutionTensors tensors;
  ConvolutionSteps steps;
  std::vector<int64_t> added;  // output_padding
  int64_t groups = 1;
  PaddingMode mode = PaddingMode::kNumbers;
};

// Before PyTorch 1.5 the bias was between weight and padding.
std::string_view LayoutOf(const ConvolutionOp& op, const OpCall& call) {
  if (!op.name.starts_with("cudnn_convolution") || op.activation > 0) return op.layout;
  if (call.args.size() < 3 || !call.args[2].name.empty()) return op.layout;
  const OpArg::Kind kind = call.args[2].kind;
  if (kind != OpArg::Kind::kTensor && kind != OpArg::Kind::kNone) return op.layout;
  return op.transposed ? "xwbposdg--" : "xwbpsdg--";
}

std::vector<int64_t> ReadConvolutionInts(CallArgs* args, size_t parameter, size_t dimensions,
                                         int64_t absent) {
  const auto values = PerDimension(args->FindInts(parameter), dimensions, absent);
  if (!values) args->Fail(Reason::kUnsupportedArgs);
  return values.value_or(std::vector<int64_t>(dimensions, absent));
}

void ReadPadding(CallArgs* args, size_t dimensions, Request* request) {
  const OpArg* padding = args->Find(kConvPadding);
  if (padding == nullptr || padding->kind != OpArg::Kind::kString) {
    request->steps.padding = ReadConvolutionInts(args, kConvPadding, dimensions, 0);
    return;
  }
  request->steps.padding.assign(dimensions, 0);
  request->mode = padding->text == "same" ? PaddingMode::kSame : PaddingMode::kValid;
  const bool known = padding->text == "same" || padding->text == "valid";
  if (!known || request->tensors.transposed) args->Fail(Reason::kUnsupportedArgs);
}

Request ReadRequest(const ConvolutionOp& op, CallArgs* args) {
  Request request;
  ConvolutionTensors& tensors = request.tensors;
  tensors.x = args->RequireTensor(kConvInput);
  tensors.w = args->RequireTensor(kConvWeight);
  tensors.bias = args->FindTensor(kConvBias);
  tensors.transposed = op.transposed || args->BoolOr(kConvTransposed, false);
  const size_t rank = tensors.w.shape.size();
  if (rank < 3 || rank > 5 || (op.dimensions != 0 && rank != op.dimensions + 2) ||
      tensors.x.shape.size() > rank || tensors.x.shape.size() + 1 < rank) {
    args->Fail(Reason::kShapeMismatch);
    return request;
  }
  if (op.dimensions == 0 && args->Find(kConvStride) == nullptr) {
    args->Fail(Reason::kUnsupportedArgs);  // A cut list of arguments.
    return request;
  }
  const size_t dimensions = rank - 2;
  ReadPadding(args, dimensions, &request);
  request.steps.stride = ReadConvolutionInts(args, kConvStride, dimensions, 1);
  request.steps.dilation = ReadConvolutionInts(args, kConvDilation, dimensions, 1);
  request.added = ReadConvolutionInts(args, kConvOutputPadding, dimensions, 0);
  request.groups = args->IntOr(kConvGroups, op.depthwise ? tensors.inputs() : 1);
  if (op.depthwise && request.groups == 0) request.groups = 1;
  return request;
}

// The filter along one dimension; nullopt for invalid steps.
std::optional<Window> FilterWindow(const Request& request, size_t i) {
  Window window{request.tensors.filter()[i], request.steps.stride[i], request.steps.padding[i],
                request.steps.padding[i], request.steps.dilation[i]};
  if (!window.Valid()) return std::nullopt;
  if (request.mode != PaddingMode::kSame) return window;
  const std::optional<int64_t> padding = (window.Reach() - 1).Value();
  if (window.stride != 1 || !padding) return std::nullopt;
  window.before = *padding / 2;
  window.after = *padding - window.before;
  return window;
}

// The extents of the result. Replaces padding 'same' by numbers.
std::optional<std::vector<int64_t>> OutputExtents(Request* request, Reason* reason) {
  const ConvolutionTensors& t = request->tensors;
  std::vector<int64_t> extents;
  for (size_t i = 0; i < t.dimensions(); ++i) {
    *reason = Reason::kUnsupportedArgs;
    const std::optional<Window> window = FilterWindow(*request, i);
    if (!window) return std::nullopt;
    const int64_t added = request->added[i];
    const bool adds = t.transposed && added != 0;
    if (adds && (added < 0 || (added >= window->stride && added >= window->dilation))) {
      return std::nullopt;
    }
    *reason = Reason::kShapeMismatch;
    const int64_t extent = t.input_extents()[i];
    const std::optional<int64_t> result =
        t.transposed ? TransposedExtent(extent, *window, added) : WindowCount(extent, *window);
    if (!result) return std::nullopt;
    extents.push_back(*result);
    request->steps.padding[i] = window->before;
  }
  return extents;
}

// [N,K,extents]; without N if the input has no batch.
std::optional<std::vector<int64_t>> ConvolutionOutputShape(Request* request, Reason* reason) {
  const ConvolutionTensors& t = request->tensors;
  *reason = Reason::kUnsupportedArgs;
  if (request->groups < 1) return std::nullopt;
  const auto extents = OutputExtents(request, reason);
  if (!extents) return std::nullopt;
  *reason = Reason::kShapeMismatch;
  // Only of a transposed one do the shapes not tell the groups: elsewhere they are C / w[1].
  const std::optional<int64_t> channels =
      t.transposed ? (Checked(t.w.shape[1]) * request->groups).Value() : t.w.shape[0];
  if (!channels) return std::nullopt;
  std::vector<int64_t> shape;
  if (t.batched()) shape.push_back(t.batch());
  shape.push_back(*channels);
  shape.insert(shape.end(), extents->begin(), extents->end());
  return shape;
}

std::vector<PartWork> ConvolutionGradients(const ConvolutionTensors& t) {
  std::vector<PartWork> parts;
  if (t.x.Differentiable()) parts.push_back(ConvolutionPart(t, Part::kDgrad));
  if (t.w.Differentiable()) parts.push_back(ConvolutionPart(t, Part::kWgrad));
  if (t.bias && t.bias->Differentiable()) parts.push_back(ConvolutionPart(t, Part::kBgrad));
  return parts;
}

// A call with a recorded result, `output=`: the steps of the filter are not needed.
PriceResult PriceWithOutput(const ConvolutionOp& op, const OpCall& named, const OpArg& output) {
  CallArgs args(named, {"input|self", "weight", "bias"});
  ConvolutionTensors t;
  t.x = args.RequireTensor(kConvInput);
  t.w = args.RequireTensor(kConvWeight);
  t.bias = args.FindTensor(kConvBias);
  t.transposed = op.transposed;
  Reason reason = Reason::kUnsupportedArgs;
  const std::optional<Tensor> y = TensorOf(output, &reason);
  if (args.failed()) return Unpriced(args.reason());
  if (!y) return Unpriced(reason);
  t.y = *y;
  if (!FitTogether(t)) return Unpriced(Reason::kShapeMismatch);
  PartWork forward = ConvolutionPart(t, Part::kForward);
  forward.work.vec += t.y.elements() * op.activation;
  return DescribeConvolution(
      t, nullptr, Priced(ConvolutionText(t, nullptr), forward.work, ConvolutionGradients(t)));
}

PriceResult PriceConvolution(std::string_view name, const OpCall& call) {
  const ConvolutionOp* op = FindRow(kConvolutionOps, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  const std::optional<OpCall> named = NameArguments(call, LayoutOf(*op, call));
  if (!named) return Unpriced(Reason::kUnsupportedArgs);
  // A general convolution has a flag for transposed.
  const bool flag_known = op->layout.find('t') == std::string_view::npos;
  for (const OpArg& arg : named->args) {
    if (arg.name == "output" && flag_known) return PriceWithOutput(*op, *named, arg);
  }
  CallArgs args(*named, {"input|self", "weight", "bias", "stride", "padding", "dilation",
                         "transposed", "output_padding", "groups"});
  Request request = ReadRequest(*op, &args);
  if (args.failed()) return Unpriced(args.reason());
  Reason reason;
  const std::optional<std::vector<int64_t>> output = ConvolutionOutputShape(&request, &reason);
  if (!output) return Unpriced(reason);
  ConvolutionTensors& t = request.tensors;
  t.y = Tensor{*output, PromoteDTypes(t.x.dtype, t.w.dtype), false};
  if (!FitTogether(t)) return Unpriced(Reason::kShapeMismatch);

  PartWork forward = ConvolutionPart(t, Part::kForward);
  forward.work.vec += t.y.elements() * op->activation;
  return DescribeConvolution(
      t, &request.steps,
      Priced(ConvolutionText(t, &request.steps), forward.work, ConvolutionGradients(t)));
}

constexpr auto kLocalConvolutionNames = NamesOf(kConvolutionOps);

constexpr std::string_view kDeformableNames[] = {"deform_conv2d"};

constexpr OpModel kConvolutionModels[] = {
    {kLocalConvolutionNames, PriceConvolution},
    {kDeformableNames, PriceDeformableConvolution},
};

}  // namespace

std::span<const OpModel> ConvolutionOps() { return kConvolutionModels; }

}  // namespace oplens::ops
