#include "prof/views/straggler_verdict.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "base/saturating.h"
#include "prof/views/change_point.h"

namespace oplens::prof {
namespace {

/// An op is slow that takes so much longer than on the median rank,
constexpr double kLeastSlow = 0.03;
/// and by so much of a step.
constexpr double kLeastOfStep = 0.001;
/// A rank is late that comes later than the median rank by so much of a step.
constexpr double kLeastLate = 0.02;
/// Of shares: less is the rounding of times.
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

double MeanFrom(const std::vector<double>& values, size_t since) {
  double sum = 0;
  for (size_t i = since; i < values.size(); ++i) sum += values[i];
  return since < values.size() ? sum / static_cast<double>(values.size() - since) : 0;
}

int64_t Rounded(double value) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

/// The ranks of one stage.
class Judge {
 public:
  explicit Judge(std::vector<const StragglerWork*> works) : works_(std::move(works)) {
    for (const StragglerWork* work : works_) {
      for (const StragglerWork::Step& step : work->steps) {
        if (Counts(step)) waits_[step.number].Add(step.wait_ns);
      }
      for (const auto& [at, wait_ns] : work->group_waits_ns) {
        const StragglerWork::Step& step = work->steps[at.second];
        if (Counts(step)) group_waits_[{at.first, step.number}].Add(wait_ns);
      }
      AddTimes(*work, work->ops, 0);
      AddTimes(*work, work->layers, work->ops.size());
    }
    for (auto& [number, peers] : waits_) peers.Sort();
    for (auto& [at, peers] : group_waits_) peers.Sort();
    for (auto& [place, steps] : times_) {
      for (auto& [number, peers] : steps) peers.Sort();
    }
  }

  StragglerFinding Of(const StragglerWork& work) const {
    StragglerFinding finding;
    const Series late = Lateness(work);
    if (late.steps.empty()) return finding;
    finding.late_ns = Rounded(MeanFrom(late.excess_ns, 0));
    if (late.steps.size() < kLeastSteps) return finding;
    finding.verdict = StragglerVerdict::kChance;
    if (FindSlowOp(work, late, &finding)) return finding;
    const SeriesLevel level = LevelOf(late.shares, kLeastSpread);
    if (level.level < kLeastLate || !IsCertain(level, late.shares.size())) return finding;
    finding.verdict = WaitsInAGroup(work, late.steps[level.since]) ? StragglerVerdict::kFollows
                                                                   : StragglerVerdict::kLate;
    finding.since_step = late.steps[level.since];
    finding.late_ns = Rounded(MeanFrom(late.excess_ns, level.since));
    return finding;
  }

 private:
  struct Slow {
    Series series;
    SeriesLevel level;
    double excess_ns = 0;
    size_t place = 0;
  };

  static bool Counts(const StragglerWork::Step& step) { return step.whole && step.calls > 0; }

  void AddTimes(const StragglerWork& work, const std::vector<WorkPlace>& places, size_t first) {
    for (size_t i = 0; i < places.size(); ++i) {
      const auto times_ns = work.TimesOf(first + i);
      PeersOfSteps& steps = times_[places[i]];
      for (size_t step = 0; step < times_ns.size(); ++step) {
        if (work.steps[step].whole) steps[work.steps[step].number].Add(times_ns[step]);
      }
    }
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

  /// Of the times at a place; empty where too few of the others have it.
  Series TimesOf(const StragglerWork& work, WorkPlace place, size_t at) const {
    Series series;
    const auto times_ns = work.TimesOf(at);
    const PeersOfSteps& steps = times_.at(place);
    for (size_t i = 0; i < times_ns.size(); ++i) {
      if (!work.steps[i].whole) continue;
      const Peers& peers = steps.at(work.steps[i].number);
      if (peers.size() < 2 || peers.size() * 2 < works_.size()) continue;
      const double median_ns = peers.MedianWithout(times_ns[i]);
      const auto own_ns = static_cast<double>(times_ns[i]);
      if (median_ns > 0) series.Add(work.steps[i].number, own_ns, own_ns - median_ns, median_ns);
    }
    return series;
  }

  std::optional<Slow> SlowAt(const StragglerWork& work, WorkPlace place, size_t at) const {
    Slow slow;
    slow.place = at;
    slow.series = TimesOf(work, place, at);
    if (slow.series.steps.size() < kLeastSteps) return std::nullopt;
    slow.level = LevelOf(slow.series.shares, kLeastSpread);
    if (slow.level.level < kLeastSlow || !IsCertain(slow.level, slow.series.shares.size())) {
      return std::nullopt;
    }
    slow.excess_ns = MeanFrom(slow.series.excess_ns, slow.level.since);
    return slow;
  }

  /// Of some places the one that costs most more than elsewhere.
  template <typename Wanted>
  std::optional<Slow> Slowest(const StragglerWork& work, const std::vector<WorkPlace>& places,
                              size_t first, Wanted wanted) const {
    std::optional<Slow> slowest;
    for (size_t i = 0; i < places.size(); ++i) {
      if (!wanted(places[i])) continue;
      auto slow = SlowAt(work, places[i], first + i);
      if (slow && (!slowest || slow->excess_ns > slowest->excess_ns)) slowest = std::move(slow);
    }
    return slowest;
  }

  bool FindSlowOp(const StragglerWork& work, const Series& late, StragglerFinding* finding) const {
    const auto op = Slowest(work, work.ops, 0, [](WorkPlace) { return true; });
    if (!op) return false;
    const int64_t since = op->series.steps[op->level.since];
    const double total_ns = MeanTotal(work, since);
    if (op->excess_ns < kLeastOfStep * total_ns) return false;
    const auto from = std::find_if(late.steps.begin(), late.steps.end(),
                                   [&](int64_t step) { return step >= since; });
    const auto skipped = static_cast<size_t>(from - late.steps.begin());
    if (skipped == late.steps.size()) return false;
    if (LevelOf(std::span(late.shares).subspan(skipped), kLeastSpread).level <= 0) return false;
    finding->verdict = StragglerVerdict::kSlowOp;
    finding->since_step = since;
    finding->late_ns = Rounded(MeanFrom(late.excess_ns, skipped));
    const WorkPlace place = work.ops[op->place];
    Take(*op, place, finding);
    // One layer alone, where that is most of it.
    const auto layer = Slowest(work, work.layers, work.ops.size(),
                               [&](WorkPlace one) { return one.op == place.op; });
    constexpr double kMost = 0.6;
    if (layer && layer->excess_ns > kMost * op->excess_ns) {
      Take(*layer, work.layers[layer->place - work.ops.size()], finding);
    }
    return true;
  }

  static void Take(const Slow& slow, WorkPlace place, StragglerFinding* finding) {
    finding->place = place;
    finding->op_ns = Rounded(MeanFrom(slow.series.own_ns, slow.level.since));
    finding->median_ns = Rounded(MeanFrom(slow.series.own_ns, slow.level.since) - slow.excess_ns);
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
  PeersOfSteps waits_;
  std::map<std::pair<uint32_t, int64_t>, Peers> group_waits_;  // By group and number of the step.
  std::map<WorkPlace, PeersOfSteps> times_;
};

}  // namespace

std::string_view StragglerWord(StragglerVerdict verdict) {
  constexpr std::string_view kWords[] = {"few steps", "chance", "follows", "slow op", "late"};
  return kWords[static_cast<size_t>(verdict)];
}

std::vector<StragglerFinding> JudgeStragglers(const std::vector<StragglerRank>& ranks) {
  std::map<int64_t, std::vector<const StragglerWork*>> stages;
  for (const StragglerRank& rank : ranks) stages[rank.stage].push_back(rank.work);
  std::map<int64_t, Judge> judges;
  for (auto& [stage, works] : stages) judges.try_emplace(stage, std::move(works));
  std::vector<StragglerFinding> findings;
  for (const StragglerRank& rank : ranks) {
    findings.push_back(judges.at(rank.stage).Of(*rank.work));
  }
  return findings;
}

}  // namespace oplens::prof
