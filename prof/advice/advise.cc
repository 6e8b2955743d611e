#include "prof/advice/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "prof/advice/evidence.h"

namespace oplens::prof::advice {
namespace {

/// Most of the upper bound, for a replay to confirm it.
constexpr double kMostOfGain = 0.8;
constexpr double kHalfOfGain = 0.5;
constexpr double kLeastEstimate = 0.005;

Severity SeverityOf(const Item& item) {
  if (!item.finding.gain) return item.finding.severity;
  if (item.weight() >= kHighShare) return Severity::kHigh;
  return item.weight() >= kMediumShare ? Severity::kMedium : Severity::kLow;
}

/// The mean steady step; without steps, the steady time.
double StepNs(const RankFacts& rank) {
  if (!rank.has_run) return static_cast<double>(rank.kernels.time_ns);
  const auto total_ns = static_cast<double>(rank.total_ns);
  if (!rank.has_steps || rank.steps.empty()) return total_ns;
  return total_ns / static_cast<double>(rank.steps.size());
}

void SetConfidence(const RankFacts& rank, Item* item) {
  const auto set = [&](Confidence confidence, std::string_view reason) {
    item->confidence = confidence;
    item->reason = reason;
  };
  if (!item->finding.gain) return;
  if (item->rule->topic == Topic::kNone || item->rule->topic == Topic::kCollective) {
    return set(Confidence::kLow,
               "not replayed: other ranks, or the order of work, would change too");
  }
  if (!item->estimate) {
    return set(Confidence::kLow, rank.has_run ? "not replayed: launches, or a part of the run, are "
                                                "not in these figures"
                                              : "not replayed: these are records of kernels only");
  }
  if (*item->estimate < kHalfOfGain * *item->finding.gain) {
    return set(Confidence::kLow,
               rank.family == Family::kKineto
                   ? "a replay of the critical path saves less than half of the bound: the host is "
                     "as late, but PyTorch's profiler slows it"
                   : "a replay of the critical path saves less than half of the bound");
  }
  if (item->rule->by_roofs()) {
    return set(Confidence::kMedium,
               "a replay of the critical path saves it, but few kernels reach their roof");
  }
  if (*item->estimate < kMostOfGain * *item->finding.gain) {
    return set(Confidence::kMedium, "a replay of the critical path saves part of the bound");
  }
  set(Confidence::kHigh, "a replay of the critical path saves as much");
}

/// What a rule found on a rank.
Item ItemOf(const Rule& rule, const NamedRank& rank, Finding finding) {
  Item item;
  item.rule = &rule;
  item.rank = rank.name;
  item.finding = std::move(finding);
  const RankFacts& facts = *rank.facts;
  if (item.finding.gain) {
    item.gain_ns = *item.finding.gain * StepNs(facts);
    if (facts.has_replay && rule.topic != Topic::kNone && rule.topic != Topic::kCollective &&
        rule.topic != Topic::kSmallCollective) {
      item.estimate =
          std::min(ShareOf(facts.At(rule.topic).saved_ns, facts.total_ns), *item.finding.gain);
      item.estimate_ns = *item.estimate * StepNs(facts);
    }
  }
  item.severity = SeverityOf(item);
  SetConfidence(facts, &item);
  return item;
}

/// Whether it is not worth a word: little by its bound, and next to nothing by the replay.
bool SavesNothing(const Item& item) {
  return item.estimate && *item.estimate < kLeastEstimate && *item.finding.gain < kMediumShare;
}

}  // namespace

std::string_view ConfidenceWord(Confidence confidence) {
  constexpr std::string_view kWords[] = {"", "low", "medium", "high"};
  return kWords[static_cast<size_t>(confidence)];
}

std::string CommandOf(const Item& item, bool several) {
  const Rule& rule = *item.rule;
  std::string command(item.finding.command.empty() ? rule.command
                                                   : std::string_view(item.finding.command));
  const bool of_ranks = rule.view == "stragglers" || rule.view == "distributed";
  const bool can_quote = !item.rank.empty() && item.rank.find_first_of("\"'\\") == item.rank.npos;
  if (!several || of_ranks || !can_quote) return command;
  const std::string own = fmt::format("rank=\"{}\"", item.rank);
  constexpr std::string_view kWhere = "--where '";
  const size_t start = command.find(kWhere);
  if (start == command.npos) return fmt::format("{} --where '{}'", command, own);
  const size_t first = start + kWhere.size();
  const size_t end = command.find('\'', first);
  return fmt::format("{}{} and ({}){}", command.substr(0, first), own,
                     command.substr(first, end - first), command.substr(end));
}

std::vector<Item> Advise(std::span<const NamedRank> ranks) {
  std::vector<const RankFacts*> all;
  for (const NamedRank& rank : ranks) all.push_back(rank.facts);
  std::vector<Item> items;
  for (const Rule& rule : Rules()) {
    std::optional<Item> worst;
    int64_t fired = 0;
    for (const NamedRank& rank : ranks) {
      if (!rule.can_look(*rank.facts)) continue;
      std::optional<Finding> finding = rule.check({*rank.facts, all, rank.communication});
      if (!finding) continue;
      Item item = ItemOf(rule, rank, std::move(*finding));
      if (SavesNothing(item)) continue;
      ++fired;
      if (!worst || item.weight() > worst->weight()) worst = std::move(item);
    }
    if (!worst) continue;
    worst->ranks = fired;
    items.push_back(std::move(*worst));
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.weight() > b.weight();
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
