#ifndef OPLENS_PROF_VIEWS_DISTRIBUTED_H_
#define OPLENS_PROF_VIEWS_DISTRIBUTED_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// How long each rank computed, communicated and did both in each step, and what it waited for
/// other ranks: docs/views.md, "distributed".
inline constexpr TraceNeeds kDistributedNeeds = {};
std::span<const Field> DistributedFields();
std::unique_ptr<Partial> MakeDistributed(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_DISTRIBUTED_H_
