#include "ops/families/product.h"

#include <fmt/format.h>

#include <utility>

#include "ops/pricing.h"

namespace oplens::ops {

int FlopsPerFma(DType a, DType b) {
  const bool complex =
      CategoryOf(a) == DTypeCategory::kComplex || CategoryOf(b) == DTypeCategory::kComplex;
  return complex ? 8 : 2;
}

std::string ProductText(const Product& p, DType type) {
  return fmt::format("M={},N={},K={},{}", p.n, p.m, p.k, DTypeWord(type));
}

std::string BatchProductText(const Product& p, DType type) {
  return fmt::format("B={},{}", p.batch.Value().value_or(0), ProductText(p, type));
}

std::vector<NamedExtent> ColumnMajorExtents(int64_t m, int64_t n, int64_t k) {
  return {{"M", n}, {"N", m}, {"K", k}};
}

Checked OutputBytes(const Product& p, const Tensor& a, const Tensor& b) {
  return BytesOf(p.outputs(), p.output.value_or(PromoteDTypes(a.dtype, b.dtype)));
}

namespace {

// dA = dY B^T and dB = A^T dY: the FLOPs and the three tensors of the product.
std::vector<PartWork> ProductGradients(const Product& p, const Tensor& a, const Tensor& b) {
  std::vector<PartWork> parts;
  const Checked mma = p.Flops(a, b);
  const Checked bytes = a.bytes() + b.bytes() + OutputBytes(p, a, b);
  if (a.Differentiable()) parts.push_back({Part::kDgrad, {mma, p.a_reduce, bytes}, {}});
  if (b.Differentiable()) parts.push_back({Part::kWgrad, {mma, p.b_reduce, bytes}, {}});
  return parts;
}

// The gradients are products of other sizes: dA [m,k] sums over n, dB over m.
void NameGradients(PricedOp* op) {
  const MatrixProduct& p = *op->product;
  for (PartWork& part : op->backward) {
    Product gradient{p.batch, p.m, p.k, p.n, 0, 0};
    if (part.part == Part::kBgrad) continue;
    if (part.part == Part::kWgrad) {
      gradient = p.right_transposed ? Product{p.batch, p.n, p.k, p.m, 0, 0}
                                    : Product{p.batch, p.k, p.n, p.m, 0, 0};
    }
    part.params = p.batch == 1 ? ProductText(gradient, p.left) : BatchProductText(gradient, p.left);
    part.extents = ColumnMajorExtents(gradient.m, gradient.n, gradient.k);
  }
}

// The facts that decide Tensor Core use and the gradients' kernels.
MatrixProduct ProductOfSizes(const Product& p, const Tensor& a, const Tensor& b) {
  MatrixProduct product;
  product.left = a.dtype;
  product.right = b.dtype;
  product.output = p.output.value_or(PromoteDTypes(a.dtype, b.dtype));
  product.batch = p.batch.Value().value_or(0);
  product.m = p.m;
  product.n = p.n;
  product.k = p.k;
  product.extents = ColumnMajorExtents(p.m, p.n, p.k);
  return product;
}

}  // namespace

void MarkMatrix(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op) {
  op->matmul_like = true;
  // A complex addition is two real ones.
  op->vec_estimated = FlopsPerFma(a.dtype, b.dtype) > 2;
  op->product = ProductOfSizes(p, a, b);
  NameGradients(op);
}

void MarkTransposed(const Product& p, const Tensor& a, const Tensor& b, PricedOp* op) {
  MarkMatrix(p, a, b, op);
  op->product->right_transposed = true;
  NameGradients(op);
}

PriceResult PricedProduct(std::string params, const Product& p, const Tensor& a, const Tensor& b) {
  const Work forward{p.Flops(a, b), 0, a.bytes() + b.bytes() + OutputBytes(p, a, b)};
  PriceResult result = Priced(std::move(params), forward, ProductGradients(p, a, b));
  MarkMatrix(p, a, b, &*result.price);
  return result;
}

std::optional<Product> BroadcastProduct(const Tensor& a, const Tensor& b) {
  const size_t a_rank = a.shape.size();
  const size_t b_rank = b.shape.size();
  if (a_rank == 0 || b_rank == 0) return std::nullopt;
  Product p;
  if (a_rank > 1) p.m = a.shape[a_rank - 2];
  if (b_rank > 1) p.n = b.shape[b_rank - 1];
  p.k = a.shape.back();
  if (p.k != (b_rank == 1 ? b.shape[0] : b.shape[b_rank - 2])) return std::nullopt;

  const Shape a_batch = a.shape.first(a_rank > 2 ? a_rank - 2 : 0);
  const Shape b_batch = b.shape.first(b_rank > 2 ? b_rank - 2 : 0);
  const std::optional<std::vector<int64_t>> batch = Broadcast({a_batch, b_batch});
  if (!batch) return std::nullopt;
  p.batch = Elements(*batch);
  if (!(Elements(a_batch) == p.batch)) p.a_reduce = p.batch * p.m * p.k;
  if (b_rank > 2 && !(Elements(b_batch) == p.batch)) p.b_reduce = p.batch * p.k * p.n;
  if (const auto rows = (p.batch * p.m).Value(); b_rank < 3 && rows) {
    p.batch = 1;
    p.m = *rows;
  }
  return p;
}

Work OuterGradients(const Tensor& a, const Tensor& b, Checked outputs, Checked output_bytes) {
  Work work;
  for (const auto& [wanted, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (!wanted.Differentiable()) continue;
    work.vec += outputs * 2;
    work.bytes += output_bytes + other.bytes() + wanted.bytes();
  }
  return work;
}

}  // namespace oplens::ops
