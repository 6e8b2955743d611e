// How CollectiveMatches sets clocks right.

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "prof/views/collectives/collective_matches.h"

namespace oplens::prof {

ClockLag CollectiveMatches::LagOf(const CollectiveRow& row, const Meeting& meeting) {
  const auto& clock = row.recording->clock_offset_ns;
  const int64_t end_ns = row.call.end_ns;
  if (!clock || !meeting.has_clock) {
    return {end_ns, SaturatingDifference(end_ns, meeting.first_end_ns)};
  }
  return {end_ns,
          SaturatingDifference(SaturatingSum(end_ns, *clock),
                               SaturatingSum(meeting.first_end_ns, meeting.first_clock_ns))};
}

const CollectiveMatches::GroupClock* CollectiveMatches::ClockOf(const Rank& rank,
                                                                const CollectiveRow& row,
                                                                const Meeting& meeting) {
  GroupClock sought;
  sought.group = row.call.group;
  sought.first_rank = meeting.first_rank;
  sought.same_clock = row.recording->clock_offset_ns && meeting.has_clock;
  const auto at =
      std::lower_bound(rank.clocks.begin(), rank.clocks.end(), sought,
                       [](const GroupClock& a, const GroupClock& b) { return a.key() < b.key(); });
  return at != rank.clocks.end() && at->key() == sought.key() ? &*at : nullptr;
}

RankClocks CollectiveMatches::ClocksOfAll(Exchange* exchange) const {
  const std::vector<uint32_t> own = {any_all_to_all_ ? 1U : 0U};
  const std::vector<uint32_t> needed = ValuesOfAll(own, "calls", exchange);
  if (std::ranges::all_of(needed, [](uint32_t any) { return any == 0; })) return {};
  std::vector<RankClock> known;
  for (const Rank& rank : ranks_) AddClocksOf(rank, &known);
  known = ValuesOfAll(known, "clocks", exchange);
  std::erase_if(known, [&](const RankClock& clock) {
    return clock.rank >= names_.size() || clock.other >= names_.size();
  });
  return {names_.size(), std::move(known)};
}

void CollectiveMatches::AddClocksOf(const Rank& rank, std::vector<RankClock>* known) const {
  if (rank.recordings->size() != 1) return;        // Each file has a clock of its own.
  std::map<uint32_t, std::vector<ClockLag>> lags;  // By first rank.
  const std::vector<CollectiveRow> rows = CallsOf(rank);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Meeting* const meeting = MeetingOf(rows[i], meeting_of_[rank.first_call + i]);
    if (meeting == nullptr || !EndsAtOnce(rows[i].call.kind)) continue;
    if (meeting->first_rank == rank.number) continue;
    const int64_t end_ns = rows[i].call.end_ns;
    lags[meeting->first_rank].push_back(
        {end_ns, SaturatingDifference(end_ns, meeting->first_end_ns)});
  }
  for (auto& [first_rank, of] : lags) {
    if (of.size() < kLeastForClock) continue;
    known->push_back({rank.number, first_rank, FitClock(std::move(of))});
  }
}

void CollectiveMatches::SetClocks(const std::vector<CollectiveRow>& rows, const RankClocks& all,
                                  Rank* rank) const {
  struct Lags {
    std::vector<ClockLag> at_once;
    std::vector<ClockLag> others;
    int64_t ahead_ns = 0;  // What the files say of their clocks, if both do.
  };
  std::map<std::tuple<uint32_t, uint32_t, bool>, Lags> lags;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Meeting* const meeting = MeetingOf(rows[i], meeting_of_[rank->first_call + i]);
    if (meeting == nullptr || !EndsTogether(rows[i].call.kind)) continue;
    const auto& clock = rows[i].recording->clock_offset_ns;
    const bool same_clock = clock && meeting->has_clock;
    Lags& of = lags[{rows[i].call.group, meeting->first_rank, same_clock}];
    if (same_clock) of.ahead_ns = SaturatingDifference(*clock, meeting->first_clock_ns);
    (EndsAtOnce(rows[i].call.kind) ? of.at_once : of.others).push_back(LagOf(rows[i], *meeting));
  }
  for (auto& [key, of] : lags) {
    const auto& [group, first_rank, same_clock] = key;
    if (of.at_once.size() < kLeastForClock && !of.others.empty()) {
      auto clock = all.Between(rank->number, first_rank);
      if (clock && rank->recordings->size() == 1) {
        SaturatingAdd(&clock->offset_ns, of.ahead_ns);
        rank->clocks.push_back({group, first_rank, same_clock, *clock});
        continue;
      }
      std::move(of.others.begin(), of.others.end(), std::back_inserter(of.at_once));
    }
    rank->clocks.push_back({group, first_rank, same_clock, FitClock(std::move(of.at_once))});
  }
}

std::optional<int64_t> CollectiveMatches::ArrivalOf(const Rank& rank, const CollectiveRow& row,
                                                    const Meeting& meeting) {
  if (rank.number == meeting.first_rank) return row.call.start_ns;
  const GroupClock* const clock = ClockOf(rank, row, meeting);
  if (clock == nullptr) return std::nullopt;
  int64_t start_ns = row.call.start_ns;
  if (clock->same_clock) SaturatingAdd(&start_ns, *row.recording->clock_offset_ns);
  start_ns = SaturatingDifference(start_ns, clock->fit.At(row.call.start_ns));
  return clock->same_clock ? SaturatingDifference(start_ns, meeting.first_clock_ns) : start_ns;
}

}  // namespace oplens::prof
