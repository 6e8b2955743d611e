#ifndef OPLENS_OPS_TENSOR_CORE_H_
#define OPLENS_OPS_TENSOR_CORE_H_

#include <cstdint>
#include <string_view>

namespace oplens::ops {

/// Whether a kernel issues Tensor Core instructions.
enum class TensorCoreUse : uint8_t {
  kUnknown,  ///< The name says nothing (hand-written kernels): printed "?".
  kNo,       ///< printed "0"
  kYes,      ///< printed "1"
};

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

/// An answer and the rule that gave it.
struct TensorCoreVerdict {
  TensorCoreUse use = TensorCoreUse::kUnknown;
  std::string_view rule;   ///< Its id in the table, e.g. "N5"; empty: no rule knows the name.
  std::string_view token;  ///< The part of the name that it went by; a view into the name.
  MathType math = MathType::kUnknown;  ///< Of a kernel that uses Tensor Cores, if its name says it.
  bool half_sums = false;              ///< fp16 factors that are summed in fp16 too.
};

/// Changes whenever a rule does, so that figures of two runs can be told apart.
std::string_view TensorCoreRulesVersion();

/// As TensorCoreUseOf, with the rule.
TensorCoreVerdict TensorCoreVerdictOf(std::string_view long_name);

/// Decides by the full kernel name (demangled or mangled, with template arguments) from one table
/// of rules. Never throws.
TensorCoreUse TensorCoreUseOf(std::string_view long_name);

/// "1", "0" or "?".
std::string_view TensorCoreWord(TensorCoreUse use);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_TENSOR_CORE_H_
