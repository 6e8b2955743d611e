#ifndef OPLENS_OPS_KERNELS_TENSOR_CORE_H_
#define OPLENS_OPS_KERNELS_TENSOR_CORE_H_

#include <cstdint>
#include <string_view>

#include "ops/kernels/math_type.h"

namespace oplens::ops {

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
