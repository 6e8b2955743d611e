#ifndef OPLENS_OPS_KERNELS_MATH_TYPE_H_
#define OPLENS_OPS_KERNELS_MATH_TYPE_H_

#include <cstdint>
#include <string_view>

#include "ops/dtype.h"

namespace oplens::ops {

/// What Tensor Cores compute with: the factors' type in the instruction, not in memory.
enum class MathType : uint8_t {
  kUnknown,
  kFp16,
  kBf16,
  kTf32,
  kThreeTf32,  ///< Three TF32 products emulate one of nearly fp32 precision.
  kFp8,
  kFp4,
  kInt8,
  kInt4,
  kFp64,
  kBinary,
};

/// "fp16", "bf16", "tf32", "3xtf32", "fp8", "fp4", "int8", "int4", "fp64", "b1" or "".
std::string_view MathTypeWord(MathType type);

/// kUnknown for any other word.
MathType FindMathType(std::string_view word);

/// The type in which Tensor Cores multiply factors of these types; kUnknown if a type is unknown
/// (`*known` = false) or unsupported.
MathType MathTypeOf(DType left, DType right, bool* known);

/// Whether Tensor Cores of this compute capability multiply the type at a useful rate.
bool HasTensorCoreFor(int compute_capability, MathType math);

/// Elements in 16 bytes, the alignment that fast kernels need; 1 if unknown.
int64_t AlignmentOf(MathType math);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_MATH_TYPE_H_
