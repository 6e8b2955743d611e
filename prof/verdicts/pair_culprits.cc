#include "prof/verdicts/pair_culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/median.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/load_series.h"

namespace oplens::prof {
namespace {

/// The all_to_all of one member in a step.
struct MemberStep {
  int64_t end_ns = 0;
  int64_t exposed_ns = 0;
  int64_t total_ns = 0;
};

/// Steps in which each member has the same number of all_to_all; members by index of the rank.
using GroupSteps = std::map<int64_t, std::map<size_t, MemberStep>>;

struct Member {
  size_t rank = 0;
  std::string_view group;  // Key of RankLoad::groups.
  const LoadGroup* of = nullptr;
};

/// A rank that ends late.
struct Late {
  size_t rank = 0;
  LoadSeries series;  // By how much; one entry per step of the group.
  Episode episode;
  double late_ns = 0;  // Mean over the episode.
};

GroupSteps StepsOf(const std::vector<Member>& members, const std::vector<CulpritRank>& ranks) {
  std::map<int64_t, std::map<int64_t, size_t>> counts;  // Members by their number of calls.
  GroupSteps steps;
  for (const Member& member : members) {
    const RankLoad& load = *ranks[member.rank].load;
    for (const auto& [at, sums] : member.of->steps) {
      const LoadStep& step = load.steps[at];
      if (!step.steady || sums.ends == 0) continue;
      ++counts[step.number][sums.ends];
      steps[step.number][member.rank] = {sums.end_ns, sums.end_exposed_ns, step.total_ns};
    }
  }
  std::erase_if(steps, [&](const auto& step) {
    return step.second.size() != members.size() || counts.at(step.first).size() != 1;
  });
  return steps;
}

/// When members end that no slow link keeps: fewer than three of four are kept.
double UsualEndOf(const std::map<size_t, MemberStep>& members) {
  std::vector<int64_t> ends_ns;
  for (const auto& [rank, step] : members) ends_ns.push_back(step.end_ns);
  const auto usual = ends_ns.begin() + static_cast<std::ptrdiff_t>((ends_ns.size() - 1) / 4);
  std::nth_element(ends_ns.begin(), usual, ends_ns.end());
  return static_cast<double>(*usual);
}

LoadSeries EndsOf(size_t rank, const GroupSteps& steps) {
  LoadSeries series;
  for (const auto& [number, members] : steps) {
    const MemberStep& own = members.at(rank);
    series.Add(number, series.steps.size(), static_cast<double>(own.end_ns) - UsualEndOf(members),
               static_cast<double>(own.total_ns));
  }
  return series;
}

/// Against its own first steps: where no other calls set the clocks right, one that always ends
/// late looks like a clock that is ahead, but one that begins to is seen.
LoadSeries AgainstFirst(const LoadSeries& series) {
  const size_t count = std::max<size_t>(3, series.steps.size() / 5);
  const double base = MedianOf(
      {series.excess_ns.begin(), series.excess_ns.begin() + static_cast<std::ptrdiff_t>(count)});
  LoadSeries against;
  for (size_t i = 0; i < series.steps.size(); ++i) {
    const double whole = series.shares[i] != 0 ? series.excess_ns[i] / series.shares[i] : 0;
    against.Add(series.steps[i], i, series.excess_ns[i] - base, whole);
  }
  return against;
}

std::optional<Late> LateOf(size_t rank, const GroupSteps& steps) {
  Late late;
  late.rank = rank;
  late.series = EndsOf(rank, steps);
  std::optional<Episode> episode = EpisodeOf(late.series);
  if ((!episode || !episode->since) && late.series.steps.size() >= kLeastSteps) {
    late.series = AgainstFirst(late.series);
    episode = EpisodeOf(late.series);
  }
  if (!episode || !episode->since) return std::nullopt;
  late.episode = *std::move(episode);
  late.late_ns = MeanAt(late.series.excess_ns, late.episode.slow);
  return late;
}

/// Both end at the same moment, whenever that is, as the last message between them does.
bool EndAtOnce(const Late& a, const Late& b) {
  constexpr double kMostApart = 0.2;
  double apart = 0;
  for (const size_t i : a.episode.slow) {
    apart += std::abs(a.series.excess_ns[i] - b.series.excess_ns[i]);
  }
  apart /= static_cast<double>(a.episode.slow.size());
  return apart < kMostApart * std::min(a.late_ns, b.late_ns);
}

/// The two of the group that end late; nullopt: none does, or others do too.
std::optional<std::pair<Late, Late>> PairOf(const std::vector<Member>& members,
                                            const GroupSteps& steps) {
  constexpr size_t kLeastMembers = 3;
  if (members.size() < kLeastMembers || steps.empty()) return std::nullopt;
  std::vector<Late> late;
  for (const Member& member : members) {
    if (auto one = LateOf(member.rank, steps)) late.push_back(*std::move(one));
  }
  std::stable_sort(late.begin(), late.end(),
                   [](const Late& a, const Late& b) { return a.late_ns > b.late_ns; });
  if (late.size() < 2 || !EndAtOnce(late[0], late[1])) return std::nullopt;
  if (late.size() > 2 && late[2].late_ns > late[1].late_ns / 2) return std::nullopt;
  return std::pair(std::move(late[0]), std::move(late[1]));
}

Culprit CulpritOf(const std::pair<Late, Late>& pair, const std::vector<Member>& members,
                  const GroupSteps& steps, const std::vector<CulpritRank>& ranks) {
  const auto& [first, second] = pair;
  double cost = 0;
  double total = 0;
  for (const size_t i : first.episode.slow) {
    const auto& step = steps.at(first.series.steps[i]);
    double own = std::min(first.series.excess_ns[i], second.series.excess_ns[i]);
    for (const Late* late : {&first, &second}) {
      own = std::min(own, static_cast<double>(step.at(late->rank).exposed_ns));
    }
    cost += std::max(0.0, own);
    total += static_cast<double>(step.at(first.rank).total_ns);
  }
  const auto count = static_cast<double>(first.episode.slow.size());
  const CulpritRank& a = ranks[std::min(first.rank, second.rank)];
  const CulpritRank& b = ranks[std::max(first.rank, second.rank)];
  const auto kind = a.group_kinds.find(std::string(members.front().group));
  const LoadGroup& group = *members.front().of;
  Culprit culprit;
  culprit.who = fmt::format("link of ranks {} and {}", a.name, b.name);
  culprit.cause = CulpritCause::kNetwork;
  culprit.what =
      fmt::format("their all_to_all ends {:.2f} ms a step later than that of the others: {} {}",
                  first.late_ns / 1e6,
                  kind == a.group_kinds.end() || kind->second.empty() ? "group" : kind->second,
                  group.ranks.empty() ? group.name : group.ranks);
  culprit.since_step = first.series.steps[*first.episode.since];
  culprit.grows = first.episode.grows;
  culprit.tested = first.episode.tested;
  culprit.steps = first.series.steps.size();
  culprit.cost_ns = static_cast<int64_t>(std::llround(std::min(cost / count, 9e18)));
  culprit.cost_share = total > 0 ? cost / total : 0;
  culprit.ranks = {std::min(first.rank, second.rank), std::max(first.rank, second.rank)};
  return culprit;
}

}  // namespace

SlowPairs FindSlowPairs(const std::vector<CulpritRank>& ranks) {
  std::map<std::string_view, std::vector<Member>> groups;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (const auto& [key, group] : ranks[i].load->groups) groups[key].push_back({i, key, &group});
  }
  SlowPairs slow;
  std::map<std::vector<size_t>, Culprit> costliest;  // By ranks: of several groups that have both.
  for (const auto& [key, members] : groups) {
    const GroupSteps steps = StepsOf(members, ranks);
    const auto pair = PairOf(members, steps);
    if (!pair) continue;
    Culprit culprit = CulpritOf(*pair, members, steps, ranks);
    slow.groups.insert(std::string(key));
    const auto [known, fresh] = costliest.try_emplace(culprit.ranks, culprit);
    if (!fresh && known->second.cost_ns < culprit.cost_ns) known->second = std::move(culprit);
  }
  for (auto& [of, culprit] : costliest) slow.culprits.push_back(std::move(culprit));
  return slow;
}

}  // namespace oplens::prof
