// Ops that pad, repeat or spread tensors: the input is read, the output written.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

Work LayoutMove(Checked bytes) { return {0, 0, bytes}; }

PriceResult PricedMove(std::string params, Checked bytes) {
  return Priced(std::move(params), LayoutMove(bytes), std::vector<PartWork>());
}

// ---- padding ----

// The shape after padding: two numbers per dimension, from the last one; negative ones crop.
std::optional<std::vector<int64_t>> Padded(Shape shape, const std::vector<int64_t>& pads) {
  if (pads.size() % 2 != 0 || pads.size() / 2 > shape.size()) return std::nullopt;
  std::vector<int64_t> padded(shape.begin(), shape.end());
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    int64_t& extent = padded[padded.size() - 1 - i];
    const std::optional<int64_t> value = (Checked(extent) + pads[2 * i] + pads[2 * i + 1]).Value();
    if (!value || *value < 0) return std::nullopt;
    extent = *value;
  }
  return padded;
}

// The elements of x that are left of a crop, Padded() having checked the pads.
Checked KeptOf(Shape shape, const std::vector<int64_t>& pads) {
  Checked kept = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    Checked extent = shape[shape.size() - 1 - i];
    for (size_t side = 2 * i; side < 2 * i + 2 && side < pads.size(); ++side) {
      extent = extent + std::min<int64_t>(pads[side], 0);
    }
    kept *= std::max<int64_t>(extent.Value().value_or(0), 0);
  }
  return kept;
}

// pad(x, pads, mode, value). The gradient is the same part of dY, and zeros where x was cropped; or
// for repeated elements a sum over dY.
PriceResult PricedPad(const Tensor& x, const std::vector<int64_t>& pads, bool repeats) {
  const auto shape = Padded(x.shape, pads);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  const Checked kept = BytesOf(KeptOf(x.shape, pads), x.dtype);
  const Checked written = BytesOf(n, x.dtype);
  const Work backward = repeats ? Work{0, n, written + x.bytes()} : LayoutMove(kept + x.bytes());
  return Priced(TensorText(x), LayoutMove(kept + written), backward);
}

PriceResult PricePad(std::string_view op, const OpCall& call) {
  const bool constant = op == "constant_pad_nd";
  CallArgs args = constant ? CallArgs(call, {"input|self", "pad", "value"})
                           : CallArgs(call, {"input|self", "pad|padding", "mode", "value"});
  const Tensor x = args.RequireTensor(0);
  const auto pads = args.FindInts(1);
  if (!pads) args.Fail(Reason::kUnsupportedArgs);
  if (args.failed()) return Unpriced(args.reason());
  const OpArg* mode = constant ? nullptr : args.Find(2);
  const bool named = mode != nullptr && mode->kind == OpArg::Kind::kString;
  const bool repeats = op.starts_with("re") || (named && mode->text != "constant");
  return PricedPad(x, *pads, repeats);
}

// ---- repeats ----

// repeat_interleave(x, times, dim) with a number of repeats. A tensor of repeats does not give the
// total, unless output_size does.
PriceResult PriceRepeatInterleave(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "repeats", "dim", "output_size"});
  const Tensor x = args.RequireTensor(0);
  const OpArg* times = args.Find(1);
  const int64_t total = args.IntOr(3, -1);
  const bool has_dim = args.Find(2) != nullptr;
  const std::optional<size_t> dim = DimIndex(args.IntOr(2, 0), x.shape.size());
  if (args.failed()) return Unpriced(args.reason());
  if (!dim) return Unpriced(Reason::kShapeMismatch);
  Checked outputs;
  Checked index_bytes;
  if (times != nullptr && times->kind == OpArg::Kind::kInt && times->int_value >= 0) {
    outputs = x.elements() * times->int_value;
  } else if (times != nullptr && times->kind == OpArg::Kind::kTensor && total >= 0) {
    const std::optional<Tensor> counts = args.FindTensor(1);
    if (!counts) return Unpriced(args.reason());
    outputs = total;
    for (size_t i = 0; has_dim && i < x.shape.size(); ++i) outputs *= i == *dim ? 1 : x.shape[i];
    index_bytes = counts->bytes();
  } else {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  const Checked bytes = x.bytes() + index_bytes + BytesOf(outputs, x.dtype);
  if (!x.Differentiable()) return PricedMove(TensorText(x), bytes);
  return Priced(TensorText(x), LayoutMove(bytes), Work{0, outputs, bytes});
}

// meshgrid(vectors..): one grid each, which is a view until something writes it.
PriceResult PriceMeshGrid(std::string_view, const OpCall& call) {
  std::vector<Tensor> vectors;
  Checked points = 1;
  Checked bytes;
  for (const OpArg& arg : call.args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    Reason reason;
    const std::optional<Tensor> vector = TensorOf(arg, &reason);
    if (!vector) return Unpriced(reason);
    if (vector->shape.size() > 1) return Unpriced(Reason::kShapeMismatch);
    vectors.push_back(*vector);
    points *= vector->elements();
    bytes += vector->bytes();
  }
  if (vectors.empty()) return Unpriced(Reason::kUnsupportedArgs);
  for (const Tensor& vector : vectors) bytes += BytesOf(points, vector.dtype);
  return PricedMove(TensorsText(vectors), bytes);
}

// ---- triangles and diagonals ----

// Positions of a rows x columns matrix on or below the diagonal `offset`; safe for INT64 bounds.
Checked LowerPlaces(int64_t rows, int64_t columns, int64_t offset) {
  if (rows == 0 || columns == 0) return 0;
  const auto width = [&](int64_t row) {  // Of a row: row + offset + 1, clamped to [0, columns].
    const int64_t value = (Checked(row) + offset + 1).Value().value_or(offset < 0 ? 0 : columns);
    return std::clamp<int64_t>(value, 0, columns);
  };
  // Empty rows, then rows growing by one, then full ones.
  const int64_t first = std::clamp<int64_t>((Checked(0) - offset).Value().value_or(rows), 0, rows);
  const int64_t full = std::clamp<int64_t>(
      (Checked(columns) - offset - 1).Value().value_or(offset < 0 ? rows : 0), first, rows);
  const Checked growing = Checked(full) - first;
  const Checked sum =
      full == first ? Checked(0) : (Checked(width(first)) + width(full - 1)) * growing / 2;
  return sum + (Checked(rows) - full) * columns;
}

// Those on or above it for the upper triangle.
Checked TrianglePlaces(bool upper, int64_t rows, int64_t columns, int64_t offset) {
  if (!upper) return LowerPlaces(rows, columns, offset);
  const bool lowest = offset == INT64_MIN;
  return Checked(rows) * columns - (lowest ? Checked(0) : LowerPlaces(rows, columns, offset - 1));
}

// tril(x, offset), triu: the triangle of x is read, it and zeros are written; the gradient likewise
// from dY.
PriceResult PriceTriangle(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input|self", "diagonal"});
  const Tensor x = args.RequireTensor(0);
  const int64_t offset = args.IntOr(1, 0);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = x.shape.size();
  if (rank < 2) return Unpriced(Reason::kShapeMismatch);
  const Checked places = Elements(x.shape.first(rank - 2)) *
                         TrianglePlaces(op == "triu", x.shape[rank - 2], x.shape.back(), offset);
  const Work work = LayoutMove(BytesOf(places, x.dtype) + x.bytes());
  return Priced(TensorText(x), work, work);
}

// tril_indices(rows, columns, offset): row and column of each position, int64.
PriceResult PriceTriangleIndices(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"row", "col", "offset"});
  const int64_t rows = args.IntOr(0, -1);
  const int64_t columns = args.IntOr(1, -1);
  const int64_t offset = args.IntOr(2, 0);
  if (args.failed() || rows < 0 || columns < 0) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, DType::kInt64, &type)) return Unpriced(Reason::kUnknownDType);
  const Checked places = TrianglePlaces(op == "triu_indices", rows, columns, offset);
  const int64_t matrix[] = {rows, columns};
  return PricedMove(TensorText(matrix, type), BytesOf(places * 2, type));
}

// diag(x, offset): a matrix with x on a diagonal, or a matrix's diagonal; diag_embed is the former
// for the last dimension. The gradient is the reverse.
PriceResult PriceDiagonal(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input|self", "diagonal|offset", "dim1", "dim2"});
  const Tensor x = args.RequireTensor(0);
  const int64_t offset = args.IntOr(1, 0);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = x.shape.size();
  if (rank == 0 || (op == "diag" && rank > 2)) return Unpriced(Reason::kShapeMismatch);
  const Checked shift = offset < 0 ? Checked(0) - offset : Checked(offset);
  if (op == "diag" && rank == 2) {
    const Checked below = Checked(x.shape[0]) + std::min<int64_t>(offset, 0);
    const Checked right = Checked(x.shape[1]) - std::max<int64_t>(offset, 0);
    const int64_t length =
        std::max<int64_t>(std::min(below.Value().value_or(0), right.Value().value_or(0)), 0);
    const Checked diagonal = BytesOf(length, x.dtype);
    return Priced(TensorText(x), LayoutMove(diagonal * 2), LayoutMove(diagonal + x.bytes()));
  }
  const Checked side = Checked(x.shape.back()) + shift;
  const Checked matrices = Elements(x.shape.first(rank - 1));
  const Checked written = BytesOf(matrices * side * side, x.dtype);
  return Priced(TensorText(x), LayoutMove(x.bytes() + written), LayoutMove(x.bytes() * 2));
}

// one_hot(x, classes): int64; without a number of classes it depends on the values.
PriceResult PriceOneHot(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|tensor|self", "num_classes"});
  const Tensor x = args.RequireTensor(0);
  const int64_t classes = args.IntOr(1, -1);
  if (args.failed()) return Unpriced(args.reason());
  if (classes < 0 || !x.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  return PricedMove(TensorText(x), x.bytes() + BytesOf(x.elements() * classes, DType::kInt64));
}

constexpr std::string_view kPadNames[] = {"pad",
                                          "constant_pad_nd",
                                          "reflection_pad1d",
                                          "reflection_pad2d",
                                          "reflection_pad3d",
                                          "replication_pad1d",
                                          "replication_pad2d",
                                          "replication_pad3d"};
constexpr std::string_view kLayoutRepeatNames[] = {"repeat_interleave"};
constexpr std::string_view kMeshGridNames[] = {"meshgrid"};
constexpr std::string_view kLayoutTriangleNames[] = {"tril", "triu"};
constexpr std::string_view kLayoutTriangleIndexNames[] = {"tril_indices", "triu_indices"};
constexpr std::string_view kDiagonalNames[] = {"diag", "diag_embed"};
constexpr std::string_view kOneHotNames[] = {"one_hot"};
constexpr OpModel kLayoutModels[] = {
    {kPadNames, PricePad},
    {kLayoutRepeatNames, PriceRepeatInterleave},
    {kMeshGridNames, PriceMeshGrid},
    {kLayoutTriangleNames, PriceTriangle},
    {kLayoutTriangleIndexNames, PriceTriangleIndices},
    {kDiagonalNames, PriceDiagonal},
    {kOneHotNames, PriceOneHot},
};

}  // namespace

std::span<const OpModel> LayoutOps() { return kLayoutModels; }

}  // namespace oplens::ops
