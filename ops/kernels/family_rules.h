#ifndef OPLENS_OPS_KERNELS_FAMILY_RULES_H_
#define OPLENS_OPS_KERNELS_FAMILY_RULES_H_

#include <span>
#include <string_view>

#include "ops/kernels/kernel_family.h"

namespace oplens::ops {

/// One rule of the table of families. Texts are words as AsWords writes them: alternatives are
/// separated by '|', parts that must all occur by '&'. "_sort_" is a whole word, "sort" occurs
/// anywhere, "^" before it: at the beginning.
struct FamilyRule {
  KernelFamily family;
  std::string_view function;       ///< In the function's own name; empty: any.
  std::string_view anywhere = {};  ///< In the whole name with its template arguments too.
  std::string_view unless = {};    ///< A function's name that is spared.
};

/// The table, in the order in which they are asked: names of libraries and of generated code.
std::span<const FamilyRule> FamilyRules();

/// What is asked behind it: single words.
std::span<const FamilyRule> FamilyWordRules();

/// Names of ops that only move elements, in kernels that Inductor makes of several ops; sorted, so
/// that a longer one stands behind its beginning.
std::span<const std::string_view> MovingOps();

/// The same of ops that write a constant.
std::span<const std::string_view> FillingOps();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_FAMILY_RULES_H_
