// The products of TorchInductor's templates, from the sizes of their tensors. Shapes are those of
// buffers in the graph, which the product may view differently (a transposed weight, folded leading
// dimensions), so element counts say more than extents.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "ops/families/compiled_call.h"
#include "ops/families/product.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

__extension__ typedef __int128 CompiledTemplateInt128;

int64_t ElementsOf(const Tensor& tensor) { return tensor.elements().Value().value_or(0); }

// The root of a square number; otherwise 0.
int64_t RootOf(CompiledTemplateInt128 square) {
  auto root = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(square))));
  for (int64_t near = std::max<int64_t>(root - 1, 1); near <= root + 1; ++near) {
    if (CompiledTemplateInt128{near} * near == square) return near;
  }
  return 0;
}

// Whether the leading or trailing dimensions multiply to `extent`.
bool HasExtent(Shape shape, int64_t extent) {
  Checked leading = 1;
  Checked trailing = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    leading *= shape[i];
    trailing *= shape[shape.size() - 1 - i];
    if (leading == extent || trailing == extent) return true;
  }
  return false;
}

// Y[batch,m,n] = A[batch,m,k] B[batch,k,n] from the element counts, if consistent with the extents.
std::optional<Product> Solve(const Tensor& a, const Tensor& b, const Tensor& y, int64_t batch) {
  const int64_t elements[] = {ElementsOf(a), ElementsOf(b), ElementsOf(y)};
  for (const int64_t count : elements) {
    if (batch <= 0 || count <= 0 || count % batch != 0) return std::nullopt;
  }
  const CompiledTemplateInt128 product =
      CompiledTemplateInt128{elements[0] / batch} * (elements[1] / batch);
  const int64_t outputs = elements[2] / batch;
  if (product % outputs != 0) return std::nullopt;
  Product p;
  p.batch = batch;
  p.k = RootOf(product / outputs);
  if (p.k == 0 || elements[0] / batch % p.k != 0 || elements[1] / batch % p.k != 0) {
    return std::nullopt;
  }
  p.m = elements[0] / batch / p.k;
  p.n = elements[1] / batch / p.k;
  p.output = y.dtype;
  const bool fits = CompiledTemplateInt128{p.m} * p.n == outputs && HasExtent(a.shape, p.k) &&
                    (HasExtent(b.shape, p.k) || HasExtent(b.shape, p.n)) &&
                    (HasExtent(y.shape, p.n) || HasExtent(y.shape, p.m));
  return batch > 1 || fits ? std::optional(p) : std::nullopt;
}

int64_t BatchOf(const Tensor& a, const Tensor& b) {
  if (a.shape.size() < 3 || b.shape.size() < 3 || a.shape[0] != b.shape[0]) return 0;
  return a.shape[0];
}

struct Template {
  std::string_view op;
  bool batched = false;
  size_t first = 0;  // Operands before A.
};

constexpr Template kCompiledTemplateTemplates[] = {
    {"mm"},         {"addmm", false, 1}, {"bmm", true}, {"baddbmm", true, 1}, {"linear"},
    {"_scaled_mm"}, {"scaled_mm"},       {"_int_mm"},   {"int_mm"},           {"matmul"},
};

bool Runs(const CompiledCall& call, std::string_view op) {
  return std::any_of(call.name.ops.begin(), call.name.ops.end(),
                     [&](const CompiledName::Fused& fused) { return fused.op == op; });
}

// The output by its parameter's name, otherwise the last tensor.
const Tensor& ResultOf(const CompiledCall& call) {
  for (const CompiledTensor& tensor : call.tensors) {
    if (tensor.use == CompiledUse::kOutput || tensor.use == CompiledUse::kBoth) {
      return tensor.tensor;
    }
  }
  return call.tensors.back().tensor;
}

PricedOp PricedTemplate(const Product& p, const Tensor& a, const Tensor& b) {
  const std::string params = p.batch == 1 ? ProductText(p, a.dtype) : BatchProductText(p, a.dtype);
  PriceResult result = PricedProduct(params, p, a, b);
  result.price->backward.clear();  // Gradients are separate kernels.
  return *std::move(result.price);
}

std::optional<PricedOp> PriceProductTemplate(const Template& kind, const CompiledCall& call) {
  const Tensor& y = ResultOf(call);
  const size_t count = call.tensors.size();
  // A and B come first, or after `first` operands; otherwise the addend is elsewhere.
  for (const size_t first : {kind.first, size_t{0}, size_t{1}}) {
    if (first + 2 >= count) continue;
    const Tensor& a = call.tensors[first].tensor;
    const Tensor& b = call.tensors[first + 1].tensor;
    const std::optional<Product> p = Solve(a, b, y, kind.batched ? BatchOf(a, b) : 1);
    if (p) return PricedTemplate(*p, a, b);
  }
  return std::nullopt;
}

// X[N,C,..], W[K,C/groups,taps..], Y[N,K,..]: each element of Y sums over one filter.
std::optional<PricedOp> PriceConvolutionTemplate(const CompiledCall& call) {
  if (call.tensors.size() < 3) return std::nullopt;
  const Tensor& x = call.tensors[0].tensor;
  const Tensor& w = call.tensors[1].tensor;
  const Tensor& y = ResultOf(call);
  const size_t rank = x.shape.size();
  if (rank < 3 || w.shape.size() != rank || y.shape.size() != rank || w.shape[0] <= 0 ||
      w.shape[1] <= 0 || x.shape[0] != y.shape[0] || w.shape[0] != y.shape[1] ||
      x.shape[1] % w.shape[1] != 0) {
    return std::nullopt;
  }
  const int64_t groups = x.shape[1] / w.shape[1];
  const std::optional<int64_t> taps = Elements(w.shape.subspan(1)).Value();
  const std::optional<int64_t> rows = (y.elements() / y.shape[1]).Value();
  if (groups <= 0 || w.shape[0] % groups != 0 || !taps || !rows) return std::nullopt;
  PricedOp op;
  op.params = fmt::format("N={},C={},K={},taps={},{}", x.shape[0], x.shape[1], w.shape[0],
                          (Elements(w.shape.subspan(2))).Value().value_or(0), DTypeWord(x.dtype));
  op.forward = {{Part::kForward, {y.elements() * *taps * FlopsPerFma(x.dtype, w.dtype), 0, 0}}};
  op.matmul_like = true;
  MatrixProduct& product = op.product.emplace();
  product.kind = MatrixProduct::Kind::kConvolution;
  product.left = x.dtype;
  product.right = w.dtype;
  product.output = y.dtype;
  product.m = *rows;
  product.n = w.shape[0] / groups;
  product.k = *taps;
  product.groups = groups;
  product.extents = {{"C", w.shape[1]}, {"K", w.shape[0] / groups}};
  product.sizes = {
      {"conv_n", x.shape[0]}, {"conv_c", x.shape[1]}, {"conv_k", w.shape[0]}, {"conv_g", groups}};
  if (rank == 4) {
    const NamedExtent images[] = {{"conv_h", x.shape[2]},
                                  {"conv_w", x.shape[3]},
                                  {"conv_r", w.shape[2]},
                                  {"conv_s", w.shape[3]}};
    product.sizes.insert(product.sizes.end(), std::begin(images), std::end(images));
  }
  return op;
}

// Q[B,Hq,Sq,D], K[B,Hk,Sk,D], V[B,Hk,Sk,Dv]; no argument says which pairs are masked.
std::optional<PricedOp> PriceAttentionTemplate(const CompiledCall& call) {
  if (call.tensors.size() < 4) return std::nullopt;
  const Tensor& q = call.tensors[0].tensor;
  const Tensor& k = call.tensors[1].tensor;
  const Tensor& v = call.tensors[2].tensor;
  if (q.shape.size() != 4 || k.shape.size() != 4 || v.shape.size() != 4 ||
      q.shape[3] != k.shape[3] || k.shape[2] != v.shape[2] || k.shape[1] != v.shape[1]) {
    return std::nullopt;
  }
  const Checked batch = Checked(q.shape[0]) * q.shape[1];
  const std::optional<int64_t> batches = batch.Value();
  if (!batches) return std::nullopt;
  PricedOp op;
  op.params = fmt::format("B={},H={},Sq={},Sk={},D={},{}", q.shape[0], q.shape[1], q.shape[2],
                          k.shape[2], q.shape[3], DTypeWord(q.dtype));
  const Checked pairs = batch * q.shape[2] * k.shape[2];
  op.forward = {{Part::kForward, {pairs * (Checked(q.shape[3]) + v.shape[3]) * 2, 0, 0}}};
  op.matmul_like = true;
  op.mma_estimated = true;
  MatrixProduct& product = op.product.emplace();
  product.kind = MatrixProduct::Kind::kAttention;
  product.left = q.dtype;
  product.right = k.dtype;
  product.output = q.dtype;
  product.batch = *batches;
  product.m = q.shape[2];
  product.n = k.shape[2];
  product.k = q.shape[3];
  product.extents = {{"D", q.shape[3]}, {"Dv", v.shape[3]}};
  product.sizes = {{"batch", q.shape[0]},
                   {"heads", q.shape[1]},
                   {"sq", q.shape[2]},
                   {"sk", k.shape[2]},
                   {"head_dim", q.shape[3]}};
  return op;
}

}  // namespace

std::optional<PricedOp> PriceTemplate(const CompiledCall& call) {
  for (const Template& kind : kCompiledTemplateTemplates) {
    if (Runs(call, kind.op)) return PriceProductTemplate(kind, call);
  }
  for (const std::string_view op : {"convolution", "convolution2d", "convolution3d"}) {
    if (Runs(call, op)) return PriceConvolutionTemplate(call);
  }
  if (Runs(call, "flex_attention")) return PriceAttentionTemplate(call);
  return std::nullopt;
}

}  // namespace oplens::ops
