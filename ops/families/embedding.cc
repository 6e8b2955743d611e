// Embedding look-up: rows of a table by index.

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

bool IsInteger(const Tensor& tensor) { return CategoryOf(tensor.dtype) == DTypeCategory::kInteger; }

bool IsFunctional(const OpCall& call) {
  return call.mod == "torch.nn.functional" ||
         (!call.args.empty() && call.args.front().name == "weight");
}

PriceResult PriceEmbeddingLookup(const Tensor& indices, const Tensor& table, bool sparse) {
  if (table.shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
  const Checked picked = indices.elements() * table.shape[1];
  const Checked rows = BytesOf(picked, table.dtype);
  const Checked read = BytesOf(Least(picked, table.elements()), table.dtype);
  const Tensor tensors[] = {indices, table};
  // Forward: each row that is picked is read once, and written as often as it is picked. Backward:
  // each row of dY is added to the row of dW that it names; a dense dW is written whole, a sparse
  // one has only the picked rows.
  const Work backward{0, picked, indices.bytes() + rows + (sparse ? rows : table.bytes())};
  PriceResult result =
      Priced(TensorsText(tensors), {0, 0, indices.bytes() + read + rows}, backward);
  result.price->vec_estimated = false;
  return result;
}

// torch.nn.functional.embedding(input, weight, padding_idx, max_norm, norm_type,
// scale_grad_by_freq, sparse) but torch.embedding(weight, indices, padding_idx, scale_grad_by_freq,
// sparse): the operand of an integer type is the indices, and its place tells the two apart.
PriceResult PriceEmbedding(std::string_view, const OpCall& call) {
  CallArgs functional(call, {"input|indices", "weight", "padding_idx", "max_norm", "norm_type",
                             "scale_grad_by_freq", "sparse"});
  const Tensor first = functional.RequireTensor(0);
  const Tensor second = functional.RequireTensor(1);
  if (functional.failed()) return Unpriced(functional.reason());
  if (IsInteger(first) && IsInteger(second)) return Unpriced(Reason::kUnsupportedArgs);
  if (!first.MayBeInteger() && !second.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  // Types that were not recorded leave the place.
  const bool by_type = IsInteger(first) != IsInteger(second);
  if (by_type ? IsInteger(first) : IsFunctional(call)) {
    const bool sparse = functional.BoolOr(6, false);
    if (functional.failed()) return Unpriced(functional.reason());
    return PriceEmbeddingLookup(first, second, sparse);
  }
  CallArgs native(call, {"weight", "indices", "padding_idx", "scale_grad_by_freq", "sparse"});
  const bool sparse = native.BoolOr(4, false);
  if (native.failed()) return Unpriced(native.reason());
  return PriceEmbeddingLookup(second, first, sparse);
}

constexpr std::string_view kEmbeddingNames[] = {"embedding"};
constexpr OpModel kEmbeddingModels[] = {{kEmbeddingNames, PriceEmbedding}};

}  // namespace

std::span<const OpModel> EmbeddingOps() { return kEmbeddingModels; }

}  // namespace oplens::ops
