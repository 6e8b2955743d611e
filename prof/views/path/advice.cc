#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/ratio.h"
#include "parse/model/recording_advice.h"
#include "prof/advice/advise.h"
#include "prof/advice/evidence.h"
#include "prof/path/critical_path.h"
#include "prof/run/run.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/group_kinds.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/path/advice_facts.h"
#include "prof/views/path/advice_steps.h"
#include "prof/views/path/rank_verdict.h"

namespace oplens::prof {
namespace {

struct AdviceRow {
  const advice::Item& item;
  std::vector<std::string_view> evidence;
  std::string command;
};

std::string_view ChangeOf(const advice::Item& item) {
  return item.finding.change.empty() ? item.rule->change : std::string_view(item.finding.change);
}

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
      "upper bound of the time that the change saves, of the steady steps; gains of several rows "
      "do not add up"},
     [](const AdviceRow& row) {
       return row.item.finding.gain ? Cell{100 * *row.item.finding.gain} : Cell{};
     }},
    {{"gain_ns", "Gain(ns)", "ns", FieldType::kInteger, 12,
      "gain_pct of a mean steady step; without steps, of the run"},
     [](const AdviceRow& row) {
       return row.item.gain_ns ? Integer(std::llround(std::min(*row.item.gain_ns, 9e18))) : Cell{};
     }},
    {{"estimate_pct", "Est%", "%", FieldType::kDecimal, 7,
      "part of gain_pct that a replay of the critical path saves"},
     [](const AdviceRow& row) {
       return row.item.estimate ? Cell{100 * *row.item.estimate} : Cell{};
     }},
    {{"estimate_ns", "Est(ns)", "ns", FieldType::kInteger, 12,
      "estimate_pct of a mean steady step; without steps, of the run"},
     [](const AdviceRow& row) {
       return row.item.estimate_ns ? Integer(std::llround(std::min(*row.item.estimate_ns, 9e18)))
                                   : Cell{};
     }},
    {{"confidence", "Conf", "", FieldType::kText, 6,
      "high: a replay saves the bound, medium: most of it, or the bound is a roof, low: less than "
      "half, or not replayed"},
     [](const AdviceRow& row) { return Text(advice::ConfidenceWord(row.item.confidence)); }},
    {{"reason", "Reason", "", FieldType::kText, Field::kShared, "why this confidence"},
     [](const AdviceRow& row) { return Text(row.item.reason); }},
    {{"item", "Advice", "", FieldType::kText, Field::kShared, "what was found"},
     [](const AdviceRow& row) { return Text(row.item.finding.sentence); }},
    {{"change", "Change", "", FieldType::kText, Field::kShared, "what to change"},
     [](const AdviceRow& row) { return Text(ChangeOf(row.item)); }},
    {{"evidence", "Evidence", "", FieldType::kTextList, Field::kShared,
      "where it was found, largest gain first", Fold::kNone, "; ", ""},
     [](const AdviceRow& row) { return Cell{Cell::Texts{row.evidence}}; }},
    {{"command", "Command", "", FieldType::kText, Field::kShared,
      "options of prof that show the evidence"},
     [](const AdviceRow& row) { return Text(row.command); }},
    {{"bound", "Bound", "", FieldType::kText, 12, "time that bounds the gain"},
     [](const AdviceRow& row) { return Text(row.item.rule->bound); }},
    {{"assumption", "Assumption", "", FieldType::kText, Field::kShared,
      "assumption under which the gain is reached"},
     [](const AdviceRow& row) { return Text(row.item.rule->assumption); }},
    {{"evidence_view", "View", "", FieldType::kText, 12, "the view with the evidence"},
     [](const AdviceRow& row) {
       return Text(row.item.finding.view.empty() ? row.item.rule->view : row.item.finding.view);
     }},
};

/// What an advice would save of one step.
struct AdviceStepRow {
  const advice::Item& item;
  const AdviceSteps::Step& step;
  int64_t gpus = 1;  // Between which the gain is divided.

  std::optional<double> gain_ns() const {
    if (!step.counts) return std::nullopt;
    return static_cast<double>(step.gain_ns[topic()]) / static_cast<double>(gpus);
  }
  std::optional<int64_t> estimate_ns() const {
    if (!step.counts || !item.estimate) return std::nullopt;
    return step.saved_ns[topic()];
  }
  size_t topic() const { return static_cast<size_t>(item.rule->topic); }
};

constexpr Column<AdviceStepRow> kAdviceStepColumns[] = {
    {{"id", "Id", "", FieldType::kText, 22, "name of the rule (docs/advice.md)", Fold::kKey},
     [](const AdviceStepRow& row) { return Text(row.item.rule->id); }},
    {{"worst_rank", "Rank", "", FieldType::kText, 6, "rank that the advice is about", Fold::kKey},
     [](const AdviceStepRow& row) { return Text(row.item.rank); }},
    {kStepField, [](const AdviceStepRow& row) { return Integer(row.step.number); }},
    {{"time_ns", "Time(ns)", "ns", FieldType::kInteger, 13,
      "length of the step; unknown if it is not steady", Fold::kSum},
     [](const AdviceStepRow& row) {
       return row.step.counts ? Integer(row.step.total_ns) : Cell{};
     }},
    {{"gain_ns", "Gain(ns)", "ns", FieldType::kDecimal, 12,
      "the part of the upper bound that is in the step", Fold::kSum},
     [](const AdviceStepRow& row) { return Decimal(row.gain_ns()); }},
    {{"estimate_ns", "Est(ns)", "ns", FieldType::kInteger, 12,
      "by how much a replay of the critical path is shorter; more than gain_ns counts as gain_ns",
      Fold::kSum},
     [](const AdviceStepRow& row) { return Integer(row.estimate_ns()); }},
};

struct LargeCallSums {
  Sum bus_bytes;
  Sum latency_ns;
  Sum transfer_ns;

  advice::LargeCalls facts() const { return {bus_bytes, latency_ns, transfer_ns}; }
};

/// The collective calls in the steady time of a rank.
struct RankCommunication {
  LargeCallSums matched;
  LargeCallSums alone;
  // Exposed time:
  Sum exposed_ns;
  Sum transfer_ns;  ///< Of each call at most the shortest latency on any rank.
  std::map<std::string, Sum> waits_for;
  std::map<CollectiveGroup, Sum> groups;

  void AddLarge(const CollectiveRow& row) {
    const int64_t bytes = row.call.size_bytes;
    const std::optional<double> factor = BusFactor(row.call.kind, row.group_size());
    if (bytes < advice::kSmallMessageBytes || row.call.latency_ns <= 0 || !factor) return;
    const bool is_matched = row.share.match != CollectiveMatch::kAlone && row.share.ranks > 1 &&
                            row.share.transfer_ns > 0;
    LargeCallSums& sums = is_matched ? matched : alone;
    sums.bus_bytes += std::llround(std::min(*factor * static_cast<double>(bytes), 9e18));
    sums.latency_ns += row.call.latency_ns;
    if (is_matched) sums.transfer_ns += row.share.transfer_ns;
  }
  void Add(const CollectiveRow& row) {
    AddLarge(row);
    const int64_t exposed = std::max<int64_t>(row.call.exposed_ns, 0);
    if (exposed == 0 || row.share.transfer_ns < 0) return;
    const int64_t transfer = std::min(exposed, row.share.transfer_ns);
    exposed_ns += exposed;
    transfer_ns += transfer;
    groups[*row.group] += exposed;
    if (row.share.last_rank != nullptr) waits_for[*row.share.last_rank] += exposed - transfer;
  }
};

constexpr std::string_view kAdviceKeys[] = {"step"};

/// What partials of one input share: the first of them finds it.
struct AdviceTogether {
  bool by_step = false;  ///< One of them is.
  size_t left = 0;       ///< Partials that have not ended.
  AdviceFacts maker;
  // After its End():
  advice::RankFacts facts;
  AdviceSteps steps;
};

class Advice : public MemberPartial<Advice, kAdviceColumns> {
 public:
  /// `first`: of those that share `together`.
  Advice(const ViewOptions& options, std::shared_ptr<AdviceTogether> together, bool first)
      : by_step_(!options.by.empty()), together_(std::move(together)), first_(first) {
    together_->by_step |= by_step_;
    ++together_->left;
    for (const std::string& word : options.by) {
      if (word == kAdviceKeys[0]) continue;
      throw UsageError(fmt::format("--by {}: the view advice takes step", word));
    }
  }

  void Begin(const Run* run) override {
    rank_ = run != nullptr ? run->rank() : std::string_view();
    if (run != nullptr) {
      family_.Add(run->trace().family);
      kinds_.Add(run->trace());
    }
    if (first_) together_->maker.Begin(run);
    if (!by_step_) finder_.Begin(run);
  }
  void Add(const PricedKernel& kernel) override {
    if (first_) together_->maker.Add(kernel);
    if (!by_step_) finder_.Add(kernel);
  }
  void End(const Run*) override {
    AdviceTogether& found = *together_;
    if (first_) found.facts = found.maker.End(found.by_step ? &found.steps : nullptr);
    ranks_[rank_].Merge(found.facts);
    if (by_step_) steps_[rank_].Merge(found.steps);
    if (--found.left == 0) {
      found.facts = {};
      found.steps = {};
    }
    if (by_step_) return;
    if (const auto verdict = finder_.End()) verdicts_[rank_].Merge(*verdict);
  }
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override {
    MemberPartial::Merge(other);
    MergeInto(&steps_, dynamic_cast<const Advice&>(other).steps_);
  }
  void Save(ByteWriter* bytes) const override {
    MemberPartial::Save(bytes);
    if (by_step_) bytes->Values(&steps_);
  }
  void Load(ByteReader* bytes) override {
    MemberPartial::Load(bytes);
    if (by_step_) bytes->Values(&steps_);
  }
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  bool IsDocument() const override { return !by_step_; }
  std::string Document() const override;
  std::vector<std::string> Notes() const override;

 private:
  /// What the rules look at. Points into this object.
  struct Looked {
    std::map<std::string, advice::CommunicationFacts> communication;
    std::vector<advice::NamedRank> ranks;
  };
  Looked Ranks() const;

  std::string Verdict() const;
  void EmitSteps(Sink* sink) const;

  bool by_step_ = false;
  std::map<std::string, AdviceSteps, RankBefore> steps_;  // If by_step_.
  std::map<std::string, advice::RankFacts, RankBefore> ranks_;
  std::map<std::string, RankVerdict, RankBefore> verdicts_;
  std::map<std::string, RankCommunication, RankBefore> communication_;
  GroupKinds kinds_;
  Max<Family> family_;
  // Of the current run:
  std::string rank_;
  std::shared_ptr<AdviceTogether> together_;
  bool first_;
  VerdictFinder finder_;

 public:
  static constexpr std::tuple kMembers{&Advice::ranks_, &Advice::verdicts_, &Advice::communication_,
                                       &Advice::kinds_, &Advice::family_};
};

void Advice::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  kinds_.AddCalls(calls);
  const auto rank = ranks_.find(*calls.front().rank);
  if (rank == ranks_.end()) return;
  std::set<int64_t> steady;
  for (const advice::StepFact& step : rank->second.steps) steady.insert(step.number);
  RankCommunication& sums = communication_[rank->first];
  for (const CollectiveRow& row : calls) {
    const std::optional<int64_t> step = row.step();
    if (step && steady.contains(*step)) sums.Add(row);
  }
}

Advice::Looked Advice::Ranks() const {
  Looked looked;
  for (const auto& [name, sums] : communication_) {
    advice::CommunicationFacts& facts = looked.communication[name];
    facts.exposed_ns = sums.exposed_ns;
    facts.transfer_ns = sums.transfer_ns;
    facts.waiting_ns = facts.exposed_ns - facts.transfer_ns;
    facts.matched = sums.matched.facts();
    facts.alone = sums.alone.facts();
    for (const auto& [rank, ns] : sums.waits_for) {
      if (ns > 0) facts.waits_for.emplace_back(ns, rank);
    }
    std::stable_sort(facts.waits_for.begin(), facts.waits_for.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::map<std::string_view, Sum> kinds;
    for (const auto& [group, ns] : sums.groups) kinds[GroupKindWord(kinds_.Of(group))] += ns;
    int64_t most_ns = 0;
    for (const auto& [kind, ns] : kinds) {
      if (ns <= most_ns) continue;
      most_ns = ns;
      facts.kind = kind;
    }
  }
  for (const auto& [name, facts] : ranks_) {
    const auto found = looked.communication.find(name);
    looked.ranks.push_back(
        {name, &facts, found == looked.communication.end() ? nullptr : &found->second});
  }
  return looked;
}

std::vector<Field> Advice::Fields() const {
  return by_step_ ? FieldsOf<AdviceStepRow>(kAdviceStepColumns) : MemberPartial::Fields();
}

void Advice::EmitSteps(Sink* sink) const {
  const Looked looked = Ranks();
  TableOf<AdviceStepRow> table(kAdviceStepColumns, sink);
  for (const advice::Item& item : advice::Advise(looked.ranks)) {
    const std::string rank(item.rank);
    const auto facts = ranks_.find(rank);
    const auto steps = steps_.find(rank);
    if (facts == ranks_.end() || steps == steps_.end()) continue;
    // A gain of kernels is of the time of all GPUs.
    const advice::RankFacts& of = facts->second;
    const int64_t whole_ns = of.At(item.rule->topic).all.gain_ns;
    const bool of_time = item.finding.gain == advice::ShareOf(whole_ns, of.total_ns);
    for (const AdviceSteps::Step& step : steps->second.Of(item, of)) {
      table.Add({item, step, of_time ? 1 : std::max<int64_t>(of.gpus, 1)});
    }
  }
}

void Advice::Emit(Sink* sink) const {
  if (by_step_) return EmitSteps(sink);
  const Looked looked = Ranks();
  TableOf<AdviceRow> table(kAdviceColumns, sink);
  for (const advice::Item& item : advice::Advise(looked.ranks)) {
    table.Add({item,
               {item.finding.evidence.begin(), item.finding.evidence.end()},
               advice::CommandOf(item, looked.ranks.size() > 1)});
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

/// ", about 30.2 % (52.9 ms) to gain, at most 33.1 %"; of distances from roofs ", at most 30.2 %
/// (52.9 ms) to gain, by roofs alone 33.1 %".
std::string GainText(const advice::Item& item) {
  if (!item.finding.gain) return {};
  const std::string most = advice::Percent(*item.finding.gain);
  const auto text_of = [](std::string_view about, const std::string& share, double ns) {
    return fmt::format(", {} {} % ({}) to gain", about, share, advice::TimeText(ns));
  };
  if (!item.estimate) return text_of("at most", most, item.gain_ns.value_or(0));
  const std::string about = advice::Percent(*item.estimate);
  const bool to_roof = item.rule->is_to_roof();
  std::string text = text_of(to_roof ? "at most" : "about", about, item.estimate_ns.value_or(0));
  if (about != most) text += fmt::format(", {} {} %", to_roof ? "by roofs alone" : "at most", most);
  return text;
}

std::string Advice::Document() const {
  const Looked looked = Ranks();
  const std::vector<advice::Item> items = advice::Advise(looked.ranks);
  if (items.empty()) {
    const size_t blind = advice::RulesWithoutData(looked.ranks).size();
    const size_t checked = advice::Rules().size() - blind;
    return checked > 0 ? fmt::format("{}nothing to advise: {} rules looked\n", Verdict(), checked)
                       : Verdict();
  }
  std::string text = Verdict();
  for (const advice::Item& item : items) {
    const advice::Finding& finding = item.finding;
    if (!text.empty()) text += '\n';
    text += fmt::format("{} {}{}\n  {}\n", item.rule->id, advice::SeverityWord(item.severity),
                        GainText(item), finding.sentence);
    if (looked.ranks.size() > 1) {
      text += fmt::format("  on {} of {} ranks, most on rank {}\n", item.ranks, looked.ranks.size(),
                          item.rank);
    }
    for (const std::string& evidence : finding.evidence) {
      text += fmt::format("    {}\n", evidence);
    }
    text += fmt::format("  change: {}\n", ChangeOf(item));
    if (finding.gain) {
      text +=
          fmt::format("  gain: by {}, if {}\n  confidence: {}, {}\n", item.rule->bound,
                      item.rule->assumption, advice::ConfidenceWord(item.confidence), item.reason);
    }
    text += fmt::format("  see: prof FILE {}\n", advice::CommandOf(item, looked.ranks.size() > 1));
  }
  return text;
}

std::vector<std::string> Advice::Notes() const {
  // What to record for each unknown, with the rules that need it.
  std::map<MissingFact, std::string> lacks;
  const Looked looked = Ranks();
  for (const advice::Rule* rule : advice::RulesWithoutData(looked.ranks)) {
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

std::vector<std::unique_ptr<Partial>> MakeAdviceTogether(std::span<const ViewOptions> options) {
  std::vector<std::unique_ptr<Partial>> partials;
  const auto together = std::make_shared<AdviceTogether>();
  for (const ViewOptions& one : options) {
    partials.push_back(std::make_unique<Advice>(one, together, partials.empty()));
  }
  return partials;
}

}  // namespace

extern constexpr View kAdviceView = {
    .name = "advice",
    .help = "what to change, and how much time that can save at most",
    .needs = kAdviceNeeds | kVerdictNeeds | kCriticalPathNeeds,
    .fields = FieldsWithoutBy<kAdviceColumns>,
    .make = MakeAlone<MakeAdviceTogether>,
    .make_together = MakeAdviceTogether,
    .by = kAdviceKeys,
    .narrow = "severity,gain_pct,estimate_pct,item,change",
    .may_be_empty = true,
    .calls = true,
    .saved_form = 4};

}  // namespace oplens::prof
