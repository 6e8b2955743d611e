#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/ratio.h"
#include "parse/model/recording_advice.h"
#include "prof/advice/advise.h"
#include "prof/advice/evidence.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/path/advice_facts.h"
#include "prof/views/path/rank_verdict.h"

namespace oplens::prof {
namespace {

struct AdviceRow {
  const advice::Item& item;
  std::vector<std::string_view> evidence;
};

constexpr Column<AdviceRow> kAdviceColumns[] = {
    {{"id", "Id", "", FieldType::kText, 22, "name of the rule (docs/advice.md)", Fold::kKey},
     [](const AdviceRow& row) { return Text(row.item.rule->id); }},
    {{"severity", "Severity", "", FieldType::kText, 8,
      "high: gain of at least 10 %, medium: 3 %, low: less, info: matters for other figures"},
     [](const AdviceRow& row) { return Text(advice::SeverityWord(row.item.severity)); }},
    {{"worst_rank", "Rank", "", FieldType::kText, 6,
      "rank with the largest gain among those on which the rule holds; the row describes it"},
     [](const AdviceRow& row) { return Text(row.item.rank); }},
    {{"ranks", "Ranks", "", FieldType::kInteger, 5, "number of ranks on which the rule holds"},
     [](const AdviceRow& row) { return Integer(row.item.ranks); }},
    {{"gain_pct", "Gain%", "%", FieldType::kDecimal, 7,
      "upper bound of the time that the change saves; gains of several rows do not add up"},
     [](const AdviceRow& row) {
       return row.item.finding.gain ? Cell{100 * *row.item.finding.gain} : Cell{};
     }},
    {{"gain_ns", "Gain(ns)", "ns", FieldType::kInteger, 12,
      "gain_pct of a mean step; without steps, of the run"},
     [](const AdviceRow& row) {
       return row.item.gain_ns ? Integer(std::llround(std::min(*row.item.gain_ns, 9e18))) : Cell{};
     }},
    {{"item", "Advice", "", FieldType::kText, Field::kShared, "what was found"},
     [](const AdviceRow& row) { return Text(row.item.finding.sentence); }},
    {{"change", "Change", "", FieldType::kText, Field::kShared, "what to change"},
     [](const AdviceRow& row) { return Text(row.item.rule->change); }},
    {{"evidence", "Evidence", "", FieldType::kTextList, Field::kShared,
      "where it was found, largest gain first", Fold::kNone, "; ", ""},
     [](const AdviceRow& row) { return Cell{Cell::Texts{row.evidence}}; }},
    {{"command", "Command", "", FieldType::kText, Field::kShared,
      "options of prof that show the evidence"},
     [](const AdviceRow& row) { return Text(row.item.rule->command); }},
    {{"bound", "Bound", "", FieldType::kText, 12, "time that bounds the gain"},
     [](const AdviceRow& row) { return Text(row.item.rule->bound); }},
    {{"assumption", "Assumption", "", FieldType::kText, Field::kShared,
      "assumption under which the gain is reached"},
     [](const AdviceRow& row) { return Text(row.item.rule->assumption); }},
    {{"evidence_view", "View", "", FieldType::kText, 12, "the view with the evidence"},
     [](const AdviceRow& row) { return Text(row.item.rule->view); }},
};

class Advice : public MemberPartial<Advice, kAdviceColumns> {
 public:
  void Begin(const Run* run) override {
    rank_ = run != nullptr ? run->rank() : std::string_view();
    if (run != nullptr) family_.Add(run->trace().family);
    facts_.Begin(run);
    finder_.Begin(run);
  }
  void Add(const PricedKernel& kernel) override {
    facts_.Add(kernel);
    finder_.Add(kernel);
  }
  void End(const Run*) override {
    ranks_[rank_].Merge(facts_.End());
    if (const auto verdict = finder_.End()) verdicts_[rank_].Merge(*verdict);
  }
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return true; }
  std::string Document() const override;
  std::vector<std::string> Notes() const override;

 private:
  std::vector<advice::NamedRank> Ranks() const {
    std::vector<advice::NamedRank> ranks;
    for (const auto& [name, facts] : ranks_) ranks.push_back({name, &facts});
    return ranks;
  }

  std::string Verdict() const;

  std::map<std::string, advice::RankFacts, RankBefore> ranks_;
  std::map<std::string, RankVerdict, RankBefore> verdicts_;
  Max<Family> family_;
  // Of the current run:
  std::string rank_;
  AdviceFacts facts_;
  VerdictFinder finder_;

 public:
  static constexpr std::tuple kMembers{&Advice::ranks_, &Advice::verdicts_, &Advice::family_};
};

void Advice::Emit(Sink* sink) const {
  const std::vector<advice::NamedRank> ranks = Ranks();
  TableOf<AdviceRow> table(kAdviceColumns, sink);
  for (const advice::Item& item : advice::Advise(ranks)) {
    table.Add({item, {item.finding.evidence.begin(), item.finding.evidence.end()}});
  }
}

/// The verdict on the rank with the largest share of it; ranks that only work come last.
std::string Advice::Verdict() const {
  const auto share = [](const auto& entry) {
    return std::pair(!entry.second.is_busy(),
                     Percent(entry.second.time_ns, entry.second.total_ns).value_or(0));
  };
  const auto most =
      std::max_element(verdicts_.begin(), verdicts_.end(),
                       [&](const auto& a, const auto& b) { return share(a) < share(b); });
  if (most == verdicts_.end()) return {};
  return fmt::format("{}{}\n  see: oplens {} FILE\n",
                     verdicts_.size() > 1 ? fmt::format("rank {}: ", most->first) : std::string(),
                     most->second.sentence, most->second.command);
}

std::string Advice::Document() const {
  const std::vector<advice::NamedRank> ranks = Ranks();
  const std::vector<advice::Item> items = advice::Advise(ranks);
  if (items.empty()) {
    const size_t blind = advice::RulesWithoutData(ranks).size();
    const size_t looked = advice::Rules().size() - blind;
    return looked > 0 ? fmt::format("{}nothing to advise: {} rules looked\n", Verdict(), looked)
                      : Verdict();
  }
  std::string text = Verdict();
  for (const advice::Item& item : items) {
    const advice::Finding& finding = item.finding;
    if (!text.empty()) text += '\n';
    text += fmt::format("{} {}", item.rule->id, advice::SeverityWord(item.severity));
    if (finding.gain) {
      text += fmt::format(", at most {} % ({}) to gain", advice::Percent(*finding.gain),
                          advice::TimeText(item.gain_ns.value_or(0)));
    }
    text += fmt::format("\n  {}\n", finding.sentence);
    if (ranks.size() > 1) {
      text += fmt::format("  on {} of {} ranks, most on rank {}\n", item.ranks, ranks.size(),
                          item.rank);
    }
    for (const std::string& evidence : finding.evidence) {
      text += fmt::format("    {}\n", evidence);
    }
    text += fmt::format("  change: {}\n", item.rule->change);
    if (finding.gain) {
      text += fmt::format("  gain: by {}, if {}\n", item.rule->bound, item.rule->assumption);
    }
    text += fmt::format("  see: prof FILE {}\n", item.rule->command);
  }
  return text;
}

std::vector<std::string> Advice::Notes() const {
  // What to record for each unknown, with the rules that need it.
  std::map<MissingFact, std::string> lacks;
  const std::vector<advice::NamedRank> ranks = Ranks();
  for (const advice::Rule* rule : advice::RulesWithoutData(ranks)) {
    std::string& rules = lacks[rule->lack];
    rules += fmt::format("{}{}", rules.empty() ? "" : ", ", rule->id);
  }
  std::vector<std::string> notes;
  for (const auto& [lack, rules] : lacks) {
    std::string note = fmt::format("advice: nothing to look at for {}", rules);
    const std::string_view flag = RecordingFlag(lack, family_.value);
    if (!flag.empty()) note += fmt::format("; recorded by {}", flag);
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace

extern constexpr View kAdviceView = {
    .name = "advice",
    .help = "what to change, and how much time that can save at most",
    .needs = kAdviceNeeds | kVerdictNeeds,
    .fields = FieldsWithoutBy<kAdviceColumns>,
    .make = MakePartial<Advice>,
    .narrow = "severity,gain_pct,item,change",
    .may_be_empty = true,
    .saved_form = 2};

}  // namespace oplens::prof
