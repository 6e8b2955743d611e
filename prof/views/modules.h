#ifndef OPLENS_PROF_VIEWS_MODULES_H_
#define OPLENS_PROF_VIEWS_MODULES_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr TraceNeeds kModulesNeeds = {TracePart::kMemoryEvents};

/// What each module of the network cost, as a tree (docs/views_modules.md). `by` takes step and
/// rank; UsageError for other words.
std::unique_ptr<Partial> MakeModules(const ViewOptions& options);

/// Its fields without those that `by` adds.
std::span<const Field> ModulesFields();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MODULES_H_
