// Embedding look-up: rows of a table by index.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/indexing.h"
#include "ops/families/norm_shapes.h"
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

// Embedding bags: the rows of a table that a bag of indices names are added up.

struct EmbeddingBag {
  Tensor indices;
  Tensor table;
  std::optional<Tensor> offsets;
  std::optional<Tensor> weights;  // Of each index.
  bool sparse = false;
  bool last_offset = false;
};

// The bags: one an offset, but for a last one that is only an end; without offsets the rows of the
// indices.
std::optional<int64_t> Bags(const EmbeddingBag& bag) {
  if (!bag.offsets) {
    return bag.indices.shape.size() == 2 ? std::optional(bag.indices.shape[0]) : std::nullopt;
  }
  if (bag.indices.shape.size() != 1 || bag.offsets->shape.size() != 1) return std::nullopt;
  const int64_t offsets = bag.offsets->shape[0];
  if (!bag.last_offset) return offsets;
  return offsets == 0 ? std::nullopt : std::optional(offsets - 1);
}

Checked ReadEmbeddingBagBytes(const EmbeddingBag& bag) {
  return bag.indices.bytes() + BytesIfAny(bag.offsets) + BytesIfAny(bag.weights);
}

PriceResult PricedBag(const EmbeddingBag& bag) {
  if (!bag.indices.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  const std::optional<int64_t> bags = Bags(bag);
  if (!bags || bag.table.shape.size() != 2 ||
      (bag.weights && !(bag.weights->elements() == bag.indices.elements()))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t width = bag.table.shape[1];
  const Checked picked = bag.indices.elements() * width;
  const Checked picked_bytes = BytesOf(picked, bag.table.dtype);
  const Checked output_bytes = BytesOf(Checked(*bags) * width, bag.table.dtype);
  const Tensor operands[] = {bag.indices, bag.table};
  PriceResult result = Priced(TensorsText(operands),
                              {0, picked, ReadEmbeddingBagBytes(bag) + picked_bytes + output_bytes},
                              Work{0, picked,
                                   ReadEmbeddingBagBytes(bag) + output_bytes +
                                       (bag.sparse ? picked_bytes : bag.table.bytes())});
  result.price->vec_estimated = false;
  return result;
}

// torch.nn.functional.embedding_bag has the indices first, those of torch and aten the table.
PriceResult PriceEmbeddingBag(std::string_view op, const OpCall& call) {
  // Only its gradient function exists.
  if (op == "_embedding_bag_dense") return Unpriced(Reason::kUnknownOp);
  if (call.mod == "torch.nn.functional") {
    CallArgs args(
        call, {"input", "weight", "offsets", "max_norm", "norm_type", "scale_grad_by_freq", "mode",
               "sparse", "per_sample_weights", "include_last_offset", "padding_idx"});
    const EmbeddingBag bag{args.RequireTensor(0), args.RequireTensor(1), args.FindTensor(2),
                           args.FindTensor(8),    args.BoolOr(7, false), args.BoolOr(9, false)};
    return args.failed() ? Unpriced(args.reason()) : PricedBag(bag);
  }
  CallArgs args(call, {"weight", "indices|input", "offsets", "scale_grad_by_freq", "mode", "sparse",
                       "per_sample_weights", "include_last_offset", "padding_idx"});
  const EmbeddingBag bag{args.RequireTensor(1), args.RequireTensor(0), args.FindTensor(2),
                         args.FindTensor(6),    args.BoolOr(5, false), args.BoolOr(7, false)};
  return args.failed() ? Unpriced(args.reason()) : PricedBag(bag);
}

struct EmbeddingBagGradientFunction {
  std::string_view name;  // Without "_backward".
  size_t rows;            // Where the number of the table's rows stands.
  size_t sparse;          // Where `sparse` stands; 0: dense.
};

constexpr EmbeddingBagGradientFunction kEmbeddingBagFunctions[] = {
    {"_embedding_bag", 6, 9},
    {"_embedding_bag_dense", 5, 0},
};

// _embedding_bag_backward(dY, indices, offsets, offset2bag, bag_size, max_indices, rows, ..) and
// the dense one, which lacks the offsets. The table is not an argument.
PriceResult PriceEmbeddingBagGradient(std::string_view op, const OpCall& call) {
  const EmbeddingBagGradientFunction* row = FindRow(kEmbeddingBagFunctions, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"grad", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"});
  const Tensor dy = args.RequireTensor(0);
  const Tensor indices = args.RequireTensor(1);
  const Tensor offsets = args.RequireTensor(2);
  const int64_t rows = args.IntOr(row->rows, -1);
  const bool sparse = row->sparse != 0 && args.BoolOr(row->sparse, false);
  if (rows < 0) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  if (dy.shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
  const Checked picked = indices.elements() * dy.shape[1];
  const Checked gradient = sparse ? picked : Checked(rows) * dy.shape[1];
  const Tensor operands[] = {dy, indices};
  PriceResult result = Priced(
      TensorsText(operands),
      {0, picked, indices.bytes() + offsets.bytes() + dy.bytes() + BytesOf(gradient, dy.dtype)},
      std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

constexpr std::string_view kEmbeddingBagNames[] = {
    "embedding_bag", "_embedding_bag", "_embedding_bag_forward_only", "_embedding_bag_dense"};
constexpr OpModel kEmbeddingBagModels[] = {{kEmbeddingBagNames, PriceEmbeddingBag}};
constexpr auto kEmbeddingBagGradientNames = NamesOf(kEmbeddingBagFunctions);
constexpr OpModel kEmbeddingBagGradients[] = {
    {kEmbeddingBagGradientNames, PriceEmbeddingBagGradient}};

}  // namespace

std::span<const OpModel> EmbeddingOps() { return kEmbeddingModels; }

std::span<const OpModel> EmbeddingBagOps() { return kEmbeddingBagModels; }

std::span<const OpModel> EmbeddingBagGradients() { return kEmbeddingBagGradients; }

}  // namespace oplens::ops
