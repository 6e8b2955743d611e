#include "prof/views/path/advice_steps.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

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
  const auto start_of = [](const oplens::prof::Step& step) { return step.span.start_ns; };
  std::vector<int64_t> last_ends_ns;  // Of the steps up to each.
  for (const oplens::prof::Step& step : steps) {
    const int64_t before_ns = last_ends_ns.empty() ? INT64_MIN : last_ends_ns.back();
    last_ends_ns.push_back(std::max(before_ns, step.span.end_ns));
  }
  claims.ForEachGain(
      [&](uint32_t kernel, Topic topic, int64_t gain_ns) {
        add(run.StepOf(run.trace().kernels[kernel], kernel), topic, gain_ns);
      },
      [&](const Interval& time, Topic topic, int64_t gain_ns) {
        // The time of a wait is that of the steps in which it is.
        const auto later = std::ranges::upper_bound(steps, time.start_ns, {}, start_of);
        for (auto i = static_cast<size_t>(later - steps.begin());
             i > 0 && last_ends_ns[i - 1] > time.start_ns; --i) {
          if (steps[i - 1].span.end_ns > time.start_ns) add(i - 1, topic, gain_ns);
        }
      });
  std::unordered_map<int64_t, int64_t> dataloader_ns;  // By step; the first of a number.
  for (const advice::StepFact& step : facts.steps) {
    dataloader_ns.emplace(step.number, step.dataloader_ns);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto own = dataloader_ns.find(steps[i].number);
    if (own != dataloader_ns.end()) add(i, Topic::kDataLoader, own->second);
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
