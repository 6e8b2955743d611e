#include "prof/views/collectives/straggler_verdict.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "prof/run/step.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/peers.h"

namespace oplens::prof {
namespace {

/// Least spread of compared shares of times: below it is rounding.
constexpr double kLeastSpread = 0.001;

/// A rank's times compared with the others', by step.
struct Series {
  std::vector<double> shares;     ///< Excess over the step's time.
  std::vector<double> excess_ns;  ///< Own minus the median of the others.
  std::vector<double> own_ns;
  std::vector<int64_t> steps;  ///< Numbers.

  void Add(int64_t step, double own, double excess, double whole) {
    steps.push_back(step);
    own_ns.push_back(own);
    excess_ns.push_back(excess);
    shares.push_back(whole > 0 ? excess / whole : 0);
  }
};

/// Mean of the values from an index on; 0 if there are none.
double MeanFrom(const std::vector<double>& values, size_t since) {
  double sum = 0;
  for (size_t i = since; i < values.size(); ++i) sum += values[i];
  return since < values.size() ? sum / static_cast<double>(values.size() - since) : 0;
}

/// The ops that take longer on a rank than on the median of the others, per step.
class SlowOps {
 public:
  struct Slow {
    const WorkName* name = nullptr;
    int64_t since_step = 0;  ///< Number of the first slow step.
    double own_ns = 0;       ///< Mean per step since then,
    double excess_ns = 0;    ///< minus the median of the others.
    size_t order = 0;        ///< Breaks ties, least first.
  };

  /// Compares one op at a time, to bound memory. `works`: of ranks that do the same. O(n log n) in
  /// their times.
  void Find(const std::vector<const StragglerWork*>& works);

  /// The op of a rank with the largest excess; null if none is slow.
  const Slow* OpOf(const StragglerWork* work) const { return At(ops_, work); }
  /// Likewise the layer of that op.
  const Slow* LayerOf(const StragglerWork* work) const { return At(layers_, work); }

 private:
  using Found = std::map<const StragglerWork*, Slow>;
  /// Ranks that have a place, and its index in their times.
  using Havers = std::vector<std::pair<const StragglerWork*, size_t>>;

  static const Slow* At(const Found& found, const StragglerWork* work) {
    const auto at = found.find(work);
    return at == found.end() ? nullptr : &at->second;
  }
  void Compare(const WorkName& name, const Havers& havers, size_t ranks, Found* found) const;

  Found ops_;
  Found layers_;
};

/// Least excess of a slow op over the median rank, as a share of its time there.
constexpr double kLeastSlow = 0.03;

PeersOfSteps PeersOf(const std::vector<std::pair<const StragglerWork*, size_t>>& havers) {
  PeersOfSteps all;
  for (const auto& [work, at] : havers) {
    const auto times_ns = work->TimesOf(at);
    for (size_t i = 0; i < times_ns.size(); ++i) {
      if (work->steps[i].steady) all[work->steps[i].number].Add(times_ns[i]);
    }
  }
  for (auto& [number, peers] : all) peers.Sort();
  return all;
}

/// Only steps in which at least half of the ranks have the op.
Series SeriesOf(const StragglerWork& work, size_t at, const PeersOfSteps& all, size_t ranks) {
  Series series;
  const auto times_ns = work.TimesOf(at);
  for (size_t i = 0; i < times_ns.size(); ++i) {
    if (!work.steps[i].steady) continue;
    const Peers& peers = all.at(work.steps[i].number);
    if (peers.size() < 2 || peers.size() * 2 < ranks) continue;
    const double median_ns = peers.MedianWithout(times_ns[i]);
    const auto own_ns = static_cast<double>(times_ns[i]);
    if (median_ns > 0) series.Add(work.steps[i].number, own_ns, own_ns - median_ns, median_ns);
  }
  return series;
}

std::optional<SlowOps::Slow> SlowIn(const Series& series) {
  if (series.steps.size() < kLeastSteps) return std::nullopt;
  const SeriesLevel level = LevelOf(series.shares, kLeastSpread);
  if (level.level < kLeastSlow || !IsCertain(level, series.shares.size())) return std::nullopt;
  SlowOps::Slow slow;
  slow.since_step = series.steps[level.since];
  slow.own_ns = MeanFrom(series.own_ns, level.since);
  slow.excess_ns = MeanFrom(series.excess_ns, level.since);
  return slow;
}

void SlowOps::Compare(const WorkName& name, const Havers& havers, size_t ranks,
                      Found* found) const {
  if (havers.size() < 2) return;
  const PeersOfSteps peers = PeersOf(havers);
  for (const auto& [work, at] : havers) {
    auto slow = SlowIn(SeriesOf(*work, at, peers, ranks));
    if (!slow) continue;
    slow->name = &name;
    slow->order = at;
    const auto [known, fresh] = found->try_emplace(work, *slow);
    const Slow& most = known->second;
    const bool costs_more = slow->excess_ns > most.excess_ns ||
                            (slow->excess_ns == most.excess_ns && slow->order < most.order);
    if (!fresh && costs_more) known->second = *slow;
  }
}

void SlowOps::Find(const std::vector<const StragglerWork*>& works) {
  const auto less = [](const WorkName* a, const WorkName* b) { return *a < *b; };
  std::map<const WorkName*, Havers, decltype(less)> places;
  for (const StragglerWork* work : works) {
    for (size_t i = 0; i < work->ops.size(); ++i) places[&work->ops[i]].emplace_back(work, i);
  }
  for (const auto& [name, havers] : places) Compare(*name, havers, works.size(), &ops_);
  // Layers of ops that are slow on some rank.
  places.clear();
  std::set<std::string_view> wanted;
  for (const auto& [work, slow] : ops_) wanted.insert(slow.name->op);
  for (const StragglerWork* work : works) {
    for (size_t i = 0; i < work->layers.size(); ++i) {
      if (!wanted.contains(work->layers[i].op)) continue;
      places[&work->layers[i]].emplace_back(work, work->ops.size() + i);
    }
  }
  for (const auto& [name, havers] : places) {
    Found layers;
    Compare(*name, havers, works.size(), &layers);
    for (const auto& [work, slow] : layers) {
      const Slow* const op = OpOf(work);
      if (op == nullptr || op->name->op != name->op) continue;
      const auto [known, fresh] = layers_.try_emplace(work, slow);
      if (!fresh && slow.excess_ns > known->second.excess_ns) known->second = slow;
    }
  }
}

/// Least excess of a slow op over the median rank, as a share of the step.
constexpr double kLeastOfStep = 0.001;
/// Least lateness compared with the median rank, as a share of the step.
constexpr double kLeastLate = 0.02;

int64_t StragglerVerdictRounded(double value) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

class JudgeStragglerVerdict {
 public:
  explicit JudgeStragglerVerdict(std::vector<const StragglerWork*> works)
      : works_(std::move(works)) {
    for (const StragglerWork* work : works_) {
      for (const StragglerWork::Step& step : work->steps) {
        if (!HasCalls(step)) continue;
        unmatched_[step.number].Add(step.unmatched);
      }
    }
    for (const StragglerWork* work : works_) {
      for (const StragglerWork::Step& step : work->steps) {
        if (Counts(step)) waits_[step.number].Add(step.wait_ns);
      }
      for (const auto& [group, waits_ns] : work->group_waits_ns) {
        for (const auto& [at, wait_ns] : waits_ns) {
          const StragglerWork::Step& step = work->steps[at];
          if (Counts(step)) group_waits_[group][step.number].Add(wait_ns);
        }
      }
    }
    for (auto& [number, peers] : waits_) peers.Sort();
    for (auto& [group, steps] : group_waits_) {
      for (auto& [number, peers] : steps) peers.Sort();
    }
    slow_ops_.Find(works_);
  }

  StragglerFinding Of(const StragglerWork& work) const {
    StragglerFinding finding;
    const Series late = Lateness(work);
    if (late.steps.empty()) return finding;
    finding.late_ns = StragglerVerdictRounded(MeanFrom(late.excess_ns, 0));
    if (late.steps.size() < kLeastSteps) return finding;
    finding.verdict = StragglerVerdict::kChance;
    if (FindSlowOp(work, late, &finding)) return finding;
    const SeriesLevel level = LevelOf(late.shares, kLeastSpread);
    if (level.level < kLeastLate || !IsCertain(level, late.shares.size())) return finding;
    finding.verdict = WaitsInAGroup(work, late.steps[level.since]) ? StragglerVerdict::kFollows
                                                                   : StragglerVerdict::kLate;
    finding.since_step = late.steps[level.since];
    finding.late_ns = StragglerVerdictRounded(MeanFrom(late.excess_ns, level.since));
    return finding;
  }

 private:
  static bool HasCalls(const StragglerWork::Step& step) { return step.steady && step.calls > 0; }
  /// Waits are comparable only between ranks with the same number of matched calls: a rank's waits
  /// for partners without a file are unknown.
  bool Counts(const StragglerWork::Step& step) const {
    return HasCalls(step) && step.unmatched == unmatched_.at(step.number).value;
  }

  /// How much less the rank waited than the others.
  Series Lateness(const StragglerWork& work) const {
    Series series;
    for (const StragglerWork::Step& step : work.steps) {
      if (!Counts(step)) continue;
      const Peers& peers = waits_.at(step.number);
      if (peers.size() < 2) continue;
      const auto own = static_cast<double>(step.wait_ns);
      series.Add(step.number, own, peers.MedianWithout(step.wait_ns) - own,
                 static_cast<double>(step.total_ns));
    }
    return series;
  }

  /// Whether in some group, from a step on, the rank waits longer than the median of the others, so
  /// does not arrive last.
  bool WaitsInAGroup(const StragglerWork& work, int64_t since) const {
    const auto waits_in = [&](const auto& group) {
      Series series;
      for (const auto& [at, wait_ns] : group.second) {
        const StragglerWork::Step& step = work.steps[at];
        if (!Counts(step) || step.number < since) continue;
        const Peers& peers = group_waits_.at(group.first).at(step.number);
        if (peers.size() < 2) continue;
        const auto own = static_cast<double>(wait_ns);
        series.Add(step.number, own, own - peers.MedianWithout(wait_ns),
                   static_cast<double>(step.total_ns));
      }
      const SeriesLevel level = LevelOf(series.shares, kLeastSpread);
      return level.level > kLeastOfStep && IsCertain(level, series.shares.size());
    };
    return std::ranges::any_of(work.group_waits_ns, waits_in);
  }

  bool FindSlowOp(const StragglerWork& work, const Series& late, StragglerFinding* finding) const {
    const SlowOps::Slow* const op = slow_ops_.OpOf(&work);
    if (op == nullptr || op->excess_ns < kLeastOfStep * MeanTotal(work, op->since_step))
      return false;
    const auto from = std::find_if(late.steps.begin(), late.steps.end(),
                                   [&](int64_t step) { return step >= op->since_step; });
    const auto skipped = static_cast<size_t>(from - late.steps.begin());
    if (skipped == late.steps.size()) return false;
    if (LevelOf(std::span(late.shares).subspan(skipped), kLeastSpread).level <= 0) return false;
    finding->verdict = StragglerVerdict::kSlowOp;
    finding->since_step = op->since_step;
    finding->late_ns = StragglerVerdictRounded(MeanFrom(late.excess_ns, skipped));
    // Name a single layer if it causes most of the excess.
    constexpr double kMost = 0.6;
    const SlowOps::Slow* const layer = slow_ops_.LayerOf(&work);
    const bool alone = layer != nullptr && layer->excess_ns > kMost * op->excess_ns;
    const SlowOps::Slow& shown = alone ? *layer : *op;
    finding->slow = *shown.name;
    finding->op_ns = StragglerVerdictRounded(shown.own_ns);
    finding->median_ns = StragglerVerdictRounded(shown.own_ns - shown.excess_ns);
    return true;
  }

  static double MeanTotal(const StragglerWork& work, int64_t since) {
    std::vector<double> totals;
    bool counts = false;
    for (const StragglerWork::Step& step : work.steps) {
      counts |= step.number == since;
      if (counts && step.steady) totals.push_back(static_cast<double>(step.total_ns));
    }
    return MeanFrom(totals, 0);
  }

  std::vector<const StragglerWork*> works_;
  std::map<int64_t, Min> unmatched_;  // By number of the step: the minimum over ranks.
  PeersOfSteps waits_;
  std::map<std::string_view, PeersOfSteps> group_waits_;  // By group.
  SlowOps slow_ops_;
};

/// A late rank that groups connect, directly or via others, to a rank with a slow op waits for that
/// op: in a pipeline there is no other evidence. Groups of more than half of the ranks do not
/// connect.
void FollowSlowOps(const std::vector<StragglerRank>& ranks,
                   std::vector<StragglerFinding>* findings) {
  std::map<std::string_view, std::set<size_t>> members;  // By group.
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (const auto& [group, waits_ns] : ranks[i].work->group_waits_ns) members[group].insert(i);
  }
  std::vector<std::vector<const std::set<size_t>*>> groups(ranks.size());
  for (const auto& [group, of] : members) {
    if (2 * of.size() > ranks.size()) continue;
    for (const size_t i : of) groups[i].push_back(&of);
  }
  std::vector<size_t> reached;
  std::vector<bool> seen(ranks.size(), false);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if ((*findings)[i].verdict != StragglerVerdict::kSlowOp) continue;
    seen[i] = true;
    reached.push_back(i);
  }
  std::set<const std::set<size_t>*> passed;
  while (!reached.empty()) {
    const size_t from = reached.back();
    reached.pop_back();
    for (const std::set<size_t>* const group : groups[from]) {
      if (!passed.insert(group).second) continue;
      for (const size_t i : *group) {
        StragglerVerdict& verdict = (*findings)[i].verdict;
        const bool late =
            verdict == StragglerVerdict::kLate || verdict == StragglerVerdict::kFollows;
        if (seen[i] || !late) continue;
        seen[i] = true;
        verdict = StragglerVerdict::kFollows;
        reached.push_back(i);
      }
    }
  }
}

}  // namespace

std::string_view StragglerWord(StragglerVerdict verdict) {
  constexpr std::string_view kWords[] = {"few steps", "chance", "follows", "slow op", "late"};
  return kWords[static_cast<size_t>(verdict)];
}

std::vector<StragglerFinding> JudgeStragglers(const std::vector<StragglerRank>& ranks) {
  std::map<int64_t, std::vector<const StragglerWork*>> stages;
  for (const StragglerRank& rank : ranks) stages[rank.stage].push_back(rank.work);
  std::map<int64_t, JudgeStragglerVerdict> judges;
  for (auto& [stage, works] : stages) judges.try_emplace(stage, std::move(works));
  std::vector<StragglerFinding> findings;
  for (const StragglerRank& rank : ranks) {
    findings.push_back(judges.at(rank.stage).Of(*rank.work));
  }
  FollowSlowOps(ranks, &findings);
  return findings;
}

}  // namespace oplens::prof
