#include "ops/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace oplens::ops {
namespace {

// Merges `shape` into the longer `result`. False if extents differ and neither is 1.
bool MergeInto(Shape shape, std::vector<int64_t>* result) {
  const size_t offset = result->size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t& extent = (*result)[offset + i];
    if (extent == 1) {
      extent = shape[i];
    } else if (shape[i] != 1 && shape[i] != extent) {
      return false;
    }
  }
  return true;
}

}  // namespace

Checked Elements(Shape shape) {
  Checked product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::optional<std::vector<int64_t>> Broadcast(std::initializer_list<Shape> shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  std::vector<int64_t> result(rank, 1);
  for (const Shape& shape : shapes) {
    if (!MergeInto(shape, &result)) return std::nullopt;
  }
  return result;
}

std::optional<std::vector<int64_t>> Broadcast(std::span<const Tensor> tensors) {
  size_t rank = 0;
  for (const Tensor& tensor : tensors) rank = std::max(rank, tensor.shape.size());
  std::vector<int64_t> result(rank, 1);
  for (const Tensor& tensor : tensors) {
    if (!MergeInto(tensor.shape, &result)) return std::nullopt;
  }
  return result;
}

std::string TupleText(Shape shape) {
  return fmt::format("({}{})", fmt::join(shape, ","), shape.size() == 1 ? "," : "");
}

std::string TensorText(Shape shape, DType dtype) {
  return fmt::format("[{}]{}", fmt::join(shape, ","), DTypeWord(dtype));
}

std::string TensorsText(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    if (!text.empty()) text += ';';
    text += TensorText(tensor);
  }
  return text;
}

std::string NamedTensorText(const Tensor& tensor) {
  return fmt::format("T={},{}", TupleText(tensor.shape), DTypeWord(tensor.dtype));
}

}  // namespace oplens::ops
