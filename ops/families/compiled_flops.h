#ifndef OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_
#define OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_

#include <cstdint>

#include "ops/families/compiled_name.h"

namespace oplens::ops {

/// FLOPs of a fused op per point of the kernel's iteration space: its model's count per input
/// element; 0 for ops that only move data. A product named in a kernel that is not a template ran
/// elsewhere: the kernel only adds its bias. Without a bias, a reducing kernel computes it as
/// multiplication and sum; other kernels only lay out its operands.
int64_t FlopsPerPoint(const CompiledName::Fused& fused, CompiledKind kind);

/// FLOPs of all fused ops of a kernel.
struct CompiledWeights {
  int64_t point = 0;  ///< Per point of the loops.
  int64_t row = 0;    ///< Per result of a reduction, computed from the sums.
};

/// Sums over all ops of the name, considering combinations:
///  - with a mean, sum or variance, a root is computed once per row; so is the addition of epsilon
///    if each op is known (a name lists one "add" for all);
///  - "pow", "mean", "rsqrt", "mul" are an unfused RMS norm: two products, by the root and by the
///    weight, which a name lists as one;
///  - a power has a small exponent (x * x), unless the kernel computes angles (theta ** i).
CompiledWeights WeightsOf(const CompiledName& name);

/// Whether a point of the loops may read several elements of an operand: windows, operands read in
/// parts, and small reductions unrolled in a pointwise kernel.
bool ReadsSeveral(const CompiledName& name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_
