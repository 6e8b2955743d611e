#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_NOTES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_NOTES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/sums.h"
#include "prof/views/collectives/collective_row.h"

namespace oplens::prof {

/// What a reader of calls that were matched must know of them.
class CollectiveNotes {
 public:
  void Add(std::span<const CollectiveRow> calls);
  /// Behind other `notes`. Each begins with the name of the view. `ranks`: how many there are.
  std::vector<std::string> SentencesBehind(std::vector<std::string> notes, std::string_view view,
                                           size_t ranks) const;

 private:
  Count calls_;
  Count alone_;
  Count enqueued_;
  Count uneven_;
  Count apart_;
  Any guessed_group_;  // Calls were matched of which no group is recorded.

 public:
  static constexpr std::tuple kMembers{
      &CollectiveNotes::calls_,  &CollectiveNotes::alone_, &CollectiveNotes::enqueued_,
      &CollectiveNotes::uneven_, &CollectiveNotes::apart_, &CollectiveNotes::guessed_group_};
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_NOTES_H_
