#include "prof/views/give_calls.h"

namespace oplens::prof {

void GiveCalls(const CollectiveMatches& matches, std::span<Partial* const> partials) {
  for (size_t rank = 0; rank < matches.rank_count(); ++rank) {
    const std::vector<CollectiveRow> calls = matches.RowsOf(rank);
    for (Partial* partial : partials) partial->AddCalls(calls);
  }
}

}  // namespace oplens::prof
