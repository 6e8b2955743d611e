// Ops that select elements by index: they read indices and elements and write the elements.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Repeated elements are read once, so at most the whole x is.
Checked ReadGatherBytes(const Tensor& x, Checked picked) {
  return BytesOf(Least(picked, x.elements()), x.dtype);
}

// Backward: dY is added to the selected elements of a dense dX, which is written whole.
PriceResult PricedGather(std::string params, const Tensor& x, const Tensor& index, Checked picked) {
  const Checked picked_bytes = BytesOf(picked, x.dtype);
  const Work forward{0, 0, index.bytes() + ReadGatherBytes(x, picked) + picked_bytes};
  if (!x.Differentiable()) return Priced(std::move(params), forward, std::vector<PartWork>());
  return Priced(std::move(params), forward,
                Work{0, picked, index.bytes() + picked_bytes + x.bytes()});
}

// index_select(x, dim, index): whole slices.
PriceResult PriceIndexSelect(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "dim", "index"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  // A vector has only one dimension, recorded or not.
  const bool recorded = args.Find(1) != nullptr && args.Find(1)->kind != OpArg::Kind::kOther;
  if (!recorded && (args.Find(1) == nullptr || x.shape.size() > 1)) {
    args.Fail(Reason::kUnsupportedArgs);
  }
  const std::optional<size_t> dim =
      recorded ? DimIndex(args.IntOr(1, 0), x.shape.size()) : std::optional<size_t>(0);
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (!dim || index.shape.size() > 1) return Unpriced(Reason::kShapeMismatch);
  Checked picked = index.elements();
  for (size_t i = 0; i < x.shape.size(); ++i) picked *= i == *dim ? 1 : x.shape[i];
  const std::string params = fmt::format("T={},D={},I={},{}", TupleText(x.shape), *dim,
                                         index.elements().Value().value_or(0), DTypeWord(x.dtype));
  return PricedGather(params, x, index, picked);
}

// gather(x, dim, index): one element per index.
PriceResult LocalPriceGather(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "dim", "index", "sparse_grad"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  if (args.Find(1) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  // An unrecorded dimension does not affect the cost.
  const bool recorded = args.Find(1) != nullptr && args.Find(1)->kind != OpArg::Kind::kOther;
  const bool fits = !recorded || DimIndex(args.IntOr(1, 0), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (!fits || index.shape.size() != x.shape.size()) return Unpriced(Reason::kShapeMismatch);
  return PricedGather(NamedTensorText(x), x, index, index.elements());
}

// take(x, index): as gather, from the flattened x.
PriceResult PriceTake(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "index"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  return PricedGather(NamedTensorText(x), x, index, index.elements());
}

// take_along_dim(x, indices, dim): as gather, others broadcast; without a dimension as take.
PriceResult PriceTakeAlongDim(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "indices", "dim"});
  const Tensor x = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(1);
  const bool has_dim = args.Find(2) != nullptr;
  const std::optional<size_t> dim = DimIndex(args.IntOr(2, 0), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (!has_dim) return PricedGather(NamedTensorText(x), x, index, index.elements());
  if (!dim || index.shape.size() != x.shape.size()) return Unpriced(Reason::kShapeMismatch);
  std::vector<int64_t> others(x.shape.begin(), x.shape.end());
  if (!others.empty()) others[*dim] = 1;
  const auto shape = Broadcast({Shape(others), index.shape});
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  return PricedGather(NamedTensorText(x), x, index, Elements(*shape));
}

// The tensors of a keyword.
std::vector<Tensor> TensorsNamed(const OpCall& call, std::string_view name) {
  std::vector<Tensor> tensors;
  Reason ignored;
  for (const OpArg& arg : call.args) {
    if (arg.name != name || arg.kind != OpArg::Kind::kTensor) continue;
    if (const auto tensor = TensorOf(arg, &ignored)) tensors.push_back(*tensor);
  }
  return tensors;
}

// x[..] with unrecorded indices: 0 FLOPs in any case. Bytes are known if the result is (`output`),
// with those indices that are recorded (`indices`).
PriceResult PriceUnrecordedIndex(const Tensor& x, const OpCall& call) {
  const std::vector<Tensor> output = TensorsNamed(call, "output");
  const Checked picked = output.empty() ? Checked(0) : output.front().elements();
  Checked index_bytes;
  for (const Tensor& index : TensorsNamed(call, "indices")) index_bytes += index.bytes();
  const Checked bytes = BytesOf(picked, x.dtype);
  std::vector<PartWork> backward;
  if (x.Differentiable() && !output.empty()) {
    backward.push_back({Part::kBackward, {0, picked, index_bytes + bytes + x.bytes()}});
  }
  PriceResult result =
      Priced(NamedTensorText(x), {0, 0, index_bytes + ReadGatherBytes(x, picked) + bytes},
             std::move(backward));
  result.price->bytes_known = !output.empty();
  result.price->why_no_bytes = Reason::kUnsupportedArgs;
  return result;
}

// index(x, indices..): x[i, j, ..].
PriceResult PriceIndex(std::string_view, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  if (call.args.size() < 2) return Unpriced(reason);
  const std::optional<Tensor> x = TensorOf(call.args.front(), &reason);
  if (!x) return Unpriced(reason);
  const bool recorded = std::any_of(call.args.begin() + 1, call.args.end(), [](const OpArg& arg) {
    return arg.name.empty() && arg.kind != OpArg::Kind::kOther;
  });
  if (!recorded) return PriceUnrecordedIndex(*x, call);
  const std::span<const OpArg> indices(call.args.data() + 1, call.args.size() - 1);
  const std::optional<Picked> picked = PickedByIndices(*x, indices, &reason);
  if (!picked) return Unpriced(reason);
  const Checked bytes = BytesOf(picked->elements, x->dtype);
  const Work forward{0, 0, picked->index_bytes + ReadGatherBytes(*x, picked->elements) + bytes};
  if (!x->Differentiable()) return Priced(NamedTensorText(*x), forward, std::vector<PartWork>());
  return Priced(NamedTensorText(*x), forward,
                Work{0, picked->elements, picked->index_bytes + bytes + x->bytes()});
}

// masked_select(x, mask): the number of kept elements is not recorded, so all are counted.
PriceResult PriceMaskedSelect(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mask"});
  const Tensor x = args.RequireTensor(0);
  const Tensor mask = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast({x.shape, mask.shape});
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked kept = BytesOf(Elements(*shape), x.dtype);
  const Work work{0, 0, x.bytes() + mask.bytes() + kept};
  return x.Differentiable() ? Priced(NamedTensorText(x), work, work)
                            : Priced(NamedTensorText(x), work, std::vector<PartWork>());
}

// nonzero(x), argwhere(x): the number of nonzero elements is not recorded, so no output is counted.
PriceResult PriceNonzero(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "as_tuple"});
  const Tensor x = args.RequireTensor(0);
  if (args.failed()) return Unpriced(args.reason());
  return Priced(NamedTensorText(x), {0, 0, x.bytes()}, std::vector<PartWork>());
}

constexpr std::string_view kIndexSelectNames[] = {"index_select"};
constexpr std::string_view kLocalGatherNames[] = {"gather"};
constexpr std::string_view kTakeNames[] = {"take"};
constexpr std::string_view kTakeAlongDimNames[] = {"take_along_dim"};
constexpr std::string_view kIndexNames[] = {"index", "_unsafe_index"};
constexpr std::string_view kMaskedSelectNames[] = {"masked_select"};
constexpr std::string_view kNonzeroNames[] = {"nonzero", "argwhere"};
constexpr OpModel kGatherModels[] = {
    {kIndexSelectNames, PriceIndexSelect},
    {kLocalGatherNames, LocalPriceGather},
    {kTakeNames, PriceTake},
    {kTakeAlongDimNames, PriceTakeAlongDim},
    {kIndexNames, PriceIndex},
    {kMaskedSelectNames, PriceMaskedSelect},
    {kNonzeroNames, PriceNonzero},
};

}  // namespace

std::span<const OpModel> GatherOps() { return kGatherModels; }

}  // namespace oplens::ops
