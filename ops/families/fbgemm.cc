// FBGEMM's operators on embedding tables: many tables in one operand, of which each sample picks
// rows by a list of indices and adds them up, and what prepares such lists.

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/families/norm_shapes.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// ---- look-ups ----

// Where the arguments of a look-up function stand, of which newer ones have one more in front.
struct Places {
  size_t weights;      // Of all tables one after another.
  size_t widths_ends;  // [tables + 1]: D_offsets
  size_t total;        // Of the widths: total_D
  size_t widest;       // max_D
  size_t indices;
  size_t offsets;  // [tables * samples + 1]
  size_t pooling;  // 0 sum, 1 mean, 2 none
  size_t index_weights;
};

constexpr Places kSplit{1, 6, 7, 8, 11, 12, 13, 14};
constexpr Places kDense{0, 2, 3, 4, 7, 8, 9, 10};
constexpr int64_t kNoPooling = 2;

struct FbgemmLookup {
  Tensor weights;
  Tensor indices;
  Tensor offsets;
  std::optional<Tensor> index_weights;
  int64_t tables = 0;
  int64_t samples = 0;
  int64_t total_width = 0;
  bool even = false;  // All rows are as wide.
  bool pooled = true;
  Checked picked;  // Elements of all rows that are picked; where rows differ, by their mean.
};

bool IsVector(const std::optional<Tensor>& tensor) { return tensor && tensor->shape.size() == 1; }

// Reads the arguments from `first` on; `output` is the result, where it is known.
std::optional<FbgemmLookup> ReadLookup(const OpCall& call, size_t first, bool dense,
                                       const std::optional<Tensor>& output) {
  const Places places = dense ? kDense : kSplit;
  // D_offsets is of int32 and has vectors around it; a place further in newer versions.
  const auto ends_at = [&](size_t shift) {
    const auto ends = TensorAt(call, first + shift + places.widths_ends);
    const auto indices = TensorAt(call, first + shift + places.indices);
    const auto offsets = TensorAt(call, first + shift + places.offsets);
    return IsVector(ends) && IsVector(indices) && IsVector(offsets) &&
           ends->dtype == DType::kInt32 && ends->shape[0] > 1 && offsets->shape[0] > 0;
  };
  const size_t shift = first + (ends_at(0) ? 0 : 1);
  if (!ends_at(shift - first)) return std::nullopt;
  FbgemmLookup lookup;
  const auto weights = TensorAt(call, shift + places.weights);
  lookup.indices = *TensorAt(call, shift + places.indices);
  lookup.offsets = *TensorAt(call, shift + places.offsets);
  lookup.index_weights = TensorAt(call, shift + places.index_weights);
  lookup.tables = TensorAt(call, shift + places.widths_ends)->shape[0] - 1;
  if (!weights || (lookup.offsets.shape[0] - 1) % lookup.tables != 0) return std::nullopt;
  lookup.weights = *weights;
  lookup.samples = (lookup.offsets.shape[0] - 1) / lookup.tables;
  const auto total = IntAt(call, shift + places.total);
  const auto widest = IntAt(call, shift + places.widest);
  const auto pooling = IntAt(call, shift + places.pooling);
  lookup.pooled = pooling.value_or(0) != kNoPooling;
  const bool told = output && output->shape.size() == 2;
  if (told && lookup.pooled && output->shape[0] != lookup.samples) return std::nullopt;
  if (!total && !(told && lookup.pooled)) return std::nullopt;
  lookup.total_width = total ? *total : output->shape[1];
  if (lookup.total_width < 0) return std::nullopt;
  lookup.even =
      lookup.tables == 1 || (widest && Checked(*widest) * lookup.tables == lookup.total_width);
  lookup.picked = lookup.indices.elements() * lookup.total_width / lookup.tables;
  return lookup;
}

std::string FbgemmParamsOf(const FbgemmLookup& lookup) {
  return fmt::format("tables={},B={},L={},D={},{}", lookup.tables, lookup.samples,
                     lookup.indices.elements().Value().value_or(0), lookup.total_width,
                     DTypeWord(lookup.weights.dtype));
}

// The rows that are picked, each read once, at most all there are.
Checked RowBytes(const FbgemmLookup& lookup) {
  // Tables that lie in host memory are other operands, and this one is empty.
  const bool here = !(lookup.weights.elements() == 0);
  return BytesOf(here ? Least(lookup.picked, lookup.weights.elements()) : lookup.picked,
                 lookup.weights.dtype);
}

Checked ListBytes(const FbgemmLookup& lookup) {
  return lookup.indices.bytes() + lookup.offsets.bytes() + BytesIfAny(lookup.index_weights);
}

std::optional<Tensor> OutputOf(const OpCall& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i].name == "output") return TensorAt(call, i);
  }
  return std::nullopt;
}

// An addition an element that is picked, and a product with the weight of its index.
PriceResult PriceFbgemmLookup(std::string_view op, const OpCall& call) {
  const std::optional<Tensor> output = OutputOf(call);
  const auto lookup = ReadLookup(call, 0, op.starts_with("dense"), output);
  if (!lookup) return Unpriced(Reason::kUnsupportedArgs);
  const Checked results =
      lookup->pooled ? Checked(lookup->samples) * lookup->total_width : lookup->picked;
  // Results are fp32 unless they are asked for in another type.
  const DType type = output ? output->dtype : DType::kFloat32;
  const Checked vec =
      lookup->pooled ? lookup->picked * (lookup->index_weights ? 2 : 1) : Checked(0);
  PriceResult result =
      Priced(FbgemmParamsOf(*lookup),
             {0, vec, ListBytes(*lookup) + RowBytes(*lookup) + BytesOf(results, type)},
             std::vector<PartWork>());
  result.price->vec_estimated = !lookup->even;
  return result;
}

// How an optimizer inside the backward pass changes a row: FLOPs an element, and the elements of
// its state that it reads and writes, by element and by row.
struct RowUpdate {
  std::string_view name;
  int weight;
  int states;
  int row_states;
};

constexpr RowUpdate kUpdates[] = {
    {"SplitLookupFunction_Dense_Op", 0, 0, 0},
    {"SplitLookupFunction_dense_Op", 0, 0, 0},
    {"SplitLookupFunction_none_Op", 0, 0, 0},
    {"SplitLookupFunction_sgd_Op", 2, 0, 0},
    {"SplitLookupFunction_adagrad_Op", 25, 1, 0},
    {"SplitLookupFunction_rowwise_adagrad_Op", 4, 0, 1},
    {"SplitLookupFunction_rowwise_adagrad_with_counter_Op", 4, 0, 1},
    {"SplitLookupFunction_adam_Op", 31, 2, 0},
    {"SplitLookupFunction_partial_rowwise_adam_Op", 9, 1, 1},
};

// (dY[B,D], arguments of the look-up): dY is added to the gradient of each row that was picked, and
// the optimizer updates the rows at once. Every index is taken for a row of its own.
PriceResult PriceLookupGradient(std::string_view op, const OpCall& call) {
  const RowUpdate* row = FindRow(kUpdates, op);
  const auto gradient = TensorAt(call, 0);
  if (row == nullptr || !gradient || call.args.size() < 2) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  const bool dense = row->weight == 0 && op.find("ense") != std::string_view::npos;
  const auto lookup = ReadLookup(call, 1, dense, gradient);
  if (!lookup) return Unpriced(Reason::kUnsupportedArgs);
  const Checked rows = lookup->indices.elements();
  const Checked states =
      BytesOf(lookup->picked * row->states + rows * row->row_states, DType::kFloat32);
  // A dense gradient is written alone.
  const int row_accesses = row->weight > 0 ? 2 : 1;
  const Work work{
      0, lookup->picked * (1 + row->weight),
      gradient->bytes() + ListBytes(*lookup) + RowBytes(*lookup) * row_accesses + states * 2};
  return Priced(FbgemmParamsOf(*lookup), work, std::vector<PartWork>());
}

// ---- lists of indices ----

// permute_2D_sparse_data(order[P], lengths[T,B], values[L], weights[L], sum): lengths by lists of
// samples, and values in the order of the lists. Where lists are left out or repeated, how many
// values there are then must be recorded.
PriceResult PricePermute(std::string_view, const OpCall& call) {
  const auto order = TensorAt(call, 0);
  const auto lengths = TensorAt(call, 1);
  const auto values = TensorAt(call, 2);
  const auto weights = TensorAt(call, 3);
  const auto sum = IntAt(call, 4);
  if (!order || !lengths || !values) return Unpriced(Reason::kUnsupportedArgs);
  if (order->shape.size() != 1 || lengths->shape.size() != 2) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const bool all = order->shape[0] == lengths->shape[0];
  const Checked moved = sum ? Checked(*sum) : values->elements();
  const Checked lists = Checked(order->shape[0]) * lengths->shape[1];
  Checked bytes =
      order->bytes() + BytesOf(lists, lengths->dtype) * 2 + BytesOf(moved, values->dtype) * 2;
  if (weights) bytes += BytesOf(moved, weights->dtype) * 2;
  const Tensor named[] = {*lengths, *values};
  PriceResult result = Priced(TensorsText(named), {0, 0, bytes}, std::vector<PartWork>());
  result.price->bytes_known = all || sum;
  result.price->why_no_bytes = Reason::kUnsupportedArgs;
  return result;
}

// asynchronous_complete_cumsum(x): one more than x has. The others as many.
PriceResult PriceSums(std::string_view op, const OpCall& call) {
  const auto x = TensorAt(call, 0);
  if (!x) return Unpriced(Reason::kUnsupportedArgs);
  const int more = op == "asynchronous_complete_cumsum" ? 1 : 0;
  PriceResult result = Priced(
      NamedTensorText(*x), {0, x->elements(), x->bytes() + BytesOf(x->elements() + more, x->dtype)},
      std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

// bounds_check_indices(rows[T], indices[L], offsets, ..): two comparisons an index.
PriceResult PriceBoundsCheck(std::string_view, const OpCall& call) {
  const auto rows = TensorAt(call, 0);
  const auto indices = TensorAt(call, 1);
  const auto offsets = TensorAt(call, 2);
  if (!rows || !indices || !offsets) return Unpriced(Reason::kUnsupportedArgs);
  PriceResult result =
      Priced(NamedTensorText(*indices),
             {0, indices->elements() * 2, rows->bytes() + indices->bytes() + offsets->bytes()},
             std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

// Columns in another order: all is read and written.
PriceResult PriceReorder(std::string_view, const OpCall& call) {
  const auto x = TensorAt(call, 0);
  if (!x) return Unpriced(Reason::kUnsupportedArgs);
  return Priced(NamedTensorText(*x), {0, 0, x->bytes() * 2}, std::vector<PartWork>());
}

// ---- quantization of rows ----

// A row of bytes with `extra` bytes of scale and offset behind it, or before it is one of fp32.
struct RowFormat {
  std::string_view name;
  int64_t extra;
  bool packs;
  int weight;  // FLOPs an element.
};

constexpr RowFormat kFormats[] = {
    {"FloatToFP8RowwiseQuantized", 8, true, 3},
    {"FP8RowwiseQuantizedToFloat", 8, false, 1},
    {"FloatToHFP8Quantized", 0, true, 1},
    {"HFP8QuantizedToFloat", 0, false, 1},
    {"FloatToFused8BitRowwiseQuantized", 8, true, 4},
    {"Fused8BitRowwiseQuantizedToFloat", 8, false, 2},
};

PriceResult PriceRowFormat(std::string_view op, const OpCall& call) {
  const RowFormat* row = FindRow(kFormats, op);
  const auto x = TensorAt(call, 0);
  if (row == nullptr || !x) return Unpriced(Reason::kUnsupportedArgs);
  if (x->shape.empty() || (!row->packs && x->shape.back() < row->extra)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked rows = Elements(x->shape.first(x->shape.size() - 1));
  const Checked width = Checked(x->shape.back()) - (row->packs ? 0 : row->extra);
  const Checked output = row->packs ? rows * (width + row->extra) : rows * width * 4;
  return Priced(NamedTensorText(*x), {0, rows * width * row->weight, x->bytes() + output},
                std::vector<PartWork>());
}

constexpr std::string_view kLookupNames[] = {
    "dense_embedding_codegen_lookup_function",
    "split_embedding_codegen_lookup_adagrad_function",
    "split_embedding_codegen_lookup_adam_function",
    "split_embedding_codegen_lookup_none_function",
    "split_embedding_codegen_lookup_partial_rowwise_adam_function",
    "split_embedding_codegen_lookup_rowwise_adagrad_function",
    "split_embedding_codegen_lookup_rowwise_adagrad_with_counter_function",
    "split_embedding_codegen_lookup_sgd_function",
};
constexpr auto kFbgemmGradientNames = NamesOf(kUpdates);
constexpr std::string_view kPermuteNames[] = {"permute_2D_sparse_data", "permute_sparse_features"};
constexpr std::string_view kFbgemmSumNames[] = {"asynchronous_complete_cumsum",
                                                "asynchronous_exclusive_cumsum",
                                                "asynchronous_inclusive_cumsum"};
constexpr std::string_view kBoundsNames[] = {"bounds_check_indices"};
constexpr std::string_view kReorderNames[] = {
    "permute_pooled_embs", "permute_pooled_embs_auto_grad", "recat_embedding_grad_output",
    "recat_embedding_grad_output_mixed_D", "recat_embedding_grad_output_mixed_D_batch"};
constexpr auto kFormatNames = NamesOf(kFormats);
constexpr OpModel kFbgemmModels[] = {
    {kLookupNames, PriceFbgemmLookup}, {kFbgemmGradientNames, PriceLookupGradient},
    {kPermuteNames, PricePermute},     {kFbgemmSumNames, PriceSums},
    {kBoundsNames, PriceBoundsCheck},  {kReorderNames, PriceReorder},
    {kFormatNames, PriceRowFormat}};

}  // namespace

std::span<const OpModel> FbgemmOps() { return kFbgemmModels; }

}  // namespace oplens::ops
