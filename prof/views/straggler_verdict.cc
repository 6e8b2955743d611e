#include "prof/views/straggler_verdict.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "prof/run/step.h"
#include "prof/views/change_point.h"
#include "prof/views/slow_ops.h"

namespace oplens::prof {
namespace {

/// An op is slow that takes longer than on the median rank by so much of a step.
constexpr double kLeastOfStep = 0.001;
/// A rank is late that comes later than the median rank by so much of a step.
constexpr double kLeastLate = 0.02;

int64_t StragglerVerdictRounded(double value) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

/// The ranks of one stage.
class JudgeStragglerVerdict {
 public:
  explicit JudgeStragglerVerdict(std::vector<const StragglerWork*> works)
      : works_(std::move(works)) {
    for (const StragglerWork* work : works_) {
      for (const StragglerWork::Step& step : work->steps) {
        if (!HasCalls(step)) continue;
        int64_t& least = unmatched_.try_emplace(step.number, step.unmatched).first->second;
        least = std::min(least, step.unmatched);
      }
    }
    for (const StragglerWork* work : works_) {
      for (const StragglerWork::Step& step : work->steps) {
        if (Counts(step)) waits_[step.number].Add(step.wait_ns);
      }
      for (const auto& [at, wait_ns] : work->group_waits_ns) {
        const StragglerWork::Step& step = work->steps[at.second];
        if (Counts(step)) group_waits_[{at.first, step.number}].Add(wait_ns);
      }
    }
    for (auto& [number, peers] : waits_) peers.Sort();
    for (auto& [at, peers] : group_waits_) peers.Sort();
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
  static bool HasCalls(const StragglerWork::Step& step) { return step.whole && step.calls > 0; }
  /// What a rank waited compares with others of whose calls as many were found: where its partners
  /// have no file, it is not known what it waited for them.
  bool Counts(const StragglerWork::Step& step) const {
    return HasCalls(step) && step.unmatched == unmatched_.at(step.number);
  }

  /// By how much less it waited than the others.
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

  /// Whether there is a group of which the rank does not come last, from a step on: it waits longer
  /// than the median of the others.
  bool WaitsInAGroup(const StragglerWork& work, int64_t since) const {
    std::map<uint32_t, Series> groups;
    for (const auto& [at, wait_ns] : work.group_waits_ns) {
      const StragglerWork::Step& step = work.steps[at.second];
      if (!Counts(step) || step.number < since) continue;
      const Peers& peers = group_waits_.at({at.first, step.number});
      if (peers.size() < 2) continue;
      const auto own = static_cast<double>(wait_ns);
      groups[at.first].Add(step.number, own, own - peers.MedianWithout(wait_ns),
                           static_cast<double>(step.total_ns));
    }
    return std::any_of(groups.begin(), groups.end(), [](const auto& group) {
      const std::vector<double>& shares = group.second.shares;
      const SeriesLevel level = LevelOf(shares, kLeastSpread);
      return level.level > kLeastOfStep && IsCertain(level, shares.size());
    });
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
    // One layer alone, where that is most of it.
    constexpr double kMost = 0.6;
    const SlowOps::Slow* const layer = slow_ops_.LayerOf(&work);
    const bool alone = layer != nullptr && layer->excess_ns > kMost * op->excess_ns;
    const SlowOps::Slow& shown = alone ? *layer : *op;
    finding->place = shown.place;
    finding->op_ns = StragglerVerdictRounded(shown.own_ns);
    finding->median_ns = StragglerVerdictRounded(shown.own_ns - shown.excess_ns);
    return true;
  }

  static double MeanTotal(const StragglerWork& work, int64_t since) {
    std::vector<double> totals;
    bool counts = false;
    for (const StragglerWork::Step& step : work.steps) {
      counts |= step.number == since;
      if (counts && step.whole) totals.push_back(static_cast<double>(step.total_ns));
    }
    return MeanFrom(totals, 0);
  }

  std::vector<const StragglerWork*> works_;
  std::map<int64_t, int64_t> unmatched_;  // By number of the step: the fewest of a rank.
  PeersOfSteps waits_;
  std::map<std::pair<uint32_t, int64_t>, Peers> group_waits_;  // By group and number of the step.
  SlowOps slow_ops_;
};

/// What comes late and is bound by groups, one after the other, to a rank that is slow at an op
/// waits for that: through a pipeline nothing else tells so. Groups of more than half of the ranks
/// bind nobody.
void FollowSlowOps(const std::vector<StragglerRank>& ranks,
                   std::vector<StragglerFinding>* findings) {
  std::map<uint32_t, std::set<size_t>> members;  // By group.
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (const auto& [at, wait_ns] : ranks[i].work->group_waits_ns) members[at.first].insert(i);
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
