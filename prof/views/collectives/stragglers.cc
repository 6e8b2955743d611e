
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/ratio.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/collectives/straggler_verdict.h"
#include "prof/views/collectives/straggler_work.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

using enum FieldType;

struct WaitSums {
  Sum calls;
  Sum wait_ns;
  Sum placed_calls;                ///< The last rank is known.
  Sum last_calls;                  ///< This rank was last.
  Sum idle_permille;               ///< Over last_calls.
  std::map<WorkName, Sum> before;  ///< Work before last_calls: number of calls.

  static constexpr std::tuple kMembers{&WaitSums::calls,         &WaitSums::wait_ns,
                                       &WaitSums::placed_calls,  &WaitSums::last_calls,
                                       &WaitSums::idle_permille, &WaitSums::before};

  /// The most frequent; ties by text.
  WorkName MostBefore() const {
    const auto most =
        std::ranges::max_element(before, {}, [](const auto& of) { return int64_t{of.second}; });
    return most == before.end() ? WorkName() : most->first;
  }
};

/// Work and waits of a rank. 8 bytes per time of StragglerWork, at most kMostTimes, plus its
/// process groups.
struct WaitingRank {
  RankGroups groups;
  std::vector<StragglerWork> works;  ///< By profile.
  WaitSums sums;

  static constexpr std::tuple kMembers{&WaitingRank::groups, &WaitingRank::works,
                                       &WaitingRank::sums};
};

struct StragglersRow {
  const RankName& rank;
  const WaitSums& sums;
  WorkName before = {};  ///< MostBefore.
  Sum caused_ns = {};    ///< Others' waits in calls for which it was last.
  StragglerFinding finding = {};
  double step_ns = 0;  ///< Mean over steady steps.
};

template <auto figure>
Cell OfSlowOp(const StragglersRow& row) {
  return row.finding.slow ? CellOf(row.finding.*figure) : Cell{};
}
template <auto text>
Cell SlowText(const StragglersRow& row) {
  return row.finding.slow ? Text((*row.finding.slow).*text) : Cell{};
}
template <auto text>
Cell BeforeText(const StragglersRow& row) {
  return row.sums.before.empty() ? Cell{} : Text(row.before.*text);
}

constexpr Column<StragglersRow> kStragglersColumns[] = {
    {kRankField, [](const StragglersRow& row) { return CellOf(row.rank); }},
    {{"verdict", "Verdict", "", kText, 9,
      "slow op: an op is slower than on the median rank, and others wait for this rank; late: it "
      "comes late, and no op of its GPU explains it; follows: it comes late because it waits for "
      "another rank of a group; chance: none of these; few steps: too few to tell"},
     [](const StragglersRow& row) { return Text(StragglerWord(row.finding.verdict)); }},
    {{"since_step", "Since", "", kInteger, 6,
      "number of the first step in which the verdict holds"},
     [](const StragglersRow& row) { return Integer(row.finding.since_step); }},
    {{"op", "Op", "", kText, 20, "slow op; for a kernel without an op, the kernel"},
     SlowText<&WorkName::op>},
    {{"layer", "Layer", "", kName, 16, "layer of op, if it is slow in one layer only"},
     SlowText<&WorkName::layer>},
    {{"op_ns", "Op(ns)", "ns", kInteger, 11, "GPU time of op per step, mean since since_step"},
     OfSlowOp<&StragglerFinding::op_ns>},
    {{"median_op_ns", "Median(ns)", "ns", kInteger, 11,
      "median of op_ns over the other ranks (of its pipeline stage)"},
     OfSlowOp<&StragglerFinding::median_ns>},
    {{"op_excess_pct", "Excess(%)", "%", kDecimal, 9,
      "100 x (op_ns - median_op_ns) / median_op_ns"},
     [](const StragglersRow& row) {
       if (!row.finding.slow) return Cell{};
       const auto median_ns = static_cast<double>(row.finding.median_ns);
       return Decimal(Percent(static_cast<double>(row.finding.op_ns) - median_ns, median_ns));
     }},
    {{"late_ns", "Late(ns)", "ns", kInteger, 11,
      "how much later than the median of the other ranks it comes per step, which is how much less "
      "it waits; mean since since_step, negative if it waits more"},
     [](const StragglersRow& row) { return Integer(row.finding.late_ns); }},
    {{"late_pct", "Late(%)", "%", kDecimal, 8, "100 x late_ns / time of a step"},
     [](const StragglersRow& row) {
       const auto& late_ns = row.finding.late_ns;
       return late_ns ? Decimal(Percent(static_cast<double>(*late_ns), row.step_ns)) : Cell{};
     }},
    {{"caused_ns", "Caused(ns)", "ns", kInteger, 13,
      "sum of the waits of other ranks in calls for which this rank came last; unknown if it is "
      "not known who came last",
      Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums.placed_calls > 0 ? CellOf(row.caused_ns) : Cell{};
     }},
    {{"last_calls", "Last", "", kInteger, 7, "calls for which it came last; unknown as caused_ns",
      Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums.placed_calls > 0 ? CellOf(row.sums.last_calls) : Cell{};
     }},
    FigureColumn<&WaitSums::calls>{"calls", "Calls", "", 7,
                                   "its calls with a match on other ranks"},
    {{"wait_ns", "Wait(ns)", "ns", kInteger, 13, "sum of its own waits in these calls", Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums.calls > 0 ? CellOf(row.sums.wait_ns) : Cell{};
     }},
    {{"before_op", "Before", "", kText, 20,
      "what its GPU mostly ran since the previous call before the calls for which it came last"},
     BeforeText<&WorkName::op>},
    {{"before_layer", "BeforeLayer", "", kName, 16, "layer of before_op"},
     BeforeText<&WorkName::layer>},
    {{"before_idle_pct", "BeforeIdle(%)", "%", kDecimal, 8,
      "mean share of that time in which its GPU computed nothing"},
     [](const StragglersRow& row) {
       const WaitSums& sums = row.sums;
       if (sums.last_calls == 0) return Cell{};
       return Cell{static_cast<double>(sums.idle_permille) / 10 /
                   static_cast<double>(sums.last_calls)};
     }},
};

class Stragglers : public MemberPartial<Stragglers, kStragglersColumns> {
 public:
  Stragglers() : notes_("stragglers") {}

  void Begin(const Run* run) override {
    notes_.Begin(run);
    if (run != nullptr && !run->work().events().empty()) maker_.emplace(*run);
  }
  void Add(const PricedKernel& kernel) override {
    if (maker_) maker_->Add(kernel);
  }
  void End(const Run* run) override {
    if (!maker_) return;
    WaitingRank& rank = ranks_[RankName(run->rank())];
    rank.groups.Add(run->trace());
    rank.works.push_back(maker_->Take());
    maker_.reset();
  }
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  /// Counts the last rank, and its preceding work.
  void AddLast(const CollectiveRow& row, WaitSums* sums);
  void AddWaits(std::span<const CollectiveRow> calls, StragglerWork* work, WaitSums* sums);

  std::map<RankName, WaitingRank> ranks_;
  std::map<std::string, Sum> caused_ns_;  // By last rank, over the ranks here.
  CollectiveNotes call_notes_;
  ViewNotes notes_;
  std::optional<StragglerWorkMaker> maker_;  // Of the current run.

 public:
  static constexpr std::tuple kMembers{&Stragglers::ranks_, &Stragglers::caused_ns_,
                                       &Stragglers::call_notes_, &Stragglers::notes_};
};

void Stragglers::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = ranks_.find(RankName(*calls.front().rank));
  if (at == ranks_.end()) return;
  call_notes_.Add(calls);
  WaitingRank& rank = at->second;
  rank.groups.AddCalls(calls);
  std::set<int64_t> origins;  // Of two profiles with the same origin, the first gets the calls.
  for (StragglerWork& work : rank.works) {
    if (origins.insert(work.origin_ns).second) AddWaits(calls, &work, &rank.sums);
  }
}

/// Whether a call can have a match if the other ranks are there and made the same calls.
bool MightBeMatched(const CollectiveRow& row) {
  if (row.share.match == CollectiveMatch::kAlone) return false;
  if (IsPointToPoint(row.call.kind)) return row.group->size == 2;
  return row.call.kind != CollectiveKind::kUnknown || row.call.sequence >= 0;
}

void Stragglers::AddWaits(std::span<const CollectiveRow> calls, StragglerWork* work,
                          WaitSums* sums) {
  std::map<int64_t, StragglerWork::Step*> steps;
  for (StragglerWork::Step& step : work->steps) steps.try_emplace(step.number, &step);
  std::map<const CollectiveGroup*, std::map<uint32_t, Sum>*> groups;
  for (const CollectiveRow& row : calls) {
    if (row.recording->origin_ns != work->origin_ns) continue;
    AddLast(row, sums);
    const int64_t wait_ns = row.wait_ns();
    const auto number = row.step();
    const auto step = number ? steps.find(*number) : steps.end();
    if (row.share.ranks < 2 || wait_ns < 0) {
      if (step != steps.end() && MightBeMatched(row)) ++step->second->unmatched;
      continue;
    }
    ++sums->calls;
    sums->wait_ns += wait_ns;
    if (step == steps.end()) continue;
    ++step->second->calls;
    step->second->wait_ns += wait_ns;
    std::map<uint32_t, Sum>*& waits_ns = groups[row.group];
    if (waits_ns == nullptr) waits_ns = &work->group_waits_ns[GroupIdentity(*row.group)];
    (*waits_ns)[static_cast<uint32_t>(step->second - work->steps.data())] += wait_ns;
  }
}

void Stragglers::AddLast(const CollectiveRow& row, WaitSums* sums) {
  if (row.share.last_rank == nullptr) return;
  ++sums->placed_calls;
  if (!row.came_last()) {
    caused_ns_[*row.share.last_rank] += std::max<int64_t>(0, row.wait_ns());
    return;
  }
  ++sums->last_calls;
  if (row.call.before.idle_permille < 0) return;
  sums->idle_permille += row.call.before.idle_permille;
  // Without preceding compute: an empty name.
  ++sums->before[row.work != nullptr ? *row.work : WorkName()];
}

/// By all that is kept, so that the order of merging has no effect.
bool StragglersBefore(const StragglerWork* a, const StragglerWork* b) {
  return std::tie(a->origin_ns, a->steps, a->times_ns) <
         std::tie(b->origin_ns, b->steps, b->times_ns);
}

double MeanStep(const StragglerWork& work) {
  double sum_ns = 0;
  size_t count = 0;
  for (const StragglerWork::Step& step : work.steps) {
    if (!step.steady) continue;
    sum_ns += static_cast<double>(step.total_ns);
    ++count;
  }
  return count == 0 ? 0 : sum_ns / static_cast<double>(count);
}

void Stragglers::Emit(Sink* sink) const {
  std::vector<StragglerRank> judged;
  std::vector<StragglersRow> rows;
  std::vector<size_t> row_of;  // By judged rank.
  for (const auto& [name, rank] : ranks_) {
    std::vector<const StragglerWork*> works;
    for (const StragglerWork& work : rank.works) works.push_back(&work);
    std::sort(works.begin(), works.end(), StragglersBefore);
    for (const StragglerWork* work : works) {
      judged.push_back({work, rank.groups.Stage().value_or(-1)});
      row_of.push_back(rows.size());
    }
    const auto caused = caused_ns_.find(name.text);
    rows.push_back({name, rank.sums, rank.sums.MostBefore(),
                    caused == caused_ns_.end() ? Sum() : caused->second});
  }
  const std::vector<StragglerFinding> findings = JudgeStragglers(judged);
  for (size_t i = 0; i < findings.size(); ++i) {
    StragglersRow& row = rows[row_of[i]];
    const bool first = row.step_ns == 0;
    if (!first && findings[i].verdict <= row.finding.verdict) continue;
    row.finding = findings[i];
    row.step_ns = MeanStep(*judged[i].work);
  }
  TableOf<StragglersRow> table(kStragglersColumns, sink);
  for (const StragglersRow& row : rows) table.Add(row);
}

std::vector<std::string> Stragglers::Notes() const {
  return call_notes_.SentencesBehind(notes_.Sentences(), "stragglers", ranks_.size());
}

}  // namespace

extern constexpr View kStragglersView = {
    .name = "stragglers",
    .help = "which ranks keep the others waiting, since when, and by which op",
    .fields = FieldsWithoutBy<kStragglersColumns>,
    .make = MakePartial<Stragglers>,
    .narrow = "verdict,since_step,op,op_excess_pct,late_ns,late_pct,caused_ns",
    .on_pages = false,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
