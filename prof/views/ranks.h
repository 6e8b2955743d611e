#ifndef OPLENS_PROF_VIEWS_RANKS_H_
#define OPLENS_PROF_VIEWS_RANKS_H_

#include <memory>
#include <span>

#include "prof/views/view.h"

namespace oplens::prof {

/// One row a rank: docs/views_distributed.md, "ranks".
inline constexpr TraceNeeds kRanksNeeds = {TracePart::kMemoryEvents};
std::span<const Field> RanksFields();
std::unique_ptr<Partial> MakeRanks(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_RANKS_H_
