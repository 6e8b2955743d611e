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

/// A tensor operand of a recorded call. `shape` points into the call.
struct Tensor {
  Shape shape;
  DType dtype = DType::kFloat32;
  /// Recorded as a Python number: a scalar argument, or a 0-d tensor that the annotation wrote as
  /// one.
  bool number = false;

  Checked elements() const { return Elements(shape); }
  Checked bytes() const { return BytesOf(elements(), dtype); }
  /// Only floating point and complex tensors receive gradients.
  bool Differentiable() const { return !number && CategoryOf(dtype) >= DTypeCategory::kFloat; }
  /// Of an integer type, or of one that is not known: what an index may be.
  bool MayBeInteger() const {
    return CategoryOf(dtype) == DTypeCategory::kInteger || dtype == DType::kUnknown;
  }
};

/// The shape that the shapes broadcast to, aligned at the last dimension; nullopt when they do not
/// fit.
std::optional<std::vector<int64_t>> Broadcast(std::initializer_list<Shape> shapes);
std::optional<std::vector<int64_t>> Broadcast(std::span<const Tensor> tensors);

/// "(35,20,200)" and, as Python has it, "(200,)" and "()".
std::string TupleText(Shape shape);

/// "[35,20,200]fp32".
std::string TensorText(Shape shape, DType dtype);
inline std::string TensorText(const Tensor& tensor) {
  return TensorText(tensor.shape, tensor.dtype);
}

/// TensorText of each, joined with ';'.
std::string TensorsText(std::span<const Tensor> tensors);

/// "T=(35,20,200),fp32".
std::string NamedTensorText(const Tensor& tensor);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_TENSOR_H_
