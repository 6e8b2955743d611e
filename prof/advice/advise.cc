#include "prof/advice/advise.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace oplens::prof::advice {
namespace {

Severity SeverityOf(const Finding& finding) {
  if (!finding.gain) return finding.severity;
  if (*finding.gain >= kHighShare) return Severity::kHigh;
  return *finding.gain >= kMediumShare ? Severity::kMedium : Severity::kLow;
}

/// The mean step; without steps, the whole observed time.
double StepNs(const RankFacts& rank) {
  if (!rank.has_steps || rank.steps.empty()) return static_cast<double>(rank.capacity_ns());
  return static_cast<double>(rank.steps_ns) / static_cast<double>(rank.steps.size());
}

/// Whether a finding weighs more than another of the same rule.
bool Outweighs(const Finding& a, const Finding& b) {
  return a.gain.value_or(0) > b.gain.value_or(0);
}

}  // namespace

std::vector<Item> Advise(std::span<const NamedRank> ranks) {
  std::vector<const RankFacts*> all;
  for (const NamedRank& rank : ranks) all.push_back(rank.facts);
  std::vector<Item> items;
  for (const Rule& rule : Rules()) {
    std::optional<Item> item;
    for (const NamedRank& rank : ranks) {
      if (!rule.can_look(*rank.facts)) continue;
      std::optional<Finding> finding = rule.check({*rank.facts, all});
      if (!finding) continue;
      const int64_t fired = item ? item->ranks + 1 : 1;
      if (item && !Outweighs(*finding, item->finding)) {
        item->ranks = fired;
        continue;
      }
      item.emplace();
      item->rule = &rule;
      item->severity = SeverityOf(*finding);
      item->rank = rank.name;
      item->ranks = fired;
      if (finding->gain) item->gain_ns = *finding->gain * StepNs(*rank.facts);
      item->finding = std::move(*finding);
    }
    if (item) items.push_back(std::move(*item));
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return Outweighs(a.finding, b.finding);
  });
  return items;
}

std::vector<const Rule*> RulesWithoutData(std::span<const NamedRank> ranks) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : Rules()) {
    const bool any = std::any_of(ranks.begin(), ranks.end(),
                                 [&](const NamedRank& rank) { return rule.can_look(*rank.facts); });
    if (!any) rules.push_back(&rule);
  }
  return rules;
}

}  // namespace oplens::prof::advice
