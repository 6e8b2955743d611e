#ifndef OPLENS_OPS_FAMILIES_CONVOLUTION_CALL_H_
#define OPLENS_OPS_FAMILIES_CONVOLUTION_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_model.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {

/// The tensors of a convolution: x [N,C,spatial], w [K,C/g,filter], y [N,K,spatial]; transposed: w
/// [C,K/g,filter]. x and y may have no batch.
struct ConvolutionTensors {
  Tensor x, w, y;
  std::optional<Tensor> bias;  ///< [K]
  bool transposed = false;
  bool displaced = false;  ///< Each tap may read anywhere: offsets are an input (deform_conv2d).

  size_t dimensions() const { return w.shape.size() - 2; }
  bool batched() const { return x.shape.size() == w.shape.size(); }
  int64_t batch() const { return batched() ? x.shape[0] : 1; }
  int64_t inputs() const { return x.shape[batched() ? 1 : 0]; }
  int64_t outputs() const { return y.shape[batched() ? 1 : 0]; }
  /// 1 if undetermined.
  int64_t groups() const;
  Shape input_extents() const { return x.shape.last(dimensions()); }
  Shape output_extents() const { return y.shape.last(dimensions()); }
  Shape filter() const { return w.shape.last(dimensions()); }

  /// Multiply-adds: each element of w meets each position of y (x if transposed) once per image,
  /// including taps on the padding.
  Checked MultiplyAdds() const;
  /// Bytes of x (y if transposed) on which a tap can stand: of H elements along a dimension at most
  /// P R. Fewer than all if the stride exceeds the filter.
  Checked TappedBytes() const;
};

/// Steps of the filter, one value per dimension.
struct ConvolutionSteps {
  std::vector<int64_t> stride, padding, dilation;
};

/// Whether channels and ranks of x, w, y and bias are consistent.
bool FitTogether(const ConvolutionTensors& tensors);

/// "N=32,C=3,H=224,W=224,K=64,P=112,Q=112,R=7,S=7,ph=3,pw=3,U=2,V=2,dh=1,dw=1,g=1,fp16"; H, P and R
/// are 1 in one dimension; three dimensions put D, Z and T first. Without `steps` they are omitted.
std::string ConvolutionText(const ConvolutionTensors& tensors, const ConvolutionSteps* steps);

/// One part of a convolution, with bias and its gradient if present: kForward reads x, w and b,
/// kDgrad dY and w, kWgrad dY and x, kBgrad dY. Of what the filter moves over only TappedBytes()
/// are read; it is written whole.
PartWork ConvolutionPart(const ConvolutionTensors& tensors, Part part);

/// Sets all of the op but its work; `steps`: null if unknown. Unpriced (kCostOverflow) if the
/// product exceeds 64-bit sizes.
PriceResult DescribeConvolution(const ConvolutionTensors& tensors, const ConvolutionSteps* steps,
                                PriceResult result);

/// Names positional arguments by a layout with a letter each: x input, w weight, b bias, s stride,
/// p padding, d dilation, t transposed, o output_padding, g groups, y grad_output, X, W and B sizes
/// of input, weight and bias, m output_mask, '-' ignored. nullopt if there are too few letters.
std::optional<OpCall> NameArguments(const OpCall& call, std::string_view layout);

/// torchvision's deform_conv2d, with the argument order of its Python function or of its operator
/// (module "torchvision"). vec: 8 FLOPs (bilinear interpolation) per input element of each tap.
PriceResult PriceDeformableConvolution(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_CONVOLUTION_CALL_H_
