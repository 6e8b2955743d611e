#ifndef OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_
#define OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_

#include <cstdint>

#include "ops/families/compiled_name.h"

namespace oplens::ops {

/// FLOPs that one fused op takes for each point of the space that a compiled kernel runs over: what
/// the op's own model counts for an element of its input. An op that only moves data has 0. A
/// product in the name of a kernel that is no template ran elsewhere, and left the kernel its bias;
/// without a bias it was turned into a multiplication and a sum (kernels that reduce), or only its
/// operands were laid out.
int64_t FlopsAPoint(const CompiledName::Fused& fused, CompiledKind kind);

/// The FLOPs of all fused ops of a kernel.
struct CompiledWeights {
  int64_t point = 0;  ///< For each point of the loops.
  int64_t row = 0;    ///< For each result of a reduction: what is computed of the sums.
};

/// The sum over all ops of the name, with what it tells of them together:
///  - a kernel that takes a mean, a sum or a variance takes a root of it, once a row. Where each op
///    is known, so is the epsilon that is added before; a name tells one "add" for all.
///  - "pow", "mean", "rsqrt" and "mul" are RMS norm, written out: two products, by the root and by
///    the weight, which a name tells as one;
///  - a power is a small one of a number (x * x), unless the kernel makes angles (theta ** i).
CompiledWeights WeightsOf(const CompiledName& name);

/// Whether a point of the loops may read more than one element of an operand: windows, what is read
/// in parts, and reductions of few elements, which a pointwise kernel writes out.
bool ReadsSeveral(const CompiledName& name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_
