// Products with sparse operands.

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Y[M,N] = S[M,K] D[K,N] with S in compressed rows: its offsets, columns and values, and D, are
// read, Y is written. One multiply-add for each value and column of D.
PriceResult PriceSparseMm(std::string_view, const OpCall& call) {
  CallArgs args(call, {"nnz", "crow", "col", "val", "dense|mat2"});
  const Tensor rows = args.RequireTensor(1);
  const Tensor columns = args.RequireTensor(2);
  const Tensor values = args.RequireTensor(3);
  const Tensor dense = args.RequireTensor(4);
  if (args.failed()) return Unpriced(args.reason());
  if (rows.shape.size() != 1 || rows.shape[0] < 1 || dense.shape.size() != 2) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t recorded = args.IntOr(0, values.elements().Value().value_or(0));
  if (args.failed()) return Unpriced(args.reason());
  if (!(values.elements() == recorded) || recorded < 0) return Unpriced(Reason::kShapeMismatch);
  const int64_t m = rows.shape[0] - 1;
  const int64_t n = dense.shape[1];
  const DType type = PromoteDTypes(values.dtype, dense.dtype);
  const int per_fma = CategoryOf(type) == DTypeCategory::kComplex ? 8 : 2;
  Work forward;
  forward.mma = Checked(recorded) * n * per_fma;
  forward.bytes = rows.bytes() + columns.bytes() + values.bytes() + dense.bytes() +
                  BytesOf(Checked(m) * n, type);
  PriceResult result = Priced(
      fmt::format("M={},N={},K={},nnz={},{}", n, m, dense.shape[0], recorded, DTypeWord(type)),
      forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  return result;
}

constexpr std::string_view kNames[] = {"sparse_mm"};
constexpr OpModel kModels[] = {{kNames, PriceSparseMm}};

}  // namespace

std::span<const OpModel> SparseOps() { return kModels; }

}  // namespace oplens::ops
