#ifndef OPLENS_PROF_RUN_GRADIENT_HOOKS_H_
#define OPLENS_PROF_RUN_GRADIENT_HOOKS_H_

#include <cstdint>

namespace oplens {
struct Range;
}  // namespace oplens

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Whether a collective that starts there was launched by a hook of gradients (DDP, FSDP): when a
/// gradient is complete, or inside the node of an operator, which launches none itself. It is for
/// the parameters of many layers then, and the work of none; that of a node of the program's own is
/// its layer's. `context`: the innermost range that says something of the training step, or
/// parse::OpenRanges::kNone. The same of a kernel's record: prof/price/op_resolver.cc.
bool IsOfGradientHooks(const parse::Joined& joined, uint32_t context);

/// Whether a call, by its range, is such a collective.
bool IsCallOfGradientHooks(const parse::Joined& joined, uint32_t context, const Range& call);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_GRADIENT_HOOKS_H_
