#include "prof/views/collectives/rank_clocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturating.h"

namespace oplens::prof {
namespace {

/// `first`: of a clock against a second; `second`: of that against a third. First against third.
ClockFit Chained(const ClockFit& first, const ClockFit& second) {
  ClockFit whole = first;
  const int64_t at_ns = SaturatingDifference(first.time_ns, first.offset_ns);  // Of the second.
  whole.offset_ns = SaturatingSum(first.offset_ns, second.At(at_ns));
  whole.drift = first.drift + second.drift * (1 - first.drift);
  whole.count = std::min(first.count, second.count);
  return whole;
}

/// Of the second clock against the first.
ClockFit Reversed(const ClockFit& fit) {
  ClockFit reversed = fit;
  reversed.time_ns = SaturatingDifference(fit.time_ns, fit.offset_ns);
  reversed.offset_ns = SaturatingDifference(0, fit.offset_ns);
  reversed.drift = -fit.drift / (1 - fit.drift);  // FitClock() allows far less than 1.
  return reversed;
}

}  // namespace

RankClocks::RankClocks(size_t ranks, std::vector<RankClock> known) {
  std::sort(known.begin(), known.end(), [](const RankClock& a, const RankClock& b) {
    return std::tie(a.rank, a.other) < std::tie(b.rank, b.other);
  });
  std::vector<std::vector<std::pair<uint32_t, ClockFit>>> others(ranks);
  for (const RankClock& clock : known) {
    others[clock.other].emplace_back(clock.rank, clock.fit);
    others[clock.rank].emplace_back(clock.other, Reversed(clock.fit));
  }
  std::vector<bool> reached(ranks, false);
  places_.resize(ranks);
  for (uint32_t root = 0; root < ranks; ++root) {
    if (reached[root]) continue;
    reached[root] = true;
    places_[root] = {root, {.count = SIZE_MAX}};
    std::vector<uint32_t> front = {root};  // The fewest steps to each rank.
    for (size_t i = 0; i < front.size(); ++i) {
      for (const auto& [rank, ahead] : others[front[i]]) {
        if (reached[rank]) continue;
        reached[rank] = true;
        places_[rank] = {root, Chained(ahead, places_[front[i]].ahead)};
        front.push_back(rank);
      }
    }
  }
}

std::optional<ClockFit> RankClocks::Between(uint32_t rank, uint32_t other) const {
  if (rank >= places_.size() || other >= places_.size()) return std::nullopt;
  if (places_[rank].root != places_[other].root) return std::nullopt;
  return Chained(places_[rank].ahead, Reversed(places_[other].ahead));
}

}  // namespace oplens::prof
