#ifndef OPLENS_PROF_VIEWS_GIVE_CALLS_H_
#define OPLENS_PROF_VIEWS_GIVE_CALLS_H_

#include <span>

#include "prof/views/collective_matches.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// Gives partials the calls of collectives of all ranks, rank by rank: Partial::AddCalls.
void GiveCalls(const CollectiveMatches& matches, std::span<Partial* const> partials);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GIVE_CALLS_H_
