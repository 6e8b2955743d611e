#ifndef OPLENS_OPS_KERNELS_TENSOR_CORE_H_
#define OPLENS_OPS_KERNELS_TENSOR_CORE_H_

#include <cstdint>
#include <string_view>

#include "ops/kernels/math_type.h"

namespace oplens::ops {

/// Whether a kernel issues Tensor Core instructions.
enum class TensorCoreUse : uint8_t {
  kUnknown,  ///< The name says nothing (hand-written kernels): printed "?".
  kNo,       ///< printed "0"
  kYes,      ///< printed "1"
};

/// An answer and the rule that gave it.
struct TensorCoreVerdict {
  TensorCoreUse use = TensorCoreUse::kUnknown;
  std::string_view rule;  ///< Its id in the table, e.g. "N5"; empty: no rule knows the name.
  std::string_view
      token;  ///< The part of the name that it went by, a view into it; of F1 a family.
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

#endif  // OPLENS_OPS_KERNELS_TENSOR_CORE_H_
