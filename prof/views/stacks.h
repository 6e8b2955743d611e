#ifndef OPLENS_PROF_VIEWS_STACKS_H_
#define OPLENS_PROF_VIEWS_STACKS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kStacksNeeds = {};

/// Folded call stacks for flame graphs (docs/views_modules.md, "stacks"): a document of lines
/// `outer;inner value`. `by` takes device (the value is self device time, as it is without), host
/// (self host time), layer (modules among the frames) and rank (in front); UsageError for other
/// words. With Compat::kTorch and kTorchLegacy the lines of PyTorch's export_stacks.
std::unique_ptr<Partial> MakeStacks(const ViewOptions& options);

std::span<const Field> StacksFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STACKS_H_
