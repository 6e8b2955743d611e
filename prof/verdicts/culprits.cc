#include "prof/verdicts/culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/saturating.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/file_culprits.h"
#include "prof/verdicts/network_culprits.h"
#include "prof/verdicts/stage_judge.h"

namespace oplens::prof {
namespace {

/// Judges ranks that do the same; those that do other work are no measure for the others.
void JudgeAlike(const std::vector<const RankLoad*>& loads,
                std::map<const RankLoad*, LoadFinding>* of_loads) {
  if (loads.size() < 2) return;
  std::vector<LoadFinding> found = JudgeStage(loads);
  std::vector<const RankLoad*> alike;
  for (size_t i = 0; i < loads.size(); ++i) {
    const bool other = std::ranges::any_of(found[i].culprits, [](const Culprit& culprit) {
      return culprit.cause == CulpritCause::kOtherWork;
    });
    if (!other) alike.push_back(loads[i]);
    (*of_loads)[loads[i]] = std::move(found[i]);
  }
  if (alike.size() == loads.size() || alike.size() < 2) return;
  found = JudgeStage(alike);
  for (size_t i = 0; i < alike.size(); ++i) (*of_loads)[alike[i]] = std::move(found[i]);
}

/// One row for the ranks of a node that are slow alike, if all of its ranks are and others are not.
void JoinNodes(const std::vector<CulpritRank>& ranks, std::vector<Culprit>* culprits) {
  std::map<std::string_view, size_t> sizes;
  for (const CulpritRank& rank : ranks) ++sizes[rank.node];
  if (sizes.size() < 2) return;
  std::map<std::pair<std::string_view, CulpritCause>, std::vector<size_t>> alike;
  for (size_t i = 0; i < culprits->size(); ++i) {
    const Culprit& one = (*culprits)[i];
    if (IsAboutFiles(one.cause) || one.ranks.size() != 1) continue;
    alike[{ranks[one.ranks.front()].node, one.cause}].push_back(i);
  }
  std::set<size_t> joined;
  std::vector<Culprit> nodes;
  for (const auto& [key, members] : alike) {
    const auto& [node, cause] = key;
    if (node.empty() || members.size() < 2 || members.size() * 4 < sizes.at(node) * 3) continue;
    const auto costliest = std::ranges::max_element(
        members, {}, [&](size_t i) { return (*culprits)[i].cost_ns.value_or(-1); });
    Culprit whole = (*culprits)[*costliest];
    whole.who = fmt::format("node {}", node);
    whole.what = fmt::format("{} of its {} ranks: {}, {}", members.size(), sizes.at(node),
                             CulpritWord(whole.cause), whole.what);
    whole.cause = CulpritCause::kSlowNode;
    whole.ranks.clear();
    for (const size_t i : members) {
      joined.insert(i);
      whole.ranks.push_back((*culprits)[i].ranks.front());
    }
    nodes.push_back(std::move(whole));
  }
  std::vector<Culprit> left;
  for (size_t i = 0; i < culprits->size(); ++i) {
    if (!joined.contains(i)) left.push_back(std::move((*culprits)[i]));
  }
  *culprits = std::move(left);
  std::move(nodes.begin(), nodes.end(), std::back_inserter(*culprits));
}

/// What the culprit costs in all steps in which it is slow; 0: not known.
double WholeCostOf(const Culprit& one, const std::vector<CulpritRank>& ranks) {
  size_t steps = one.steps;  // cost_ns is the mean over all if it is slow at times.
  if (one.since_step) {
    steps = static_cast<size_t>(std::ranges::count_if(
        ranks[one.ranks.front()].load->steps,
        [&](const LoadStep& step) { return step.steady && step.number >= *one.since_step; }));
  }
  return static_cast<double>(one.cost_ns.value_or(0)) * static_cast<double>(steps);
}

/// Who waits for a rank, by its name, and how long.
using Waiters = std::map<std::string_view, std::vector<std::pair<size_t, double>>>;

Waiters WaitersOf(const std::vector<CulpritRank>& ranks) {
  Waiters waiters;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (const auto* const waits_ns : {&ranks[i].load->waited_ns, &ranks[i].load->peers_ns}) {
      for (const auto& [last, wait_ns] : *waits_ns) {
        waiters[last].emplace_back(i, static_cast<double>(int64_t{wait_ns}));
      }
    }
  }
  return waiters;
}

/// Calls `take` with those who wait at least half as long as a culprit costs, for it or for a rank
/// that waits for it. Marks them in `taken`, and passes by those who are.
template <typename Take>
void ForWaiters(const Culprit& one, const std::vector<CulpritRank>& ranks, const Waiters& waiters,
                std::vector<bool>* taken, Take take) {
  const double least = WholeCostOf(one, ranks) / 2;
  std::vector<size_t> reached = one.ranks;
  while (!reached.empty()) {
    const auto of = waiters.find(ranks[reached.back()].name);
    reached.pop_back();
    if (of == waiters.end()) continue;
    for (const auto& [waiter, wait_ns] : of->second) {
      if ((*taken)[waiter] || wait_ns < least) continue;
      (*taken)[waiter] = true;
      take(waiter);
      reached.push_back(waiter);
    }
  }
}

/// By rank: the largest share of a step that a slow link costs which the rank has or waits for.
std::vector<double> SharesOfLinks(const std::vector<CulpritRank>& ranks,
                                  const std::vector<Culprit>& network) {
  std::vector<double> shares(ranks.size(), 0);
  const Waiters waiters = WaitersOf(ranks);
  for (const Culprit& one : network) {
    if (one.ranks.size() != 2) continue;
    std::vector<bool> taken(ranks.size(), false);
    const auto take = [&](size_t rank) { shares[rank] = std::max(shares[rank], one.cost_share); };
    for (const size_t rank : one.ranks) {
      taken[rank] = true;
      take(rank);
    }
    ForWaiters(one, ranks, waiters, &taken, take);
  }
  return shares;
}

/// With too few steps for a test, what others waited for a rank counts, if that is known: the mean
/// over them, per step.
/// Not of a rank that a slow link makes late. In a pipeline others wait for the ranks of a stage
/// anyway: what counts there is how much later than those a rank comes.
void AddLate(const std::vector<CulpritRank>& ranks, const std::vector<RankFinding>& findings,
             const std::vector<Culprit>& network, std::vector<Culprit>* culprits) {
  constexpr double kLeastLate = 0.02;
  const bool staged = std::ranges::any_of(
      ranks, [&](const CulpritRank& rank) { return rank.stage != ranks.front().stage; });
  const std::vector<double> of_links = SharesOfLinks(ranks, network);
  std::map<std::string_view, int64_t> caused_ns;
  for (const CulpritRank& rank : ranks) {
    for (const auto& [last, wait_ns] : rank.load->waited_ns) {
      SaturatingAdd(&caused_ns[last], wait_ns);
    }
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto caused = caused_ns.find(ranks[i].name);
    std::vector<const LoadStep*> steps;
    double total = 0;
    for (const LoadStep& step : ranks[i].load->steps) {
      if (!step.steady) continue;
      steps.push_back(&step);
      total += static_cast<double>(int64_t{step.total_ns});
    }
    if (caused == caused_ns.end() || steps.empty() || steps.size() >= kLeastSteps) continue;
    double cost = static_cast<double>(caused->second) / static_cast<double>(ranks.size() - 1);
    if (staged) {
      const auto later_ns = static_cast<double>(findings[i].late_ns.value_or(0));
      cost = std::min(cost, later_ns * static_cast<double>(steps.size()));
    }
    if (cost < kLeastLate * total) continue;
    // Who waits as long for a culprit, or for a rank that causes more, only follows it.
    const bool follows = std::ranges::any_of(ranks[i].load->waited_ns, [&](const auto& of) {
      const auto other = caused_ns.find(of.first);
      const bool more = other != caused_ns.end() && other->second > caused->second;
      const bool named = std::ranges::any_of(*culprits, [&](const Culprit& one) {
        return !IsAboutFiles(one.cause) && one.ranks.size() == 1 &&
               ranks[one.ranks.front()].name == of.first;
      });
      return (more || named) && 2 * static_cast<double>(int64_t{of.second}) > cost;
    });
    // What it does more, shows why it comes late.
    const bool does_more = std::ranges::any_of(*culprits, [&](const Culprit& one) {
      return one.cause == CulpritCause::kOtherWork && one.ranks == std::vector<size_t>{i};
    });
    // So does a slow link, unless it costs far less.
    constexpr double kFarLess = 0.25;
    if (follows || does_more || of_links[i] > kFarLess * cost / total) continue;
    auto own = std::ranges::find_if(*culprits, [&](const Culprit& one) {
      return !IsAboutFiles(one.cause) && one.ranks == std::vector<size_t>{i};
    });
    if (own == culprits->end()) {
      Culprit late;
      late.who = fmt::format("rank {}", ranks[i].name);
      late.cause = CulpritCause::kLate;
      late.what = "others wait for it; nothing of its own shows why";
      late.since_step = steps.front()->number;
      late.steps = steps.size();
      late.ranks = {i};
      own = culprits->insert(culprits->end(), std::move(late));
    }
    const auto cost_ns = static_cast<int64_t>(cost / static_cast<double>(steps.size()));
    if (cost_ns <= own->cost_ns.value_or(0)) continue;
    own->cost_ns = cost_ns;
    own->cost_share = cost / total;
  }
}

/// Whether it is a rank, or ranks of a node, for which others can wait.
bool IsOfRanks(const Culprit& one) {
  return !IsAboutFiles(one.cause) && one.cause != CulpritCause::kNetwork;
}

/// Finds who waits for which culprit. What others wait for anyway, as in a pipeline, may be longer,
/// so that the longest wait does not lead there. The costliest culprit goes first.
void FindWaiters(const std::vector<CulpritRank>& ranks, RunFinding* finding) {
  const Waiters waiters = WaitersOf(ranks);
  if (waiters.empty()) return;
  std::vector<bool> taken(ranks.size(), false);
  for (const Culprit& one : finding->culprits) {
    if (!IsOfRanks(one)) continue;
    for (const size_t rank : one.ranks) taken[rank] = true;
  }
  for (size_t i = 0; i < finding->culprits.size(); ++i) {
    Culprit& one = finding->culprits[i];
    if (!IsOfRanks(one)) continue;
    size_t count = 0;
    ForWaiters(one, ranks, waiters, &taken, [&](size_t waiter) {
      finding->ranks[waiter].waits_for = i;
      ++count;
    });
    one.waiters = count;
  }
}

}  // namespace

std::string_view CulpritWord(CulpritCause cause) {
  constexpr std::string_view kWords[] = {
      "missing",    "twice",     "other run", "fewer steps", "other work",  "slow op",
      "slow layer", "slow GPU",  "slow node", "slow ops",    "data loader", "gc.collect",
      "checkpoint", "allocator", "copies",    "host",        "late",        "network"};
  return kWords[static_cast<size_t>(cause)];
}

RunFinding JudgeRanks(const std::vector<CulpritRank>& ranks) {
  RunFinding verdict;
  std::vector<Culprit>& culprits = verdict.culprits;
  culprits = FindFileCulprits(ranks);
  std::map<int64_t, std::vector<const RankLoad*>> stages;
  std::set<size_t> apart;  // Ranks of other runs are compared with none.
  for (const Culprit& culprit : culprits) {
    if (culprit.cause == CulpritCause::kOtherRun) {
      apart.insert(culprit.ranks.begin(), culprit.ranks.end());
    }
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!apart.contains(i)) stages[ranks[i].stage].push_back(ranks[i].load);
  }
  std::map<const RankLoad*, LoadFinding> of_loads;
  for (const auto& [stage, loads] : stages) JudgeAlike(loads, &of_loads);
  for (size_t i = 0; i < ranks.size(); ++i) {
    LoadFinding& of_load = of_loads[ranks[i].load];
    RankFinding& own = verdict.ranks.emplace_back();
    own.steps = of_load.steps;
    own.late_ns = of_load.late_ns;
    for (Culprit& culprit : of_load.culprits) {
      culprit.who = fmt::format("rank {}", ranks[i].name);
      culprit.ranks = {i};
      culprits.push_back(std::move(culprit));
    }
  }
  std::vector<Culprit> network = FindNetworkCulprits(ranks);
  if (ranks.size() > 1) AddLate(ranks, verdict.ranks, network, &culprits);
  JoinNodes(ranks, &culprits);
  std::move(network.begin(), network.end(), std::back_inserter(culprits));
  std::stable_sort(culprits.begin(), culprits.end(), [](const Culprit& a, const Culprit& b) {
    const auto key = [](const Culprit& of) {
      const bool files = IsAboutFiles(of.cause);
      return std::tuple(!files, files ? 0 : -of.cost_ns.value_or(-1),
                        files ? static_cast<int>(of.cause) : 0);
    };
    return key(a) < key(b);
  });
  FindWaiters(ranks, &verdict);
  for (size_t i = 0; i < culprits.size(); ++i) {
    if (culprits[i].cause == CulpritCause::kNetwork) continue;
    for (const size_t rank : culprits[i].ranks) {
      std::optional<size_t>& known = verdict.ranks[rank].culprit;
      if (!known || (IsAboutFiles(culprits[*known].cause) && IsOfRanks(culprits[i]))) known = i;
    }
  }
  return verdict;
}

}  // namespace oplens::prof
