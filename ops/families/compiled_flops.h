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

/// The sum over all ops of the name.
int64_t FlopsAPoint(const CompiledName& name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_COMPILED_FLOPS_H_
