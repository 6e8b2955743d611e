#ifndef OPLENS_PROF_VIEWS_MEMORY_OPS_H_
#define OPLENS_PROF_VIEWS_MEMORY_OPS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kMemoryOpsNeeds = {TracePart::kMemoryEvents};

/// What each operator took of memory and gave back (docs/views.md, "memory-ops"). `by` takes layer,
/// stack, step, rank; UsageError for other words.
std::unique_ptr<Partial> MakeMemoryOps(const ViewOptions& options);

/// Its fields without those that `by` adds.
std::span<const Field> MemoryOpsFields();

/// Words of `by`.
std::span<const std::string_view> MemoryOpsKeys();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_OPS_H_
