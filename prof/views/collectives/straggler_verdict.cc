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
#include "prof/views/collectives/change_point.h"

namespace oplens::prof {
namespace {

/// Of shares of times that are compared: less spread is their rounding.
constexpr double kLeastSpread = 0.001;

/// A value of some ranks in one step, or of one op in one step.
class Peers {
 public:
  void Add(int64_t value) { values_.push_back(value); }
  void Sort() { std::sort(values_.begin(), values_.end()); }
  size_t size() const { return values_.size(); }

  /// The median of the others than one with that value; there must be one.
  double MedianWithout(int64_t own) const {
    const auto place = static_cast<size_t>(std::lower_bound(values_.begin(), values_.end(), own) -
                                           values_.begin());
    const auto at = [&](size_t i) { return static_cast<double>(values_[i < place ? i : i + 1]); };
    const size_t others = values_.size() - 1;
    if (others % 2 == 1) return at(others / 2);
    return (at(others / 2 - 1) + at(others / 2)) / 2;
  }

 private:
  std::vector<int64_t> values_;
};

using PeersOfSteps = std::map<int64_t, Peers>;  // By number of the step.

/// Times of a rank against those of the others, by step.
struct Series {
  std::vector<double> shares;     ///< Of excess.
  std::vector<double> excess_ns;  ///< Own less that of the median of the others.
  std::vector<double> own_ns;
  std::vector<int64_t> steps;  ///< Their numbers.

  void Add(int64_t step, double own, double excess, double whole) {
    steps.push_back(step);
    own_ns.push_back(own);
    excess_ns.push_back(excess);
    shares.push_back(whole > 0 ? excess / whole : 0);
  }
};

/// Of the values from a place on; 0 where there are none.
double MeanFrom(const std::vector<double>& values, size_t since) {
  double sum = 0;
  for (size_t i = since; i < values.size(); ++i) sum += values[i];
  return since < values.size() ? sum / static_cast<double>(values.size() - since) : 0;
}

/// The ops that take longer on a rank than on the median of the others, step by step.
class SlowOps {
 public:
  struct Slow {
    const WorkName* name = nullptr;
    int64_t since_step = 0;  ///< Number of the first step in which it is slow.
    double own_ns = 0;       ///< Mean time in a step since then,
    double excess_ns = 0;    ///< and by how much more that is than on the median of the others.
    size_t order = 0;        ///< Of equal ones the least goes first.
  };

  /// Looks at one op after the other, so that it takes memory for one. `works`: of ranks that do
  /// the same. O(n log n) in their times.
  void Find(const std::vector<const StragglerWork*>& works);

  /// The op of a rank that costs most more than elsewhere; null where none is slow.
  const Slow* OpOf(const StragglerWork* work) const { return At(ops_, work); }
  /// The same of the layers of that op.
  const Slow* LayerOf(const StragglerWork* work) const { return At(layers_, work); }

 private:
  using Found = std::map<const StragglerWork*, Slow>;
  /// Who has a place, and where among the times.
  using Havers = std::vector<std::pair<const StragglerWork*, size_t>>;

  static const Slow* At(const Found& found, const StragglerWork* work) {
    const auto at = found.find(work);
    return at == found.end() ? nullptr : &at->second;
  }
  void Compare(const WorkName& name, const Havers& havers, size_t ranks, Found* found) const;

  Found ops_;
  Found layers_;
};

/// An op is slow that takes so much longer than on the median rank.
constexpr double kLeastSlow = 0.03;

PeersOfSteps PeersOf(const std::vector<std::pair<const StragglerWork*, size_t>>& havers) {
  PeersOfSteps all;
  for (const auto& [work, at] : havers) {
    const auto times_ns = work->TimesOf(at);
    for (size_t i = 0; i < times_ns.size(); ++i) {
      if (work->steps[i].whole) all[work->steps[i].number].Add(times_ns[i]);
    }
  }
  for (auto& [number, peers] : all) peers.Sort();
  return all;
}

/// Where half of the ranks have it at least.
Series SeriesOf(const StragglerWork& work, size_t at, const PeersOfSteps& all, size_t ranks) {
  Series series;
  const auto times_ns = work.TimesOf(at);
  for (size_t i = 0; i < times_ns.size(); ++i) {
    if (!work.steps[i].whole) continue;
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
  // Layers of ops that are slow somewhere.
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
  static bool HasCalls(const StragglerWork::Step& step) { return step.whole && step.calls > 0; }
  /// What a rank waited compares with others of whose calls as many were found: where its partners
  /// have no file, it is not known what it waited for them.
  bool Counts(const StragglerWork::Step& step) const {
    return HasCalls(step) && step.unmatched == unmatched_.at(step.number).value;
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
    // One layer alone, where that is most of it.
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
      if (counts && step.whole) totals.push_back(static_cast<double>(step.total_ns));
    }
    return MeanFrom(totals, 0);
  }

  std::vector<const StragglerWork*> works_;
  std::map<int64_t, Min> unmatched_;  // By number of the step: the fewest of a rank.
  PeersOfSteps waits_;
  std::map<std::string_view, PeersOfSteps> group_waits_;  // By group.
  SlowOps slow_ops_;
};

/// What comes late and is bound by groups, one after the other, to a rank that is slow at an op
/// waits for that: through a pipeline nothing else tells so. Groups of more than half of the ranks
/// bind nobody.
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
