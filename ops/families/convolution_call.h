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

/// The tensors of a convolution: x [N,C,spatial], w [K,C/g,filter], y [N,K,spatial]; of a
/// transposed one w is [C,K/g,filter]. x and y may lack the batch.
struct ConvolutionTensors {
  Tensor x, w, y;
  std::optional<Tensor> bias;  ///< [K]
  bool transposed = false;

  size_t dimensions() const { return w.shape.size() - 2; }
  bool batched() const { return x.shape.size() == w.shape.size(); }
  int64_t batch() const { return batched() ? x.shape[0] : 1; }
  int64_t inputs() const { return x.shape[batched() ? 1 : 0]; }
  int64_t outputs() const { return y.shape[batched() ? 1 : 0]; }
  /// 1 where nothing tells.
  int64_t groups() const;
  Shape input_extents() const { return x.shape.last(dimensions()); }
  Shape output_extents() const { return y.shape.last(dimensions()); }
  Shape filter() const { return w.shape.last(dimensions()); }

  /// Multiply-adds: each element of w meets each position of y (of x, when transposed) in each
  /// image once. Taps on the padding count.
  Checked MultiplyAdds() const;
};

/// How the filter moves, a value a dimension.
struct ConvolutionSteps {
  std::vector<int64_t> stride, padding, dilation;
};

/// Whether the channels and ranks of x, w, y and the bias fit together.
bool FitTogether(const ConvolutionTensors& tensors);

/// "N=32,C=3,H=224,W=224,K=64,P=112,Q=112,R=7,S=7,ph=3,pw=3,U=2,V=2,dh=1,dw=1,g=1,fp16"; a
/// one-dimensional one has H, P and R of 1, a three-dimensional one D, Z and T in front of them.
/// Without `steps` those are left out.
std::string ConvolutionText(const ConvolutionTensors& tensors, const ConvolutionSteps* steps);

/// The part of a convolution, with the bias and its gradient where there is one: kForward reads x,
/// w and b, kDgrad dY and w, kWgrad dY and x, kBgrad dY.
PartWork ConvolutionPart(const ConvolutionTensors& tensors, Part part);

/// Sets what the op is apart from its work: product, class of figures. Unpriced (kCostOverflow)
/// when the product has no 64-bit sizes.
PriceResult DescribeConvolution(const ConvolutionTensors& tensors, PriceResult result);

/// Names the positional arguments of a call by a layout, a letter an argument: x input, w weight, b
/// bias, s stride, p padding, d dilation, t transposed, o output_padding, g groups, y grad_output,
/// X and W the sizes of input and weight, B those of the bias, m output_mask, '-' none of these.
/// nullopt when there are more arguments than letters.
std::optional<OpCall> NameArguments(const OpCall& call, std::string_view layout);

/// torchvision's deform_conv2d, in the order of its Python function or of its operator (of the
/// module "torchvision"). vec: 8 FLOPs (bilinear interpolation) an input element of each tap.
PriceResult PriceDeformableConvolution(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_CONVOLUTION_CALL_H_
