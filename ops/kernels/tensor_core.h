#ifndef OPLENS_OPS_KERNELS_TENSOR_CORE_H_
#define OPLENS_OPS_KERNELS_TENSOR_CORE_H_

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

/// Whether a kernel issues Tensor Core instructions.
enum class TensorCoreUse : uint8_t {
  kUnknown,  ///< Undecided by the name (hand-written kernels): printed "?".
  kNo,       ///< Printed "0".
  kYes,      ///< Printed "1".
};

/// An answer and the rule behind it.
struct TensorCoreVerdict {
  TensorCoreUse use = TensorCoreUse::kUnknown;
  std::string_view rule;   ///< Its id in the table, e.g. "N5"; empty: no rule.
  std::string_view token;  ///< The part of the name that decided, a view into it; for F1 a family.
  MathType math = MathType::kUnknown;  ///< For kernels that use Tensor Cores, if named.
  bool half_sums = false;              ///< fp16 factors are summed in fp16.
};

/// Changes with every rule change, to distinguish figures of two runs.
std::string_view TensorCoreRulesVersion();

/// TensorCoreUseOf with the rule.
TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name);

/// By the full kernel name (demangled or mangled, with template arguments). Never throws.
TensorCoreUse TensorCoreUseOf(std::string_view long_name);

/// "1", "0" or "?".
std::string_view TensorCoreWord(TensorCoreUse use);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_TENSOR_CORE_H_
