// Ops that pick elements by index: the indices and the picked elements are read, the latter
// written.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Backward: dY is added to the picked elements of a dense dX, which is written whole.
PriceResult PricedGather(std::string params, const Tensor& x, const Tensor& index, Checked picked) {
  const Checked picked_bytes = BytesOf(picked, x.dtype);
  const Work forward{0, 0, index.bytes() + picked_bytes * 2};
  if (!x.Differentiable()) return Priced(std::move(params), forward, std::vector<PartWork>());
  return Priced(std::move(params), forward,
                Work{0, picked, index.bytes() + picked_bytes + x.bytes()});
}

bool IsInteger(const Tensor& tensor) { return CategoryOf(tensor.dtype) == DTypeCategory::kInteger; }

// index_select(x, dim, index): whole slices.
PriceResult PriceIndexSelect(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "dim", "index"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  if (args.Find(1) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const std::optional<size_t> dim = DimIndex(args.IntOr(1, 0), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!IsInteger(index)) return Unpriced(Reason::kUnsupportedArgs);
  if (!dim || index.shape.size() > 1) return Unpriced(Reason::kShapeMismatch);
  Checked picked = index.elements();
  for (size_t i = 0; i < x.shape.size(); ++i) picked *= i == *dim ? 1 : x.shape[i];
  const std::string params = fmt::format("T={},D={},I={},{}", TupleText(x.shape), *dim,
                                         index.elements().Value().value_or(0), DTypeWord(x.dtype));
  return PricedGather(params, x, index, picked);
}

// gather(x, dim, index): an element an index.
PriceResult PriceGather(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "dim", "index", "sparse_grad"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  if (args.Find(1) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const std::optional<size_t> dim = DimIndex(args.IntOr(1, 0), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!IsInteger(index)) return Unpriced(Reason::kUnsupportedArgs);
  if (!dim || index.shape.size() != x.shape.size()) return Unpriced(Reason::kShapeMismatch);
  return PricedGather(NamedTensorText(x), x, index, index.elements());
}

// take(x, index): as gather, of the flattened x.
PriceResult PriceTake(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "index"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (!IsInteger(index)) return Unpriced(Reason::kUnsupportedArgs);
  return PricedGather(NamedTensorText(x), x, index, index.elements());
}

// How much these write depends on the values, which no annotation records.
PriceResult PriceByValue(std::string_view, const OpCall&) {
  return Unpriced(Reason::kUnsupportedArgs);
}

constexpr std::string_view kIndexSelectNames[] = {"index_select"};
constexpr std::string_view kGatherNames[] = {"gather"};
constexpr std::string_view kTakeNames[] = {"take"};
constexpr std::string_view kByValueNames[] = {"masked_select", "nonzero"};
constexpr OpModel kModels[] = {
    {kIndexSelectNames, PriceIndexSelect},
    {kGatherNames, PriceGather},
    {kTakeNames, PriceTake},
    {kByValueNames, PriceByValue},
};

}  // namespace

std::span<const OpModel> GatherOps() { return kModels; }

}  // namespace oplens::ops
