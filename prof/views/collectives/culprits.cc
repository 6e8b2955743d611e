#include "prof/verdicts/culprits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "prof/table/row_kind.h"
#include "prof/views/collectives/loaded_ranks.h"
#include "prof/views/common/grouped_partial.h"

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
       return Text(TestWord(row.culprit));
     }},
    {{"evidence", "Evidence", "", kText, 40, "command that shows it, without its inputs"},
     [](const CulpritsRow& row) { return row.evidence.empty() ? Cell{} : Text(row.evidence); }},
    {kRowKindField, [](const CulpritsRow& row) { return Text(RowKindWord(row.kind)); }},
};

class Culprits : public LoadedPartial<Culprits, kCulpritsColumns> {
 public:
  Culprits() : LoadedPartial("culprits") {}

  void Emit(Sink* sink) const override;

  static constexpr std::tuple kMembers{&Culprits::loaded_};
};

void Culprits::Emit(Sink* sink) const {
  constexpr size_t kMostRows = 10;
  std::vector<Culprit> culprits = JudgeRanks(loaded_.Ranks()).culprits;
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
    .saved_form = 3};

}  // namespace oplens::prof
