#ifndef OPLENS_OPS_KERNELS_FAMILY_RULES_H_
#define OPLENS_OPS_KERNELS_FAMILY_RULES_H_

#include <span>
#include <string_view>

#include "ops/kernels/kernel_family.h"

namespace oplens::ops {

/// One rule of the family table. Its texts are WordPatterns.
struct FamilyRule {
  KernelFamily family;
  std::string_view function;       ///< Matched in the function's own name; empty: any.
  std::string_view anywhere = {};  ///< Matched in the whole name with template arguments.
  std::string_view unless = {};    ///< The rule is skipped if this matches the function's name.
};

/// Names of libraries and of generated code, in order of precedence.
std::span<const FamilyRule> FamilyRules();

/// Single words, tried after FamilyRules().
std::span<const FamilyRule> FamilyWordRules();

/// Ops that only move elements, as named in Inductor's fused kernels; sorted.
std::span<const std::string_view> MovingOps();

/// Ops that write a constant; sorted likewise.
std::span<const std::string_view> FillingOps();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_FAMILY_RULES_H_
