#ifndef OPLENS_OPS_KERNELS_NAMED_OP_H_
#define OPLENS_OPS_KERNELS_NAMED_OP_H_

#include <string>
#include <string_view>

#include "ops/kernels/kernel_family.h"
#include "parse/model/evidence.h"

namespace oplens::ops {

/// What a kernel's name says of the kind of its op: docs/correlation.md, "Names".
struct NamedOp {
  /// In the words of recorded ops: "mm", "add", "cudnn_batch_norm_backward"; the kernel's own name
  /// if a compiler named it by what it fused ("triton_poi_fused_add_mul_0"); empty: nothing.
  std::string op;
  /// High: the name states it (a functor, a list of fused ops); medium: a library's scheme of names
  /// does; low: a common word.
  Confidence confidence = Confidence::kUnknown;
};

/// Version of the rules in named_op.cc and named_op_rules.cc; incremented whenever an answer
/// changes.
inline constexpr int kNamedOpRulesVersion = 1;

/// Reads the full name, mangled or not. `family`: KernelFamilyOf(kernel_name), `rows`: blocks of
/// the grid in y, as in NamedFamily::Of. Linear in the name; never throws.
NamedOp NamedOpOf(std::string_view kernel_name, const NamedFamily& family, int64_t rows);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_NAMED_OP_H_
