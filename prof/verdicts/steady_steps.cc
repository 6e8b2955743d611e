#include "prof/verdicts/steady_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/median.h"

namespace oplens::prof {
namespace {

constexpr double kUnlikeDeviations = 4;
constexpr double kSteadyMad = 1.4826;  // Standard deviation / median absolute deviation.
constexpr double kLeastUnlike = 0.1;
constexpr size_t kMostRareShare = 20;  // One in so many may be as extreme.
constexpr size_t kMostLeadingShare = 4;

/// The steps that are not cut, as judged by their lengths.
class SteadySteps {
 public:
  SteadySteps(std::span<const StepLength> steps, std::vector<size_t> whole,
              std::vector<StepState>* states)
      : steps_(steps), whole_(std::move(whole)), states_(*states) {
    std::vector<double> lengths;
    for (const size_t step : whole_) lengths.push_back(LengthOf(step));
    median_ns_ = MedianOf(lengths);
    for (double& length : lengths) length = std::abs(length - median_ns_);
    const double spread_ns = kUnlikeDeviations * kSteadyMad * MedianOf(std::move(lengths));
    band_ns_ = std::max(spread_ns, kLeastUnlike * median_ns_);
  }

  void Judge() {
    for (const size_t step : whole_) {
      const double more_ns = LengthOf(step) - median_ns_;
      if (more_ns > band_ns_ && 2 * static_cast<double>(steps_[step].profiler_ns) >= more_ns) {
        states_[step] = StepState::kProfiler;
      }
    }
    const size_t most = std::max<size_t>(1, whole_.size() / kMostLeadingShare);
    size_t first = 0;
    while (first < most && IsUnlike(whole_[first])) ++first;
    const size_t last = whole_.size() - (IsUnlike(whole_.back()) ? 1 : 0);
    const std::span<const size_t> rest = std::span(whole_).subspan(first, last - first);
    for (size_t i = 0; i < first && IsExtreme(whole_[i], rest); ++i) {
      const bool is_long = LengthOf(whole_[i]) > median_ns_;
      SetUnlessKnown(whole_[i], is_long ? StepState::kWarmUp : StepState::kFilling);
    }
    if (last < whole_.size() && IsExtreme(whole_[last], rest)) {
      SetUnlessKnown(whole_[last], StepState::kEnding);
    }
  }

 private:
  double LengthOf(size_t step) const { return static_cast<double>(steps_[step].length_ns); }
  bool IsUnlike(size_t step) const { return std::abs(LengthOf(step) - median_ns_) > band_ns_; }

  bool IsExtreme(size_t step, std::span<const size_t> rest) const {
    const bool is_long = LengthOf(step) > median_ns_;
    const auto as_extreme = std::count_if(rest.begin(), rest.end(), [&](size_t other) {
      return is_long ? LengthOf(other) >= LengthOf(step) : LengthOf(other) <= LengthOf(step);
    });
    return static_cast<size_t>(as_extreme) <= rest.size() / kMostRareShare;
  }

  void SetUnlessKnown(size_t step, StepState state) {
    if (states_[step] == StepState::kSteady) states_[step] = state;
  }

  std::span<const StepLength> steps_;
  std::vector<size_t> whole_;
  std::vector<StepState>& states_;
  double median_ns_ = 0;
  double band_ns_ = 0;
};

/// The phase that is judged.
ServedPhase MainPhaseOf(std::span<const StepLength> steps) {
  struct Weight {
    bool can_be_judged = false;
    double time_ns = 0;
    size_t count = 0;
  };
  std::array<Weight, WordCountOf(ServedPhase())> weights;
  for (const StepLength& step : steps) {
    if (step.cut) continue;
    Weight& weight = weights[static_cast<size_t>(step.phase)];
    weight.can_be_judged = ++weight.count >= kLeastJudgedSteps;
    weight.time_ns += static_cast<double>(step.length_ns);
  }
  const auto most =
      std::max_element(weights.begin(), weights.end(), [](const Weight& a, const Weight& b) {
        return std::tie(a.can_be_judged, a.time_ns, a.count) <
               std::tie(b.can_be_judged, b.time_ns, b.count);
      });
  return static_cast<ServedPhase>(most - weights.begin());
}

/// Whether a step is longer than the median of the steady ones mostly since the GPU works longer.
bool IsOfOtherWork(std::span<const StepLength> steps, const std::vector<StepState>& states,
                   size_t step) {
  std::vector<double> lengths;
  std::vector<double> busy;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (states[i] != StepState::kSteady) continue;
    lengths.push_back(static_cast<double>(steps[i].length_ns));
    busy.push_back(static_cast<double>(steps[i].busy_ns));
  }
  const double more_ns = static_cast<double>(steps[step].length_ns) - MedianOf(std::move(lengths));
  const double more_busy_ns = static_cast<double>(steps[step].busy_ns) - MedianOf(std::move(busy));
  return 2 * more_busy_ns >= more_ns;
}

}  // namespace

std::string_view StepStateWord(StepState state) {
  constexpr std::string_view kWords[] = {"cut",    "steady",   "warm-up",    "filling",
                                         "ending", "profiler", "other-work", "other-phase"};
  return kWords[static_cast<size_t>(state)];
}

std::string_view StepStateReason(StepState state) {
  constexpr std::string_view kReasons[] = {"the recording cut it",
                                           "",
                                           "warm-up",
                                           "the queue of the GPU was not full yet",
                                           "the recording ended in it",
                                           "the profiler worked in it",
                                           "other work, or work from before the recording",
                                           "another phase"};
  return kReasons[static_cast<size_t>(state)];
}

std::vector<StepState> StatesOf(std::span<const StepLength> steps) {
  std::vector<StepState> states(steps.size(), StepState::kSteady);
  std::vector<size_t> whole;
  const ServedPhase phase = MainPhaseOf(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].cut) {
      states[i] = StepState::kCut;
    } else if (steps[i].phase != phase) {
      states[i] = StepState::kOtherPhase;
    } else {
      whole.push_back(i);
    }
  }
  if (whole.size() + 1 == kLeastJudgedSteps) {
    const auto length = [&](size_t i) { return static_cast<double>(steps[whole[i]].length_ns); };
    if (length(0) > kMuchLonger * std::max(length(1), length(2))) {
      states[whole[0]] = StepState::kWarmUp;
    }
  }
  if (whole.size() >= kLeastJudgedSteps) SteadySteps(steps, whole, &states).Judge();
  for (const size_t step : whole) {
    if (states[step] == StepState::kWarmUp && IsOfOtherWork(steps, states, step)) {
      states[step] = StepState::kOtherWork;
    }
  }
  return states;
}

}  // namespace oplens::prof
