#include "prof/views/path/advice_steps.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/advice/evidence.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/steady_idle.h"
#include "prof/run/steps.h"
#include "prof/views/path/advice_claims.h"

namespace oplens::prof {

using advice::Topic;

namespace {

/// Gains of kernels of one group are rounded one by one.
constexpr double kMostRounding = 1e-6;

/// Whether parts add up to a whole, but for rounding.
bool AreWhole(int64_t parts_ns, int64_t whole_ns) {
  return std::abs(static_cast<double>(parts_ns) - static_cast<double>(whole_ns)) <=
         kMostRounding * static_cast<double>(whole_ns);
}

}  // namespace

AdviceSteps::AdviceSteps(const Run& run, const advice::RankFacts& facts, const AdviceClaims& claims)
    : any_(true) {
  if (!facts.has_steps || facts.steps.empty()) return;
  const std::vector<bool>& counts = run.steady_idle().time.counts;
  const std::span<const oplens::prof::Step> steps = run.steps().all();
  int64_t total_ns = 0;
  std::vector<Step> all(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    all[i].number = steps[i].number;
    all[i].total_ns = LengthOf(steps[i].span);
    all[i].counts = counts[i];
    if (counts[i]) SaturatingAdd(&total_ns, all[i].total_ns);
  }
  // Steps that overlap share time.
  if (total_ns != facts.total_ns) return;
  const auto add = [&](size_t step, Topic topic, int64_t gain_ns) {
    if (step >= all.size() || topic == Topic::kNone) return;
    SaturatingAdd(&all[step].gain_ns[static_cast<size_t>(topic)], gain_ns);
  };
  claims.ForEachGain(
      [&](uint32_t kernel, Topic topic, int64_t gain_ns) {
        add(run.StepOf(run.trace().kernels[kernel], kernel), topic, gain_ns);
      },
      [&](const Interval& time, Topic topic, int64_t gain_ns) {
        // The time of a wait is that of the steps in which it is.
        for (size_t i = 0; i < steps.size(); ++i) {
          if (steps[i].span.end_ns <= time.start_ns || steps[i].span.start_ns > time.start_ns) {
            continue;
          }
          add(i, topic, gain_ns);
        }
      });
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto own = std::ranges::find(facts.steps, steps[i].number, &advice::StepFact::number);
    if (own != facts.steps.end()) add(i, Topic::kDataLoader, own->dataloader_ns);
    if (i < claims.saved_ns().size()) all[i].saved_ns = claims.saved_ns()[i];
    if (steps[i].complete) steps_.push_back(all[i]);
  }
}

const std::vector<AdviceSteps::Step>& AdviceSteps::Of(const advice::Item& item,
                                                      const advice::RankFacts& facts) const {
  static const std::vector<Step> kNoSteps;
  const Topic topic = item.rule->topic;
  if (!item.finding.gain || topic == Topic::kNone) return kNoSteps;
  const int64_t whole_ns = facts.At(topic).all.gain_ns;
  const bool is_sum = *item.finding.gain == advice::ShareOf(whole_ns, facts.total_ns) ||
                      *item.finding.gain == advice::ShareOfTime(facts, whole_ns);
  int64_t parts_ns = 0;
  for (const Step& step : steps_)
    SaturatingAdd(&parts_ns, step.gain_ns[static_cast<size_t>(topic)]);
  return is_sum && AreWhole(parts_ns, whole_ns) ? steps_ : kNoSteps;
}

void AdviceSteps::Merge(const AdviceSteps& more) {
  if (!more.any_) return;
  steps_ = any_ ? std::vector<Step>() : more.steps_;
  any_ = true;
}

}  // namespace oplens::prof
