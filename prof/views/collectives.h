#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_H_

#include <memory>
#include <span>
#include <string_view>

#include "prof/views/view.h"

namespace oplens::prof {

/// Each call of a collective on each rank, with what it waited for others and what the transfer
/// took: docs/views.md, "collectives". With words of --by sums over calls that are alike.
inline constexpr TraceNeeds kCollectivesNeeds = {};
std::span<const Field> CollectivesFields();
/// Words of --by.
std::span<const std::string_view> CollectiveKeys();
std::unique_ptr<Partial> MakeCollectives(const ViewOptions& options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_H_
