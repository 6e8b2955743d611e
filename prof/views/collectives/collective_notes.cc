#include "prof/views/collectives/collective_notes.h"

#include <fmt/format.h>

namespace oplens::prof {

void CollectiveNotes::Add(std::span<const CollectiveRow> calls) {
  for (const CollectiveRow& row : calls) {
    const CollectiveShare& share = row.share;
    const bool sought = share.match == CollectiveMatch::kSequence ||
                        share.match == CollectiveMatch::kOrder ||
                        share.loss == CollectiveLoss::kApart;
    ++calls_;
    alone_ += share.match == CollectiveMatch::kAlone ? 1 : 0;
    enqueued_ += row.call.time == CollectiveTime::kEnqueue ? 1 : 0;
    uneven_ += share.loss == CollectiveLoss::kUneven ? 1 : 0;
    apart_ += share.loss == CollectiveLoss::kApart ? 1 : 0;
    guessed_group_ |= sought && !row.group->known();
  }
}

std::vector<std::string> CollectiveNotes::SentencesBehind(std::vector<std::string> notes,
                                                          std::string_view view,
                                                          size_t ranks) const {
  const auto add = [&](std::string_view text) {
    notes.push_back(fmt::format("{}: {}", view, text));
  };
  if (ranks == 1 && alone_ < calls_) {
    add("one rank alone does not show what it waited for: give the profiles of all ranks");
  }
  if (guessed_group_) {
    add("the profiles name no groups: calls are matched as if all ranks were one group");
  }
  if (uneven_ > 0) {
    add(fmt::format("{} calls are unmatched: their ranks have different counts of such calls",
                    int64_t{uneven_}));
  }
  if (apart_ > 0) {
    add(fmt::format("{} calls are unmatched: their counterparts on other ranks ran at another time",
                    int64_t{apart_}));
  }
  if (enqueued_ > 0) {
    add(fmt::format(
        "the kernels of {} calls are not in the profiles: how long they took is not known",
        int64_t{enqueued_}));
  }
  return notes;
}

}  // namespace oplens::prof
