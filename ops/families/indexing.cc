#include "ops/families/indexing.h"

#include <algorithm>
#include <vector>

namespace oplens::ops {
namespace {

bool IsMask(const Tensor& index) {
  return index.dtype == DType::kBool || index.dtype == DType::kUInt8;
}

// A mask selects at most all its elements: an index vector of its length.
std::vector<int64_t> IndexShape(const Tensor& index) {
  if (!IsMask(index)) return {index.shape.begin(), index.shape.end()};
  return {index.elements().Value().value_or(0)};
}

}  // namespace

Checked Least(Checked a, Checked b) {
  const std::optional<int64_t> left = a.Value();
  const std::optional<int64_t> right = b.Value();
  if (!left || !right) return left ? a : b;
  return *left < *right ? a : b;
}

bool Covers(Shape outer, Shape inner) {
  constexpr int64_t kOne[] = {1};
  if (outer.empty()) outer = kOne;
  if (inner.empty()) inner = kOne;
  if (outer.size() != inner.size()) return false;
  for (size_t i = 0; i < outer.size(); ++i) {
    if (inner[i] > outer[i]) return false;
  }
  return true;
}

std::optional<Checked> SliceElements(const CallArgs& args, size_t dim, const Tensor& x,
                                     const Tensor& index) {
  if (x.shape.size() <= 1) return index.elements();
  const OpArg* arg = args.Find(dim);
  if (arg == nullptr || arg->kind != OpArg::Kind::kInt) return std::nullopt;
  const std::optional<size_t> at = DimIndex(arg->int_value, x.shape.size());
  if (!at) return std::nullopt;
  Checked elements = index.elements();
  for (size_t i = 0; i < x.shape.size(); ++i) elements *= i == *at ? 1 : x.shape[i];
  return elements;
}

std::optional<Picked> PickedByIndices(const Tensor& x, std::span<const OpArg> indices,
                                      Reason* reason) {
  *reason = Reason::kUnsupportedArgs;
  std::vector<int64_t> picked;  // Broadcast shape of the indices.
  Picked result{1, 0};
  size_t dim = 0;
  bool any = false;
  for (const OpArg& arg : indices) {
    if (arg.kind == OpArg::Kind::kNone) {
      if (dim >= x.shape.size()) return *reason = Reason::kShapeMismatch, std::nullopt;
      result.elements *= x.shape[dim++];
      continue;
    }
    const std::optional<Tensor> index = TensorOf(arg, reason);
    if (!index) return std::nullopt;
    *reason = Reason::kUnsupportedArgs;
    if (!index->MayBeInteger() && !IsMask(*index)) return std::nullopt;
    *reason = Reason::kShapeMismatch;
    const size_t dims = IsMask(*index) ? index->shape.size() : 1;
    if (dims > x.shape.size() - dim) return std::nullopt;
    if (IsMask(*index) && !std::equal(index->shape.begin(), index->shape.end(),
                                      x.shape.begin() + static_cast<std::ptrdiff_t>(dim))) {
      return std::nullopt;
    }
    dim += dims;
    const std::vector<int64_t> shape = IndexShape(*index);
    const auto broadcast = Broadcast({Shape(picked), Shape(shape)});
    if (!broadcast) return std::nullopt;
    picked = *broadcast;
    if (!index->number) result.index_bytes += index->bytes();
    any = true;
  }
  *reason = Reason::kUnsupportedArgs;
  if (!any) return std::nullopt;
  for (; dim < x.shape.size(); ++dim) result.elements *= x.shape[dim];
  result.elements *= Elements(picked);
  return result;
}

}  // namespace oplens::ops
