// Ops that write elements by index: reads indices and source, writes the indexed elements, and
// reads them if values are added. Out of place, the whole tensor is copied first.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/op_name.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

struct Scatter {
  Tensor target;
  Checked index_bytes;
  std::optional<Tensor> source;  // Absent: a number.
  Checked count;                 // Elements written, including repeats.
  bool adds = false;             // Otherwise replaces.
};

// Several indices may address one element.
Checked Touched(const Scatter& scatter) { return Least(scatter.count, scatter.target.elements()); }

Checked SourceBytes(const Scatter& scatter) {
  return scatter.source ? BytesOf(scatter.count, scatter.source->dtype) : Checked(0);
}

Work ScatterForward(const Scatter& scatter, bool in_place) {
  const Checked touched = BytesOf(Touched(scatter), scatter.target.dtype);
  Work work{0, scatter.adds ? scatter.count : Checked(0),
            scatter.index_bytes + SourceBytes(scatter) + touched * (scatter.adds ? 2 : 1)};
  if (!in_place) work.bytes += scatter.target.bytes() * 2;
  return work;
}

// The source's gradient is gathered from dY. The target's is dY; if elements were replaced, a copy
// of it with zeros in their place.
Work ScatterBackward(const Scatter& scatter) {
  Work work;
  const bool source = scatter.source && scatter.source->Differentiable();
  if (source) {
    work.bytes +=
        scatter.index_bytes + BytesOf(scatter.count, scatter.target.dtype) + SourceBytes(scatter);
  }
  if (!scatter.adds) {
    work.bytes += scatter.target.bytes() * 2 + (source ? Checked(0) : scatter.index_bytes) +
                  BytesOf(Touched(scatter), scatter.target.dtype);
  }
  return work;
}

PriceResult PricedScatter(const Scatter& scatter, const OpCall& call) {
  const Work forward = ScatterForward(scatter, ParseOpName(call.op).in_place);
  std::string params = NamedTensorText(scatter.target);
  PriceResult result = scatter.target.Differentiable()
                           ? Priced(std::move(params), forward, ScatterBackward(scatter))
                           : Priced(std::move(params), forward, std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

// A recorded dimension must be valid; it does not affect the cost.
void CheckDim(CallArgs* args, size_t parameter, const Tensor& tensor) {
  const OpArg* arg = args->Find(parameter);
  if (arg == nullptr || arg->kind == OpArg::Kind::kOther) return;
  const int64_t dim = args->IntOr(parameter, 0);
  if (!args->failed() && !DimIndex(dim, tensor.shape.size())) args->Fail(Reason::kShapeMismatch);
}

std::optional<Tensor> SourceOf(CallArgs* args, size_t parameter) {
  if (args->Find(parameter) == nullptr || args->Find(parameter)->kind != OpArg::Kind::kTensor) {
    return std::nullopt;
  }
  return args->FindTensor(parameter);
}

bool IsNamed(const OpArg* arg, std::initializer_list<std::string_view> words) {
  return arg != nullptr && arg->kind == OpArg::Kind::kString &&
         std::find(words.begin(), words.end(), arg->text) != words.end();
}

// scatter(self, dim, index, src), scatter_add, scatter_reduce: one element per index; only as many
// elements of src as there are indices are read.
PriceResult PriceScatter(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input|self", "dim", "index", "src|value", "reduce", "include_self"});
  const Tensor target = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  const bool scalar = args.Find(3) == nullptr || IsNumber(*args.Find(3));
  const std::optional<Tensor> source = SourceOf(&args, 3);
  CheckDim(&args, 1, target);
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (op != "scatter" && !source && !scalar) return Unpriced(Reason::kUnsupportedArgs);
  if (op != "scatter" && args.Find(3) == nullptr) return Unpriced(Reason::kUnsupportedArgs);
  const size_t rank = std::max<size_t>(target.shape.size(), 1);
  if (std::max<size_t>(index.shape.size(), 1) != rank) return Unpriced(Reason::kShapeMismatch);
  if (source && !Covers(source->shape, index.shape)) return Unpriced(Reason::kShapeMismatch);
  const bool adds = op != "scatter" || IsNamed(args.Find(4), {"add", "multiply"});
  return PricedScatter({target, index.bytes(), source, index.elements(), adds}, call);
}

// index_add(self, dim, index, source), index_copy, index_fill, index_reduce: whole slices.
PriceResult PriceIndexSlices(std::string_view op, const OpCall& call) {
  const bool fill = op == "index_fill";
  CallArgs args(call,
                {"input|self", "dim", "index", "source|tensor|value", "alpha|reduce", "include"});
  const Tensor target = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(2);
  const std::optional<Tensor> source = SourceOf(&args, 3);
  CheckDim(&args, 1, target);
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (index.shape.size() > 1) return Unpriced(Reason::kShapeMismatch);
  if (fill) {
    const std::optional<Checked> count = SliceElements(args, 1, target, index);
    if (!count) return Unpriced(Reason::kUnsupportedArgs);
    return PricedScatter({target, index.bytes(), std::nullopt, *count, false}, call);
  }
  if (!source) return Unpriced(Reason::kUnsupportedArgs);
  const std::optional<Checked> count = SliceElements(args, 1, target, index);
  if (count && !(*count == source->elements())) return Unpriced(Reason::kShapeMismatch);
  PriceResult result =
      PricedScatter({target, index.bytes(), source, source->elements(), op != "index_copy"}, call);
  const OpArg* alpha = args.Find(4);
  if (op == "index_add" && alpha != nullptr && IsNumber(*alpha) && NumberOf(*alpha) != 1) {
    result.price->forward.front().work.vec += source->elements();
  }
  return result;
}

// index_put(self, indices.., values, accumulate): the last tensor is the values, those before it
// the indices; None keeps a whole dimension.
PriceResult PriceIndexPut(std::string_view, const OpCall& call) {
  std::vector<OpArg> positional;
  bool accumulate = false;
  for (const OpArg& arg : call.args) {
    if (arg.name == "accumulate" || arg.kind == OpArg::Kind::kBool) {
      if (arg.name != "unsafe" && arg.int_value != 0) accumulate = true;
      if (arg.kind != OpArg::Kind::kBool) return Unpriced(Reason::kUnsupportedArgs);
      if (arg.name.empty()) break;  // Only `unsafe` follows accumulate.
    } else {
      positional.push_back(arg);
    }
  }
  while (!positional.empty() && positional.back().kind != OpArg::Kind::kTensor &&
         !IsNumber(positional.back())) {
    if (positional.back().kind != OpArg::Kind::kNone) return Unpriced(Reason::kUnsupportedArgs);
    positional.pop_back();
  }
  if (positional.size() < 3) return Unpriced(Reason::kUnsupportedArgs);
  Reason reason;
  const std::optional<Tensor> target = TensorOf(positional.front(), &reason);
  const std::optional<Tensor> values = TensorOf(positional.back(), &reason);
  if (!target || !values) return Unpriced(reason);
  const std::span<const OpArg> indices(positional.data() + 1, positional.size() - 2);
  const std::optional<Picked> picked = PickedByIndices(*target, indices, &reason);
  if (!picked) return Unpriced(reason);
  // Broadcast values are read as stored.
  const Work stored{0, 0, values->number ? Checked(0) : values->bytes()};
  Scatter scatter{*target, picked->index_bytes, std::nullopt, picked->elements, accumulate};
  PriceResult result = PricedScatter(scatter, call);
  result.price->forward.front().work.bytes += stored.bytes;
  if (!result.price->backward.empty() && values->Differentiable()) {
    Work& work = result.price->backward.front().work;
    work.bytes += picked->index_bytes * (accumulate ? 1 : 0) +
                  BytesOf(picked->elements, target->dtype) + values->bytes();
    if (!(values->elements() == picked->elements)) work.vec += picked->elements;
  }
  return result;
}

// put(self, index, source, accumulate): on the flattened self.
PriceResult PricePut(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "index", "source", "accumulate"});
  const Tensor target = args.RequireTensor(0);
  const Tensor index = args.RequireTensor(1);
  const Tensor source = args.RequireTensor(2);
  const bool accumulate = args.BoolOr(3, false);
  if (args.failed()) return Unpriced(args.reason());
  if (!index.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (!(index.elements() == source.elements())) return Unpriced(Reason::kShapeMismatch);
  return PricedScatter({target, index.bytes(), source, index.elements(), accumulate}, call);
}

// masked_scatter(self, mask, source): the mask's count is not recorded: at most all of both.
PriceResult PriceMaskedScatter(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "mask", "source"});
  const Tensor target = args.RequireTensor(0);
  const Tensor mask = args.RequireTensor(1);
  const Tensor source = args.RequireTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast({target.shape, mask.shape});
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked count = Least(Elements(*shape), source.elements());
  return PricedScatter({target, mask.bytes(), source, count, false}, call);
}

constexpr std::string_view kScatterNames[] = {"scatter", "scatter_add", "scatter_reduce"};
constexpr std::string_view kSliceNames[] = {"index_add", "index_copy", "index_fill",
                                            "index_reduce"};
constexpr std::string_view kPutNames[] = {"index_put", "_index_put_impl", "_unsafe_index_put"};
constexpr std::string_view kFlatPutNames[] = {"put"};
constexpr std::string_view kMaskedNames[] = {"masked_scatter"};
constexpr OpModel kScatterModels[] = {
    {kScatterNames, PriceScatter},      {kSliceNames, PriceIndexSlices}, {kPutNames, PriceIndexPut},
    {kMaskedNames, PriceMaskedScatter}, {kFlatPutNames, PricePut},
};

}  // namespace

std::span<const OpModel> ScatterOps() { return kScatterModels; }

}  // namespace oplens::ops
