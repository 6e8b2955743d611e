#ifndef OPLENS_OPS_FAMILIES_PRODUCT_H_
#define OPLENS_OPS_FAMILIES_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.h"
#include "ops/dtype.h"
#include "ops/op_model.h"
#include "ops/tensor.h"

namespace oplens::ops {

/// FLOPs of one multiply-add of these types: 2, or 8 if one is complex.
int FlopsPerFma(DType a, DType b);

/// Extents of Y[batch,M,N] = A[batch,M,K] B[batch,K,N], and the FLOPs of summing the gradient of a
/// broadcast operand to its own shape.
struct Product {
  Checked batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Checked a_reduce = 0;
  Checked b_reduce = 0;
  std::optional<DType> output = std::nullopt;  ///< Of Y; nullopt: the operands' promoted type.

  Checked outputs() const { return batch * m * n; }
  Checked Flops(const Tensor& a, const Tensor& b) const {
    return outputs() * k * FlopsPerFma(a.dtype, b.dtype);
  }
};

/// "M=4,N=2,K=3,fp32": M and N are swapped as in PyProf, to those of BLAS's column-major product.
std::string ProductText(const Product& p, DType type);
/// As ProductText with "B=5," in front.
std::string BatchProductText(const Product& p, DType type);

/// Names the extents of a row-major product [m,k] [k,n]: M is n, N is m.
std::vector<NamedExtent> ColumnMajorExtents(int64_t m, int64_t n, int64_t k);

Checked OutputBytes(const Product& p, const Tensor& a, const Tensor& b);

/// Makes `op` a matrix op with the product of a and b. Its vector work must be additions and
/// multiplications prescribed by its formula: bias, factors.
void MarkMatrix(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op);

/// As MarkMatrix, for a second operand stored as [N,K].
void MarkTransposed(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op);

/// Y = A B with a gradient for each operand that receives one: dA = dY B^T and dB = A^T dY have the
/// product's FLOPs and move the same three tensors.
PriceResult PricedProduct(std::string params, const Product& p, const Tensor& a, const Tensor& b);

/// matmul: vectors are matrices of one row or column, leading dimensions broadcast. A matrix B
/// under a batched A is folded into one product, so its gradient needs no reduction; gradients of
/// other broadcast operands are computed expanded, then summed. nullopt if the shapes do not fit.
std::optional<Product> BroadcastProduct(const Tensor& a, const Tensor& b);

/// Gradients of an outer product: dY times the other operand, summed, 2 FLOPs per element of dY.
Work OuterGradients(const Tensor& a, const Tensor& b, Checked outputs, Checked output_bytes);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_PRODUCT_H_
