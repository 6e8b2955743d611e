// torchvision's convolution with taps displaced by learned offsets.

#include <optional>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/convolution_call.h"
#include "ops/families/window.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Four corners, each weighted and added.
constexpr int kPerSample = 8;

struct Deformable {
  ConvolutionTensors tensors;
  ConvolutionSteps steps;
  Tensor offset;
  std::optional<Tensor> mask;
};

std::vector<int64_t> ReadDeformableConvolutionPair(CallArgs* args, size_t parameter,
                                                   int64_t absent) {
  const auto values = PerDimension(args->FindInts(parameter), 2, absent);
  if (!values) args->Fail(Reason::kUnsupportedArgs);
  return values.value_or(std::vector<int64_t>(2, absent));
}

// deform_conv2d(input, offset, weight, bias, stride, padding, dilation, mask)
Deformable ReadPython(CallArgs* args) {
  Deformable result;
  result.tensors.x = args->RequireTensor(0);
  result.offset = args->RequireTensor(1);
  result.tensors.w = args->RequireTensor(2);
  result.tensors.bias = args->FindTensor(3);
  result.steps.stride = ReadDeformableConvolutionPair(args, 4, 1);
  result.steps.padding = ReadDeformableConvolutionPair(args, 5, 0);
  result.steps.dilation = ReadDeformableConvolutionPair(args, 6, 1);
  result.mask = args->FindTensor(7);
  return result;
}

// torchvision::deform_conv2d(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w,
// dilation_h, dilation_w, groups, offset_groups, use_mask)
Deformable ReadOperator(CallArgs* args) {
  Deformable result;
  result.tensors.x = args->RequireTensor(0);
  result.tensors.w = args->RequireTensor(1);
  result.offset = args->RequireTensor(2);
  if (args->BoolOr(13, true)) result.mask = args->FindTensor(3);
  result.tensors.bias = args->FindTensor(4);
  for (size_t i = 0; i < 2; ++i) {
    result.steps.stride.push_back(args->IntOr(5 + i, 1));
    result.steps.padding.push_back(args->IntOr(7 + i, 0));
    result.steps.dilation.push_back(args->IntOr(9 + i, 1));
  }
  return result;
}

// The output's shape; nullopt with the reason if there is none.
std::optional<std::vector<int64_t>> DeformableConvolutionOutputShape(const Deformable& d,
                                                                     Reason* reason) {
  const ConvolutionTensors& t = d.tensors;
  *reason = Reason::kShapeMismatch;
  if (t.x.shape.size() != 4 || t.w.shape.size() != 4) return std::nullopt;
  std::vector<int64_t> shape{t.x.shape[0], t.w.shape[0]};
  for (size_t i = 0; i < 2; ++i) {
    const Window window{t.w.shape[2 + i], d.steps.stride[i], d.steps.padding[i], d.steps.padding[i],
                        d.steps.dilation[i]};
    *reason = window.Valid() ? Reason::kShapeMismatch : Reason::kUnsupportedArgs;
    const std::optional<int64_t> count = WindowCount(t.x.shape[2 + i], window);
    if (!count) return std::nullopt;
    shape.push_back(*count);
  }
  return shape;
}

// [N, groups x per_tap per tap, P, Q]
bool FitsTaps(const Tensor& tensor, const ConvolutionTensors& t, int per_tap) {
  const std::optional<int64_t> step = (Elements(t.filter()) * per_tap).Value();
  return step && *step > 0 && tensor.shape.size() == 4 && tensor.shape[0] == t.batch() &&
         tensor.shape[1] % *step == 0 && tensor.shape[2] == t.output_extents()[0] &&
         tensor.shape[3] == t.output_extents()[1];
}

std::vector<PartWork> DeformableConvolutionGradients(const Deformable& d, Checked samples,
                                                     Checked displacements) {
  const ConvolutionTensors& t = d.tensors;
  std::vector<PartWork> parts;
  for (const Part part : {Part::kDgrad, Part::kWgrad, Part::kBgrad}) {
    if (part == Part::kBgrad && !t.bias) continue;
    parts.push_back(ConvolutionPart(t, part));
    if (part == Part::kBgrad) continue;
    parts.back().work.vec += samples * kPerSample;
    // The data gradient includes the displacements' gradient.
    parts.back().work.bytes += displacements * (part == Part::kDgrad ? 2 : 1);
  }
  return parts;
}

}  // namespace

PriceResult PriceDeformableConvolution(std::string_view, const OpCall& call) {
  CallArgs args = call.mod == "torchvision"
                      ? CallArgs(call, {"input", "weight", "offset", "mask", "bias", "stride_h",
                                        "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w",
                                        "groups", "offset_groups", "use_mask"})
                      : CallArgs(call, {"input", "offset", "weight", "bias", "stride", "padding",
                                        "dilation", "mask"});
  Deformable d = call.mod == "torchvision" ? ReadOperator(&args) : ReadPython(&args);
  if (args.failed()) return Unpriced(args.reason());
  Reason reason;
  const std::optional<std::vector<int64_t>> output = DeformableConvolutionOutputShape(d, &reason);
  if (!output) return Unpriced(reason);
  ConvolutionTensors& t = d.tensors;
  t.displaced = true;
  t.y = Tensor{*output, PromoteDTypes(t.x.dtype, t.w.dtype), false};
  if (!FitTogether(t) || !FitsTaps(d.offset, t, 2) || (d.mask && !FitsTaps(*d.mask, t, 1))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked samples =
      Elements(t.output_extents()) * Elements(t.filter()) * t.batch() * t.inputs();
  const Checked displacements = d.offset.bytes() + (d.mask ? d.mask->bytes() : Checked(0));
  PartWork forward = ConvolutionPart(t, Part::kForward);
  forward.work.vec += samples * kPerSample;
  forward.work.bytes += displacements;
  PriceResult result =
      DescribeConvolution(t, &d.steps,
                          Priced(ConvolutionText(t, &d.steps), forward.work,
                                 DeformableConvolutionGradients(d, samples, displacements)));
  if (result.price) result.price->vec_estimated = true;
  return result;
}

}  // namespace oplens::ops
