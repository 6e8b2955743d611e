#ifndef OPLENS_OPS_KERNELS_MATH_TYPE_H_
#define OPLENS_OPS_KERNELS_MATH_TYPE_H_

#include <cstdint>
#include <string_view>

#include "ops/dtype.h"

namespace oplens::ops {

/// What Tensor Cores compute with: the type of the factors inside the instruction, not that of the
/// tensors in memory.
enum class MathType : uint8_t {
  kUnknown,
  kFp16,
  kBf16,
  kTf32,
  kThreeTf32,  ///< Three TF32 products for one of nearly fp32's precision.
  kFp8,
  kFp4,
  kInt8,
  kInt4,
  kFp64,
  kBinary,
};

/// "fp16", "bf16", "tf32", "3xtf32", "fp8", "fp4", "int8", "int4", "fp64", "b1" or "".
std::string_view MathTypeWord(MathType type);

/// The type of such a word; kUnknown for another.
MathType FindMathType(std::string_view word);

/// What Tensor Cores would multiply for factors of these types; kUnknown when a type is not known
/// or none of theirs (`*known` tells these apart).
MathType MathTypeOf(DType left, DType right, bool* known);

/// Whether Tensor Cores of the compute capability multiply this type at a useful rate.
bool HasTensorCoreFor(int compute_capability, MathType math);

/// Elements in 16 bytes, the alignment that the fast kernels of the type want; 1 when not known.
int64_t AlignmentOf(MathType math);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_MATH_TYPE_H_
