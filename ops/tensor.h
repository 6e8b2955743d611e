#ifndef OPLENS_OPS_TENSOR_H_
#define OPLENS_OPS_TENSOR_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checked.h"
#include "ops/dtype.h"

namespace oplens::ops {

using Shape = std::span<const int64_t>;

/// Product of the extents; 1 for a 0-d tensor.
Checked Elements(Shape shape);

/// A tensor operand. `shape` points into the recorded call.
struct Tensor {
  Shape shape;
  DType dtype = DType::kFloat32;
  /// Recorded as a Python number: a scalar, or a 0-d tensor that the annotation wrote as one.
  bool number = false;

  Checked elements() const { return Elements(shape); }
  Checked bytes() const { return BytesOf(elements(), dtype); }
  /// Only floating point and complex tensors receive gradients.
  bool Differentiable() const { return !number && CategoryOf(dtype) >= DTypeCategory::kFloat; }
  /// Whether it can be an index: an integer or unknown type.
  bool MayBeInteger() const {
    return CategoryOf(dtype) == DTypeCategory::kInteger || dtype == DType::kUnknown;
  }
};

/// The broadcast shape, aligned at the last dimension; nullopt if the shapes are incompatible.
std::optional<std::vector<int64_t>> Broadcast(std::initializer_list<Shape> shapes);
std::optional<std::vector<int64_t>> Broadcast(std::span<const Tensor> tensors);

/// "(35,20,200)"; as in Python "(200,)" and "()".
std::string TupleText(Shape shape);

/// "[35,20,200]fp32".
std::string TensorText(Shape shape, DType dtype);
inline std::string TensorText(const Tensor& tensor) {
  return TensorText(tensor.shape, tensor.dtype);
}

/// TensorText of each, joined by ';'.
std::string TensorsText(std::span<const Tensor> tensors);

/// "T=(35,20,200),fp32".
std::string NamedTensorText(const Tensor& tensor);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_TENSOR_H_
