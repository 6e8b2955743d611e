#ifndef OPLENS_OPS_KERNELS_NAMED_OP_RULES_H_
#define OPLENS_OPS_KERNELS_NAMED_OP_RULES_H_

#include <span>
#include <string_view>

#include "ops/kernels/kernel_family.h"

namespace oplens::ops {

/// In NamedOpRule::family.
inline constexpr KernelFamily kAnyFamily = KernelFamily::kOther;

/// One rule of the table of ops by name. Its texts are WordPatterns.
struct NamedOpRule {
  KernelFamily family;             ///< That the kernel has; kAnyFamily: any.
  std::string_view function;       ///< Matched in the function's own name; empty: any.
  std::string_view anywhere = {};  ///< Matched in the whole name with template arguments.
  std::string_view op = {};        ///< In the words of recorded ops.
};

/// By the functor in the arguments of PyTorch's general kernels, in order of precedence.
std::span<const NamedOpRule> FunctorRules();

/// By the function's name within its family, in order of precedence; the last of a family matches
/// all of its kernels.
std::span<const NamedOpRule> NamedOpRules();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_NAMED_OP_RULES_H_
