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

/// Whether a collective started in this context was launched by a gradient hook
/// (parse/model/gradient_hooks.h). `context`: the innermost range that says something about the
/// training step, or parse::OpenRanges::kNone.
bool IsOfGradientHooks(const parse::Joined& joined, uint32_t context);

/// Whether a call, given by its range, is such a collective.
bool IsCallOfGradientHooks(const parse::Joined& joined, uint32_t context, const Range& call);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_GRADIENT_HOOKS_H_
