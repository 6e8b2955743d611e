#include "prof/verdicts/network_culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "base/median.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/load_series.h"
#include "prof/verdicts/pair_culprits.h"
#include "prof/verdicts/peers.h"

namespace oplens::prof {
namespace {

/// Least slowdown of transfers, and least cost as a share of the step.
constexpr double kLeastSlower = 0.2;
constexpr double kLeastOfStep = 0.003;

struct NetworkStep {
  int64_t transfer_ns = 0;
  int64_t exposed_ns = 0;  ///< The least of the members.
  int64_t calls = 0;
  int64_t total_ns = 0;
};

/// A process group as its members know it together.
struct NetworkGroup {
  std::string key;  ///< Of RankLoad::groups.
  std::string who;  ///< "data [0, 2]"
  std::string kind;
  int64_t size = -1;
  std::vector<size_t> members;  ///< Indices of ranks.
  std::map<int64_t, NetworkStep> steps;
};

struct SlowGroup {
  const NetworkGroup* group = nullptr;
  Culprit culprit;
  double slower = 0;  ///< Transfer time over the usual one.
};

std::vector<NetworkGroup> GroupsOf(const std::vector<CulpritRank>& ranks) {
  std::map<std::string_view, NetworkGroup> groups;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankLoad& load = *ranks[i].load;
    for (const auto& [key, group] : load.groups) {
      NetworkGroup& whole = groups[key];
      if (whole.members.empty()) {
        const auto kind = ranks[i].group_kinds.find(key);
        whole.kind = kind == ranks[i].group_kinds.end() ? std::string() : kind->second;
        whole.size = group.size;
        whole.who = fmt::format("{} {}", whole.kind.empty() ? "group" : whole.kind,
                                group.ranks.empty() ? group.name : group.ranks);
      }
      whole.members.push_back(i);
      for (const auto& [at, sums] : group.steps) {
        const LoadStep& step = load.steps[at];
        if (!step.steady) continue;
        const auto [known, fresh] = whole.steps.try_emplace(step.number);
        NetworkStep& of = known->second;
        of.transfer_ns = std::max(of.transfer_ns, int64_t{sums.transfer_ns});
        of.exposed_ns =
            fresh ? int64_t{sums.exposed_ns} : std::min(of.exposed_ns, int64_t{sums.exposed_ns});
        of.calls = std::max(of.calls, int64_t{sums.calls});
        of.total_ns = std::max(of.total_ns, int64_t{step.total_ns});
      }
    }
  }
  std::vector<NetworkGroup> found;
  for (auto& [key, group] : groups) {
    group.key = key;
    if (group.members.size() > 1) found.push_back(std::move(group));
  }
  return found;
}

using Figure = int64_t NetworkStep::*;

/// The figure of groups of the same kind and size, by step.
PeersOfSteps PeersOfGroups(const std::vector<const NetworkGroup*>& alike, Figure figure) {
  PeersOfSteps all;
  for (const NetworkGroup* group : alike) {
    for (const auto& [number, step] : group->steps) all[number].Add(step.*figure);
  }
  for (auto& [number, peers] : all) peers.Sort();
  return all;
}

/// Against the others in the same step.
LoadSeries AgainstOthers(const NetworkGroup& group, const PeersOfSteps& all, Figure figure) {
  LoadSeries series;
  for (const auto& [number, step] : group.steps) {
    const Peers& peers = all.at(number);
    if (peers.size() < 2) continue;
    const int64_t own = step.*figure;
    series.Add(number, series.steps.size(), static_cast<double>(own) - peers.MedianWithout(own),
               static_cast<double>(step.total_ns));
  }
  return series;
}

/// Against its own first steps.
LoadSeries AgainstEarlier(const NetworkGroup& group, Figure figure) {
  std::vector<double> first;
  for (const auto& [number, step] : group.steps) {
    if (first.size() >= std::max<size_t>(3, group.steps.size() / 5)) break;
    first.push_back(static_cast<double>(step.*figure));
  }
  const double base = MedianOf(std::move(first));
  LoadSeries series;
  for (const auto& [number, step] : group.steps) {
    series.Add(number, series.steps.size(), static_cast<double>(step.*figure) - base,
               static_cast<double>(step.total_ns));
  }
  return series;
}

double MeanOwn(const NetworkGroup& group, const std::set<int64_t>& numbers, Figure figure) {
  double sum = 0;
  size_t count = 0;
  for (const auto& [number, step] : group.steps) {
    if (!numbers.contains(number)) continue;
    sum += static_cast<double>(step.*figure);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::optional<SlowGroup> SlowIn(const NetworkGroup& group, const LoadSeries& transfer,
                                const LoadSeries& exposed) {
  const std::optional<Episode> episode = EpisodeOf(transfer);
  if (!episode || !episode->since) return std::nullopt;
  std::set<int64_t> numbers;
  double total = 0;
  for (const size_t i : episode->slow) {
    numbers.insert(transfer.steps[i]);
    total += static_cast<double>(group.steps.at(transfer.steps[i]).total_ns);
  }
  total /= static_cast<double>(episode->slow.size());
  const double own = MeanOwn(group, numbers, &NetworkStep::transfer_ns);
  const double usual = own - MeanAt(transfer.excess_ns, episode->slow);
  if (usual <= 0 || own < (1 + kLeastSlower) * usual) return std::nullopt;
  // Steps are the same in both series.
  const double cost = MeanAt(exposed.excess_ns, episode->slow);
  if (cost < kLeastOfStep * total) return std::nullopt;
  SlowGroup slow;
  slow.group = &group;
  slow.slower = own / usual;
  slow.culprit.who = group.who;
  slow.culprit.cause = CulpritCause::kNetwork;
  slow.culprit.what = fmt::format("transfers take {:.1f} times as long", slow.slower);
  slow.culprit.since_step = transfer.steps[*episode->since];
  slow.culprit.grows = episode->grows;
  slow.culprit.tested = episode->tested;
  slow.culprit.steps = transfer.steps.size();
  slow.culprit.cost_ns = static_cast<int64_t>(std::llround(std::min(cost, 9e18)));
  slow.culprit.cost_share = total > 0 ? cost / total : 0;
  slow.culprit.ranks = group.members;
  return slow;
}

/// What the members of all slow groups share and no fast group of their kinds has as a whole.
std::string SharedBy(const std::vector<const SlowGroup*>& slow,
                     const std::vector<NetworkGroup>& groups,
                     const std::vector<CulpritRank>& ranks) {
  std::set<std::string_view> slow_names;
  std::set<std::string_view> kinds;
  std::set<size_t> shared(slow.front()->group->members.begin(), slow.front()->group->members.end());
  std::set<std::string_view> nodes;
  for (const size_t rank : shared) nodes.insert(ranks[rank].node);
  for (const SlowGroup* one : slow) {
    slow_names.insert(one->group->who);
    kinds.insert(one->group->kind);
    const std::set<size_t> own(one->group->members.begin(), one->group->members.end());
    std::erase_if(shared, [&](size_t rank) { return !own.contains(rank); });
    std::set<std::string_view> own_nodes;
    for (const size_t rank : own) own_nodes.insert(ranks[rank].node);
    std::erase_if(nodes, [&](std::string_view node) { return !own_nodes.contains(node); });
  }
  const auto is_fast = [&](const NetworkGroup& group) {
    return kinds.contains(group.kind) && !slow_names.contains(group.who);
  };
  for (const NetworkGroup& group : groups) {
    if (!is_fast(group)) continue;
    for (const size_t rank : group.members) {
      if (shared.size() == 1) shared.erase(rank);
      nodes.erase(ranks[rank].node);
    }
  }
  nodes.erase("");
  if (slow.size() > 1 && shared.size() == 1) {
    return fmt::format("rank {}", ranks[*shared.begin()].name);
  }
  if (slow.size() > 1 && shared.size() == 2) {
    return fmt::format("link of ranks {} and {}", ranks[*shared.begin()].name,
                       ranks[*shared.rbegin()].name);
  }
  if (nodes.size() == 1) return fmt::format("node {}", *nodes.begin());
  return "";
}

}  // namespace

std::vector<Culprit> FindNetworkCulprits(const std::vector<CulpritRank>& ranks) {
  const std::vector<NetworkGroup> groups = GroupsOf(ranks);
  std::map<std::pair<std::string_view, int64_t>, std::vector<const NetworkGroup*>> alike;
  for (const NetworkGroup& group : groups) alike[{group.kind, group.size}].push_back(&group);
  SlowPairs pairs = FindSlowPairs(ranks);
  std::vector<SlowGroup> slow;
  for (const auto& [key, of] : alike) {
    const PeersOfSteps transfers = PeersOfGroups(of, &NetworkStep::transfer_ns);
    const PeersOfSteps exposed = PeersOfGroups(of, &NetworkStep::exposed_ns);
    for (const NetworkGroup* group : of) {
      if (pairs.groups.contains(group->key)) continue;  // Its transfers wait for the pair.
      std::optional<SlowGroup> found;
      if (of.size() > 1) {
        found = SlowIn(*group, AgainstOthers(*group, transfers, &NetworkStep::transfer_ns),
                       AgainstOthers(*group, exposed, &NetworkStep::exposed_ns));
      }
      if (!found && group->steps.size() >= kLeastSteps) {
        found = SlowIn(*group, AgainstEarlier(*group, &NetworkStep::transfer_ns),
                       AgainstEarlier(*group, &NetworkStep::exposed_ns));
      }
      if (found) slow.push_back(*std::move(found));
    }
  }
  std::vector<Culprit> culprits = std::move(pairs.culprits);
  if (slow.empty()) return culprits;
  std::vector<const SlowGroup*> all;
  for (const SlowGroup& one : slow) all.push_back(&one);
  const std::string shared = SharedBy(all, groups, ranks);
  const auto costliest = std::ranges::max_element(
      slow, {}, [](const SlowGroup& one) { return one.culprit.cost_ns.value_or(0); });
  constexpr size_t kFew = 2;
  const bool most = slow.size() > kFew && slow.size() * 2 > groups.size();
  if (shared.empty() && !most && slow.size() <= kFew) {
    for (SlowGroup& one : slow) culprits.push_back(std::move(one.culprit));
    return culprits;
  }
  Culprit whole = costliest->culprit;
  if (!shared.empty()) {
    whole.who = shared;
  } else if (most) {
    whole.who = "the network";
  }
  if (slow.size() > 1) {
    whole.what =
        fmt::format("{} of {} groups: transfers take up to {:.1f} times as long: {}", slow.size(),
                    groups.size(), std::ranges::max_element(slow, {}, &SlowGroup::slower)->slower,
                    costliest->group->who);
  } else {
    whole.what += fmt::format(": {}", costliest->group->who);
  }
  culprits.push_back(std::move(whole));
  return culprits;
}

}  // namespace oplens::prof
