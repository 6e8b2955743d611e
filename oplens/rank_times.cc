#include "oplens/rank_times.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace oplens::screen {

void FillRankTimes(const prof::KeptRows& distributed, const prof::KeptRows& overview,
                   Screen* screen) {
  constexpr std::string_view kMeanStep = "mean";
  std::map<std::string_view, double> totals_ns;
  for (size_t i = 0; i < overview.size(); ++i) {
    if (overview.Text(i, "step") != kMeanStep) continue;
    totals_ns[overview.Text(i, "rank")] = overview.Number(i, "total_ns").value_or(0);
  }
  for (size_t i = 0; i < distributed.size(); ++i) {
    if (distributed.Text(i, "step") != kMeanStep) continue;
    RankTime rank;
    rank.rank = distributed.Text(i, "rank");
    if (const auto total = totals_ns.find(rank.rank); total != totals_ns.end()) {
      rank.total_ns = total->second;
    }
    const auto alone = distributed.Number(i, "computation_ns");
    const auto beside = distributed.Number(i, "overlap_ns");
    if (alone && beside) rank.compute_ns = *alone + *beside;
    rank.communication_ns = distributed.Number(i, "communication_ns");
    rank.wait_ns = distributed.Number(i, "wait_ns");
    screen->ranks.push_back(std::move(rank));
  }
  if (screen->ranks.size() < 2 && screen->one_run) return screen->ranks.clear();
  if (screen->ranks.empty()) return;
  const auto time_of = [](const RankTime& rank) { return rank.compute_ns.value_or(0); };
  std::stable_sort(screen->ranks.begin(), screen->ranks.end(),
                   [&](const RankTime& a, const RankTime& b) { return time_of(a) > time_of(b); });
  const double median_ns = time_of(screen->ranks[screen->ranks.size() / 2]);
  const RankTime& slowest = screen->ranks.front();
  if (slowest.compute_ns && slowest.total_ns > 0) {
    screen->slowest_by_pct = 100 * (*slowest.compute_ns - median_ns) / slowest.total_ns;
  }
  screen->shown_rank = screen->ranks.front().rank;
}

}  // namespace oplens::screen
