// Products with sparse operands.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct SparseSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t nnz = 0;
};

// One multiply-add per value and column of D; reads the stored S (`index_bytes` and values) and D,
// writes Y. No gradient models: S's gradient has its own sparsity.
PriceResult PricedSparse(const SparseSizes& s, const Tensor& values, const Tensor& dense,
                         Checked index_bytes) {
  const DType type = PromoteDTypes(values.dtype, dense.dtype);
  Work forward;
  forward.mma = Checked(s.nnz) * s.n * FlopsPerFma(values.dtype, dense.dtype);
  forward.bytes = index_bytes + values.bytes() + dense.bytes() + BytesOf(Checked(s.m) * s.n, type);
  PriceResult result =
      Priced(fmt::format("M={},N={},K={},nnz={},{}", s.n, s.m, s.k, s.nnz, DTypeWord(type)),
             forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  return result;
}

// Y[M,N] = S[M,K] D[K,N] with S in compressed rows (offsets, columns, values) or by coordinates
// (indices[2,nnz], values, its shape).
PriceResult PriceSparseMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"nnz", "crow|crow_indices", "col|col_indices", "val|values", "dense|mat2",
                       "indices", "size|shape"});
  const Tensor values = args.RequireTensor(3);
  const Tensor dense = args.RequireTensor(4);
  const int64_t nnz = args.IntOr(0, values.elements().Value().value_or(0));
  const std::optional<Tensor> indices = args.FindTensor(5);
  const std::optional<std::vector<int64_t>> size = args.FindInts(6);
  const std::optional<Tensor> rows = args.FindTensor(1);
  const std::optional<Tensor> columns = args.FindTensor(2);
  const bool by_rows = rows && columns && !indices;
  if (!by_rows && !(indices && size && !rows && !columns)) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (!(values.elements() == nnz) || dense.shape.size() != 2) {
    return Unpriced(Reason::kShapeMismatch);
  }
  SparseSizes sizes{0, dense.shape[1], dense.shape[0], nnz};
  if (by_rows) {
    if (rows->shape.size() != 1 || rows->shape[0] < 1 || !(columns->elements() == nnz)) {
      return Unpriced(Reason::kShapeMismatch);
    }
    sizes.m = rows->shape[0] - 1;
    return PricedSparse(sizes, values, dense, rows->bytes() + columns->bytes());
  }
  const bool fits = size->size() == 2 && (*size)[0] >= 0 && (*size)[1] == sizes.k &&
                    indices->shape.size() == 2 && indices->shape[0] == 2 &&
                    indices->shape[1] == nnz;
  if (!fits) return Unpriced(Reason::kShapeMismatch);
  sizes.m = (*size)[0];
  return PricedSparse(sizes, values, dense, indices->bytes());
}

// ---- 2:4 sparsity: two of four numbers along K are stored, with their positions ----

// 2MNK of the dense product, half of which hardware computes: `eff` in the parameters.
PriceResult PricedHalf(const Product& p, const Tensor& compressed, const Tensor& dense,
                       DType output, Checked extra_bytes, Checked vec) {
  const Checked mma = p.Flops(compressed, dense);
  const Work forward{
      mma, vec, compressed.bytes() + dense.bytes() + BytesOf(p.outputs(), output) + extra_bytes};
  PriceResult result = Priced(
      fmt::format("{},2:4,eff={}", ProductText(p, compressed.dtype), (mma / 2).Value().value_or(0)),
      forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  return result;
}

std::optional<int64_t> Doubled(int64_t extent) { return (Checked(extent) * 2).Value(); }

// _cslt_sparse_mm(A, B[K,N], bias[M], alpha, out_dtype, transpose_result, ..): A packs values and
// positions of [M,K] in one row: 9/16 of its elements of 2 bytes, 10/16 of those of 1 byte.
PriceResult PriceCslt(std::string_view, const OpCall& call) {
  const OpCall operands{
      call.mod,
      call.op,
      {call.args.begin(), call.args.begin() + std::min<std::ptrdiff_t>(6, std::ssize(call.args))}};
  CallArgs args(operands, {"compressed_A", "dense_B", "bias", "alpha", "out_dtype|dtype",
                           "transpose_result"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  const std::optional<Tensor> bias = args.FindTensor(2);
  const std::optional<Tensor> alpha = args.FindTensor(3);
  const DType output = args.DTypeOr(4, b.dtype);
  if (args.failed()) return Unpriced(args.reason());
  if (b.shape.size() != 2 || b.shape[0] == 0) return Unpriced(Reason::kShapeMismatch);
  constexpr int kByte = 8;
  const int64_t sixteenths = BitsOf(a.dtype) == kByte ? 10 : 9;
  const auto rows = (a.elements() * 16 / sixteenths / b.shape[0]).Value();
  if (!rows) return Unpriced(Reason::kCostOverflow);
  const Product p{1, *rows, b.shape[1], b.shape[0]};
  Checked extra;
  Checked vec;
  if (bias) {
    extra += bias->bytes();
    vec += p.outputs();
  }
  if (alpha && !alpha->number) extra += alpha->bytes();
  return PricedHalf(p, a, b, output, extra, vec);
}

// _sparse_semi_structured_linear(x[..,K], w[N,K/2], positions, bias, activation, out_dtype)
PriceResult PriceHalfLinear(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "weight", "meta", "bias", "activation", "out_dtype|dtype"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const Tensor meta = args.RequireTensor(2);
  const std::optional<Tensor> bias = args.FindTensor(3);
  const DType output = args.DTypeOr(5, x.dtype);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.empty() || w.shape.size() != 2 || Doubled(w.shape[1]) != x.shape.back() ||
      (bias && !(bias->elements() == w.shape[0]))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const auto rows = Elements(x.shape.first(x.shape.size() - 1)).Value();
  if (!rows) return Unpriced(Reason::kCostOverflow);
  const Product p{1, *rows, w.shape[0], x.shape.back()};
  return PricedHalf(p, w, x, output, meta.bytes() + (bias ? bias->bytes() : Checked(0)),
                    bias ? p.outputs() : Checked(0));
}

// _sparse_semi_structured_mm(a[M,K/2], positions, b[K,N], out_dtype); with a leading operand c[M]
// that is added, _sparse_semi_structured_addmm.
PriceResult PriceHalfMm(std::string_view op, const OpCall& call) {
  const bool adds = op == "_sparse_semi_structured_addmm";
  CallArgs args = adds ? CallArgs(call, {"mat1", "mat1_meta", "mat2", "out_dtype|dtype", "input",
                                         "alpha", "beta"})
                       : CallArgs(call, {"mat1", "mat1_meta", "mat2", "out_dtype|dtype"});
  const Tensor a = args.RequireTensor(0);
  const Tensor meta = args.RequireTensor(1);
  const Tensor b = args.RequireTensor(2);
  const std::optional<Tensor> c = adds ? args.FindTensor(4) : std::nullopt;
  const double alpha = adds ? args.NumberOr(5, 1) : 1;
  const double beta = adds ? args.NumberOr(6, 1) : 0;
  const DType output = args.DTypeOr(3, b.dtype);
  if (adds && !c) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (a.shape.size() != 2 || b.shape.size() != 2 || Doubled(a.shape[1]) != b.shape[0]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Product p{1, a.shape[0], b.shape[1], b.shape[0]};
  Checked vec;
  Checked extra = meta.bytes();
  if (beta != 0) {
    vec += p.outputs() * (beta == 1 ? 1 : 2);
    extra += c->bytes();
  }
  if (alpha != 1) vec += p.outputs();
  return PricedHalf(p, a, b, output, extra, vec);
}

// addmm takes the addend first.
PriceResult PriceHalfAddmm(std::string_view op, const OpCall& call) {
  OpCall named = call;
  constexpr std::string_view kSparseNames[] = {"input", "mat1", "mat1_meta", "mat2"};
  size_t position = 0;
  for (OpArg& arg : named.args) {
    if (!arg.name.empty()) continue;
    if (position == std::size(kSparseNames)) return Unpriced(Reason::kUnsupportedArgs);
    arg.name = kSparseNames[position++];
  }
  return PriceHalfMm(op, named);
}

constexpr std::string_view kSparseNames[] = {"sparse_mm"};
constexpr std::string_view kCsltNames[] = {"_cslt_sparse_mm"};
constexpr std::string_view kHalfLinearNames[] = {"_sparse_semi_structured_linear"};
constexpr std::string_view kHalfMmNames[] = {"_sparse_semi_structured_mm"};
constexpr std::string_view kHalfAddmmNames[] = {"_sparse_semi_structured_addmm"};
constexpr OpModel kSparseModels[] = {{kSparseNames, PriceSparseMm},
                                     {kCsltNames, PriceCslt},
                                     {kHalfLinearNames, PriceHalfLinear},
                                     {kHalfMmNames, PriceHalfMm},
                                     {kHalfAddmmNames, PriceHalfAddmm}};

}  // namespace

std::span<const OpModel> SparseOps() { return kSparseModels; }

}  // namespace oplens::ops
