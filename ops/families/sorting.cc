// Sorting, selection by rank, and searching.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Comparisons to find a place among n: ceil(log2 n).
int64_t CeilLog2(int64_t n) {
  int64_t bits = 0;
  for (int64_t rest = n - 1; rest > 0; rest /= 2) ++bits;
  return bits;
}

int64_t Extent(Shape shape, size_t dim) { return shape.empty() ? 1 : shape[dim]; }

Checked ElementsBut(Shape shape, size_t dim) {
  Checked elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) elements *= i == dim ? 1 : shape[i];
  return elements;
}

// Values and their int64 indices are written. Backward: dY goes to the places that the indices name
// in a dX that is written whole.
PriceResult PricedSelection(const Tensor& x, Checked flops, Checked outputs) {
  const Checked values = BytesOf(outputs, x.dtype);
  const Checked indices = BytesOf(outputs, DType::kInt64);
  const Work forward{0, flops, x.bytes() + values + indices};
  if (!x.Differentiable()) return Priced(NamedTensorText(x), forward, std::vector<PartWork>());
  return Priced(NamedTensorText(x), forward, Work{0, 0, values + indices + x.bytes()});
}

// The dimension of a parameter, by default the last one.
std::optional<size_t> FindDim(CallArgs* args, size_t parameter, const Tensor& x,
                              int64_t absent = -1) {
  const int64_t dim = args->IntOr(parameter, absent);
  return args->failed() ? std::nullopt : DimIndex(dim, x.shape.size());
}

// ---- sorting ----

PriceResult PricedSort(CallArgs* args, const Tensor& x, std::optional<size_t> dim) {
  if (args->failed()) return Unpriced(args->reason());
  if (!dim) return Unpriced(Reason::kShapeMismatch);
  const Checked n = x.elements();
  return PricedSelection(x, n * CeilLog2(Extent(x.shape, *dim)), n);
}

// sort(x, dim, descending, stable) and argsort; sort.stable has `stable` first, as a truth value.
PriceResult PriceSort(std::string_view op, const OpCall& call) {
  const bool stable_first =
      call.args.size() > 1 && call.args[1].kind == OpArg::Kind::kBool && call.args[1].name.empty();
  CallArgs args = stable_first ? CallArgs(call, {"input|self", "stable", "dim|axis", "descending"})
                               : CallArgs(call, {"input|self", "dim|axis", "descending", "stable"});
  const Tensor x = args.RequireTensor(0);
  const std::optional<size_t> dim =
      op == "msort" ? DimIndex(0, x.shape.size()) : FindDim(&args, stable_first ? 2 : 1, x);
  return PricedSort(&args, x, dim);
}

// topk(x, k, dim, largest, sorted)
PriceResult PriceTopK(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "k", "dim|axis", "largest", "sorted"});
  const Tensor x = args.RequireTensor(0);
  const int64_t k = args.IntOr(1, -1);
  const std::optional<size_t> dim = FindDim(&args, 2, x);
  if (k < 0) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (!dim || k > Extent(x.shape, *dim)) return Unpriced(Reason::kShapeMismatch);
  return PricedSelection(x, x.elements(), ElementsBut(x.shape, *dim) * k);
}

// One value of each row: kthvalue(x, k, dim), mode(x, dim), median(x, dim); median(x) of all has no
// index.
PriceResult PriceRank(std::string_view op, const OpCall& call) {
  const bool kth = op == "kthvalue";
  CallArgs args = kth ? CallArgs(call, {"input|self", "k", "dim|axis", "keepdim"})
                      : CallArgs(call, {"input|self", "dim|axis", "keepdim"});
  const Tensor x = args.RequireTensor(0);
  const size_t parameter = kth ? 2 : 1;
  const std::optional<size_t> dim = FindDim(&args, parameter, x);
  const int64_t k = kth ? args.IntOr(1, 0) : 1;
  if (args.failed()) return Unpriced(args.reason());
  if (!dim || k < 1 || k > Extent(x.shape, *dim)) return Unpriced(Reason::kShapeMismatch);
  const bool all = op.ends_with("median") && args.Find(parameter) == nullptr;
  if (!all) return PricedSelection(x, x.elements(), ElementsBut(x.shape, *dim));
  const Work forward{0, x.elements(), x.bytes() + BytesOf(1, x.dtype)};
  if (!x.Differentiable()) return Priced(NamedTensorText(x), forward, std::vector<PartWork>());
  return Priced(NamedTensorText(x), forward,
                Work{0, x.elements(), x.bytes() * 2 + BytesOf(2, x.dtype)});
}

// value_selecting_reduction_backward(dY, dim, indices, sizes, keepdim), the gradient of all that
// pick values by index: dX has the sizes.
PriceResult PriceSelectionGradient(std::string_view, const OpCall& call) {
  CallArgs args(call, {"grad", "dim", "indices", "sizes", "keepdim"});
  const Tensor dy = args.RequireTensor(0);
  const Tensor indices = args.RequireTensor(2);
  const auto sizes = args.FindInts(3);
  if (!sizes) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  for (const int64_t size : *sizes) {
    if (size < 0) return Unpriced(Reason::kUnsupportedArgs);
  }
  if (!(dy.elements() == indices.elements())) return Unpriced(Reason::kShapeMismatch);
  return Priced(NamedTensorText(dy),
                {0, 0, dy.bytes() + indices.bytes() + BytesOf(Elements(*sizes), dy.dtype)},
                std::vector<PartWork>());
}

// ---- counting and searching ----

// unique: sorts all elements (unique_consecutive compares neighbours); at most all are different.
PriceResult PriceUnique(std::string_view op, const OpCall& call) {
  const bool by_dim = op == "unique_dim";
  const bool consecutive = op == "unique_consecutive";
  CallArgs args =
      by_dim ? CallArgs(call, {"input|self", "dim", "sorted", "return_inverse", "return_counts"})
      : consecutive
          ? CallArgs(call, {"input|self", "return_inverse", "return_counts", "dim"})
          : CallArgs(call, {"input|self", "sorted", "return_inverse", "return_counts", "dim"});
  const Tensor x = args.RequireTensor(0);
  const size_t inverse = by_dim ? 3 : consecutive ? 1 : 2;
  const int results =
      (args.BoolOr(inverse, false) ? 1 : 0) + (args.BoolOr(inverse + 1, false) ? 1 : 0);
  if (args.failed()) return Unpriced(args.reason());
  const Checked n = x.elements();
  const int64_t compares = consecutive ? 1 : CeilLog2(n.Value().value_or(1));
  return Priced(NamedTensorText(x),
                {0, n * compares, x.bytes() * 2 + BytesOf(n * results, DType::kInt64)},
                std::vector<PartWork>());
}

// bincount(x, weights, minlength): how many bins there are hangs on the values; at least minlength.
PriceResult PriceBinCount(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "weights", "minlength"});
  const Tensor x = args.RequireTensor(0);
  const std::optional<Tensor> weights = args.FindTensor(1);
  const int64_t bins = args.IntOr(2, 0);
  if (bins < 0) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (!x.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (x.shape.size() > 1 || (weights && !(weights->elements() == x.elements()))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked counts = BytesOf(bins, weights ? weights->dtype : DType::kInt64);
  return Priced(NamedTensorText(x),
                {0, x.elements(), x.bytes() + (weights ? weights->bytes() : Checked(0)) + counts},
                std::vector<PartWork>());
}

// histc(x, bins, min, max)
PriceResult PriceHistogram(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "bins", "min", "max"});
  const Tensor x = args.RequireTensor(0);
  const int64_t bins = args.IntOr(1, 100);
  if (bins <= 0) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  return Priced(NamedTensorText(x), {0, x.elements(), x.bytes() + BytesOf(bins, x.dtype)},
                std::vector<PartWork>());
}

PriceResult PricedSearch(CallArgs* args, const Tensor& sorted, const Tensor& x, bool int32) {
  if (args->failed()) return Unpriced(args->reason());
  if (sorted.shape.empty()) return Unpriced(Reason::kShapeMismatch);
  const Tensor operands[] = {x, sorted};
  const Checked n = x.elements();
  const Checked bytes = (x.number ? Checked(0) : x.bytes()) + sorted.bytes() +
                        BytesOf(n, int32 ? DType::kInt32 : DType::kInt64);
  return Priced(TensorsText(operands), {0, n * CeilLog2(sorted.shape.back()), bytes},
                std::vector<PartWork>());
}

// searchsorted(sorted[..,m], x, out_int32, right): a place among m for each element.
PriceResult PriceSearchSorted(std::string_view, const OpCall& call) {
  CallArgs args(call, {"sorted_sequence", "input|self", "out_int32", "right", "side", "sorter"});
  const Tensor sorted = args.RequireTensor(0);
  const Tensor x = args.RequireTensor(1);
  const bool int32 = args.BoolOr(2, false);
  const Shape rows =
      sorted.shape.empty() ? sorted.shape : sorted.shape.first(sorted.shape.size() - 1);
  // A sequence each row, or one for all.
  if (!args.failed() && !rows.empty() &&
      (x.shape.size() != sorted.shape.size() || !Covers(rows, x.shape.first(rows.size())))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  return PricedSearch(&args, sorted, x, int32);
}

// bucketize(x, boundaries, out_int32, right)
PriceResult PriceBucketize(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "boundaries", "out_int32", "right"});
  const Tensor x = args.RequireTensor(0);
  const Tensor boundaries = args.RequireTensor(1);
  const bool int32 = args.BoolOr(2, false);
  if (!args.failed() && boundaries.shape.size() != 1) return Unpriced(Reason::kShapeMismatch);
  return PricedSearch(&args, boundaries, x, int32);
}

constexpr std::string_view kSortNames[] = {"sort", "argsort", "msort"};
constexpr std::string_view kTopKNames[] = {"topk"};
constexpr std::string_view kRankNames[] = {"kthvalue", "median", "nanmedian", "mode"};
constexpr std::string_view kUniqueNames[] = {"unique", "_unique", "_unique2", "unique_dim",
                                             "unique_consecutive"};
constexpr std::string_view kBinCountNames[] = {"bincount"};
constexpr std::string_view kHistogramNames[] = {"histc"};
constexpr std::string_view kSearchNames[] = {"searchsorted"};
constexpr std::string_view kBucketizeNames[] = {"bucketize"};
constexpr OpModel kSortingModels[] = {
    {kSortNames, PriceSort},           {kTopKNames, PriceTopK},
    {kRankNames, PriceRank},           {kUniqueNames, PriceUnique},
    {kBinCountNames, PriceBinCount},   {kHistogramNames, PriceHistogram},
    {kSearchNames, PriceSearchSorted}, {kBucketizeNames, PriceBucketize},
};
// Under which value_selecting_reduction_backward is looked up.
constexpr std::string_view kSortingGradientNames[] = {"sort"};
constexpr OpModel kSortingGradients[] = {{kSortingGradientNames, PriceSelectionGradient}};

}  // namespace

std::span<const OpModel> SortingOps() { return kSortingModels; }

std::span<const OpModel> SortingGradients() { return kSortingGradients; }

}  // namespace oplens::ops
