#include "prof/verdicts/culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/table/row_kind.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/group_kinds.h"
#include "prof/views/collectives/load_maker.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {
namespace {

using enum FieldType;

struct CulpritsRow {
  Culprit culprit;
  std::string who;
  std::string often;
  std::string evidence;
  RowKind kind = RowKind::kRow;
};

/// The command that shows what a culprit is named for.
std::string EvidenceOf(CulpritCause cause) {
  switch (cause) {
    case CulpritCause::kMissingRank:
    case CulpritCause::kTwice:
    case CulpritCause::kOtherRun:
    case CulpritCause::kFewerSteps:
      return "prof --view ranks";
    case CulpritCause::kOtherWork:
      return "prof --view operators --by rank";
    case CulpritCause::kSlowLayer:
      return "prof --by rank,layer,step";
    case CulpritCause::kSlowOp:
    case CulpritCause::kSlowGpu:
    case CulpritCause::kSlowNode:
    case CulpritCause::kSlowCompute:
      return "prof --by rank,op,step";
    case CulpritCause::kNetwork:
      return "prof --view collectives --by group,step";
    default:
      return "prof --view overview";
  }
}

/// "every step", "since step 8", "growing since step 8", "6 of 40 steps: 5, 9, ..."
std::string OftenOf(const Culprit& culprit) {
  if (IsAboutFiles(culprit.cause) && culprit.steps == 0) return "";
  if (culprit.since_step) {
    return fmt::format("{} step {}", culprit.grows ? "growing since" : "since",
                       *culprit.since_step);
  }
  constexpr size_t kNamed = 6;
  std::string text = fmt::format("{} of {} steps:", culprit.slow_steps.size(), culprit.steps);
  for (size_t i = 0; i < std::min(kNamed, culprit.slow_steps.size()); ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : ",", culprit.slow_steps[i]);
  }
  return culprit.slow_steps.size() > kNamed ? text + ", ..." : text;
}

constexpr Column<CulpritsRow> kCulpritsColumns[] = {
    {{"who", "Who", "", kText, 20,
      "rank, node, process group or link; (N more): those that cost less", Fold::kKey},
     [](const CulpritsRow& row) { return Text(row.who); }},
    {{"cause", "Cause", "", kText, 11,
      "first about the files: missing (rank), twice, other run, fewer steps, other work; then slow "
      "op, slow layer, slow GPU, slow node, slow ops, data loader, gc.collect, checkpoint, "
      "allocator, copies, host, late, network"},
     [](const CulpritsRow& row) {
       return row.kind == RowKind::kRow ? Text(CulpritWord(row.culprit.cause)) : Cell{};
     }},
    {{"what", "What", "", kText, 40, "what is slow, and by how much; what is wrong with the files"},
     [](const CulpritsRow& row) {
       return row.culprit.what.empty() ? Cell{} : Text(row.culprit.what);
     }},
    {{"often", "Often", "", kText, 24,
      "since which step, or in which of the steps that were compared"},
     [](const CulpritsRow& row) { return row.often.empty() ? Cell{} : Text(row.often); }},
    {{"cost_ns", "Cost(ns)", "ns", kInteger, 11,
      "what it costs the run at most per step: what it takes longer than its peers, as far as "
      "others wait for it; unknown if it is not known who waits",
      Fold::kSum},
     [](const CulpritsRow& row) { return Integer(row.culprit.cost_ns); }},
    {{"cost_pct", "Cost(%)", "%", kDecimal, 8, "100 x cost_ns / mean time of a step"},
     [](const CulpritsRow& row) {
       return row.culprit.cost_ns ? Decimal(100 * row.culprit.cost_share) : Cell{};
     }},
    {{"waiters", "Waiters", "", kInteger, 7,
      "ranks that wait for it, also through others; unknown if it is not known who came last"},
     [](const CulpritsRow& row) {
       if (!row.culprit.waiters) return Cell{};
       return Integer(static_cast<int64_t>(*row.culprit.waiters));
     }},
    {{"test", "Test", "", kText, 22,
      "tested: chance does not explain it; not tested over steps: there are fewer than 8"},
     [](const CulpritsRow& row) {
       if (row.culprit.steps == 0) return Cell{};
       return Text(row.culprit.tested ? "tested" : "not tested over steps");
     }},
    {{"evidence", "Evidence", "", kText, 40, "command that shows it, without its inputs"},
     [](const CulpritsRow& row) { return row.evidence.empty() ? Cell{} : Text(row.evidence); }},
    {kRowKindField, [](const CulpritsRow& row) { return Text(RowKindWord(row.kind)); }},
};

struct LoadedRank {
  RankGroups groups;
  std::vector<RankLoad> loads;  ///< By profile.

  static constexpr std::tuple kMembers{&LoadedRank::groups, &LoadedRank::loads};
};

class Culprits : public MemberPartial<Culprits, kCulpritsColumns> {
 public:
  Culprits() : notes_("culprits") {}

  void Begin(const Run* run) override {
    notes_.Begin(run);
    if (run != nullptr && !run->work().events().empty()) maker_.emplace(*run);
  }
  void Add(const PricedKernel& kernel) override {
    if (maker_) maker_->Add(kernel);
  }
  void End(const Run* run) override {
    if (!maker_) return;
    LoadedRank& rank = ranks_[RankName(run->rank())];
    rank.groups.Add(run->trace());
    rank.loads.push_back(maker_->Take());
    kinds_.Add(run->trace());
    maker_.reset();
  }
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override {
    return call_notes_.SentencesBehind(notes_.Sentences(), "culprits", ranks_.size());
  }

 private:
  std::map<RankName, LoadedRank> ranks_;
  GroupKinds kinds_;
  CollectiveNotes call_notes_;
  ViewNotes notes_;
  std::optional<LoadMaker> maker_;  // Of the current run.

 public:
  static constexpr std::tuple kMembers{&Culprits::ranks_, &Culprits::kinds_, &Culprits::call_notes_,
                                       &Culprits::notes_};
};

void Culprits::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = ranks_.find(RankName(*calls.front().rank));
  if (at == ranks_.end()) return;
  call_notes_.Add(calls);
  kinds_.AddCalls(calls);
  at->second.groups.AddCalls(calls);
  std::set<int64_t> origins;  // Of two profiles with the same origin, the first gets the calls.
  for (RankLoad& load : at->second.loads) {
    if (origins.insert(load.origin_ns).second) AddCallsTo(calls, &load);
  }
}

/// By what tells profiles of a rank apart, so that the order of merging has no effect.
bool LoadBefore(const RankLoad* a, const RankLoad* b) {
  return std::tuple(a->origin_ns, a->began_ns, a->steps.size()) <
         std::tuple(b->origin_ns, b->began_ns, b->steps.size());
}

/// Nodes as shown: hosts that are known by marks only are numbered in the order of ranks.
class NodeNames {
 public:
  std::string Of(const std::string& node) {
    if (!IsMarkedHost(node)) return node;
    return fmt::format("h{}", numbers_.try_emplace(node, numbers_.size()).first->second);
  }

 private:
  std::map<std::string, size_t> numbers_;
};

void Culprits::Emit(Sink* sink) const {
  constexpr size_t kMostRows = 10;
  NodeNames nodes;
  std::vector<CulpritRank> ranks;
  for (const auto& [name, rank] : ranks_) {
    std::vector<const RankLoad*> of;
    for (const RankLoad& load : rank.loads) of.push_back(&load);
    std::sort(of.begin(), of.end(), LoadBefore);
    for (const RankLoad* load : of) {
      CulpritRank& one = ranks.emplace_back();
      one.name = name.text;
      one.load = load;
      one.stage = rank.groups.Stage().value_or(-1);
      one.node = nodes.Of(load->node);
      for (const auto& [key, group] : load->groups) {
        one.group_kinds[key] = GroupKindWord(kinds_.Of({group.name, group.ranks, group.size}));
      }
    }
  }
  std::vector<Culprit> culprits = FindCulprits(ranks);
  TableOf<CulpritsRow> table(kCulpritsColumns, sink);
  const size_t shown = culprits.size() > kMostRows ? kMostRows - 1 : culprits.size();
  for (size_t i = 0; i < shown; ++i) {
    CulpritsRow row;
    row.who = culprits[i].who;
    row.often = OftenOf(culprits[i]);
    row.evidence = EvidenceOf(culprits[i].cause);
    row.culprit = std::move(culprits[i]);
    table.Add(row);
  }
  if (shown == culprits.size()) return;
  CulpritsRow rest;
  rest.who = fmt::format("({} more)", culprits.size() - shown);
  rest.kind = RowKind::kRest;
  for (size_t i = shown; i < culprits.size(); ++i) {
    if (!culprits[i].cost_ns) continue;
    rest.culprit.cost_ns = rest.culprit.cost_ns.value_or(0) + *culprits[i].cost_ns;
    rest.culprit.cost_share += culprits[i].cost_share;
  }
  table.Add(rest);
}

}  // namespace

extern constexpr View kCulpritsView = {
    .name = "culprits",
    .help = "which rank, node, group or link slows the run down, why, and what it costs a step",
    .fields = FieldsWithoutBy<kCulpritsColumns>,
    .make = MakePartial<Culprits>,
    .some = "who,cause,what,often,cost_ns,cost_pct,waiters,test,evidence",
    .narrow = "who,cause,what,often,cost_pct",
    .of_ranks = true,
    .may_be_empty = true,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
