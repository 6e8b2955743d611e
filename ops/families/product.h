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

/// FLOPs of one multiply-add of elements of these types: 2, and 8 where one is complex.
int FlopsPerFma(DType a, DType b);

/// The extents of Y[batch,M,N] = A[batch,M,K] B[batch,K,N], and the FLOPs that summing the gradient
/// of a broadcast operand back to its own shape takes.
struct Product {
  Checked batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Checked a_reduce = 0;
  Checked b_reduce = 0;
  std::optional<DType> output = std::nullopt;  ///< Of Y; else what the operands' types promote to.

  Checked outputs() const { return batch * m * n; }
  Checked Flops(const Tensor& a, const Tensor& b) const {
    return outputs() * k * FlopsPerFma(a.dtype, b.dtype);
  }
};

/// "M=4,N=2,K=3,fp32": M and N are swapped, as PyProf prints them, the column-major product that
/// BLAS sees.
std::string ProductText(const Product& p, DType type);
/// The same with "B=5," in front.
std::string BatchProductText(const Product& p, DType type);

/// The extents of a row-major product [m,k] [k,n] under these names: M is n, N is m.
std::vector<NamedExtent> ColumnMajorExtents(int64_t m, int64_t n, int64_t k);

/// Bytes of Y.
Checked OutputBytes(const Product& p, const Tensor& a, const Tensor& b);

/// Makes `op` a matrix op with the product of a and b. Its vector work must be additions and
/// multiplications that its formula prescribes: bias, factors.
void MarkMatrix(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op);

/// The same for a second operand that is stored [N,K].
void MarkTransposed(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op);

/// Y = A B with a gradient for each operand that receives one: dA = dY B^T and dB = A^T dY have as
/// many FLOPs as the product, and move the same three tensors.
PriceResult PricedProduct(std::string params, const Product& p, const Tensor& a, const Tensor& b);

/// matmul: vectors are matrices of one row or column, leading dimensions broadcast. A matrix B
/// under a batched A is folded into one product, so its gradient needs no reduction; any other
/// operand that is broadcast has its gradient computed expanded and then summed. nullopt when the
/// shapes do not fit.
std::optional<Product> BroadcastProduct(const Tensor& a, const Tensor& b);

/// The gradients of an outer product: each multiplies dY with the other operand and sums along it,
/// 2 FLOPs an element of dY.
Work OuterGradients(const Tensor& a, const Tensor& b, Checked outputs, Checked output_bytes);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_PRODUCT_H_
