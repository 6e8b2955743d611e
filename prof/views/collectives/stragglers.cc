#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/ratio.h"
#include "prof/verdicts/change_point.h"
#include "prof/verdicts/culprits.h"
#include "prof/views/collectives/loaded_ranks.h"
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

  /// The most frequent; ties by text.
  WorkName MostBefore() const {
    const auto most =
        std::ranges::max_element(before, {}, [](const auto& of) { return int64_t{of.second}; });
    return most == before.end() ? WorkName() : most->first;
  }
};

struct StragglersRow {
  const RankName* rank = nullptr;
  const WaitSums* sums = nullptr;
  WorkName before = {};           ///< MostBefore.
  Sum caused_ns = {};             ///< Others' waits in calls for which it was last.
  RankFinding verdict = {};       ///< Of the profile that has most to say.
  const Culprit* own = nullptr;   ///< What is said of it,
  const Culprit* last = nullptr;  ///< and for whom it waits.
  double step_ns = 0;             ///< Mean over steady steps.
};

std::string_view VerdictWord(const StragglersRow& row) {
  if (row.own != nullptr) return CulpritWord(row.own->cause);
  if (row.last != nullptr) return "follows";
  return row.verdict.steps < kLeastSteps ? "few steps" : "chance";
}

const SlowPlace* SlowOf(const StragglersRow& row) {
  return row.own != nullptr && row.own->slow ? &*row.own->slow : nullptr;
}
template <auto figure>
Cell OfSlowPlace(const StragglersRow& row) {
  const SlowPlace* const slow = SlowOf(row);
  return slow == nullptr ? Cell{} : CellOf(slow->*figure);
}
template <auto text>
Cell SlowText(const StragglersRow& row) {
  const SlowPlace* const slow = SlowOf(row);
  return slow == nullptr || (slow->*text).empty() ? Cell{} : Text(slow->*text);
}
template <auto text>
Cell BeforeText(const StragglersRow& row) {
  return row.sums->before.empty() ? Cell{} : Text(row.before.*text);
}

constexpr Column<StragglersRow> kStragglersColumns[] = {
    {kRankField, [](const StragglersRow& row) { return CellOf(*row.rank); }},
    {{"verdict", "Verdict", "", kText, 9,
      "the cause of the view culprits, if it is one; follows: it waits for one, itself or through "
      "others; chance: neither; few steps: too few to tell"},
     [](const StragglersRow& row) { return Text(VerdictWord(row)); }},
    {{"waits_for", "Waits for", "", kText, 10, "culprit for which it waits"},
     [](const StragglersRow& row) { return row.last != nullptr ? Text(row.last->who) : Cell{}; }},
    {{"since_step", "Since", "", kInteger, 6,
      "number of the first step in which the verdict holds; empty if it holds at times"},
     [](const StragglersRow& row) {
       return row.own != nullptr ? Integer(row.own->since_step) : Cell{};
     }},
    {{"test", "Test", "", kText, 22,
      "tested: chance does not explain it; not tested over steps: there are fewer than 8"},
     [](const StragglersRow& row) {
       if (row.own == nullptr || row.own->steps == 0) return Cell{};
       return Text(TestWord(*row.own));
     }},
    {{"op", "Op", "", kText, 20, "slow op; for a kernel without an op, the kernel"},
     SlowText<&SlowPlace::op>},
    {{"layer", "Layer", "", kName, 16, "slow layer; with op, the only one in which that is slow"},
     SlowText<&SlowPlace::layer>},
    {{"op_ns", "Op(ns)", "ns", kInteger, 11,
      "GPU time of op (of layer, without an op) per step, mean over the slow steps"},
     OfSlowPlace<&SlowPlace::own_ns>},
    {{"median_op_ns", "Median(ns)", "ns", kInteger, 11,
      "median of op_ns over the other ranks (of its pipeline stage)"},
     OfSlowPlace<&SlowPlace::usual_ns>},
    {{"op_excess_pct", "Excess(%)", "%", kDecimal, 9,
      "100 x (op_ns - median_op_ns) / median_op_ns"},
     [](const StragglersRow& row) {
       const SlowPlace* const slow = SlowOf(row);
       if (slow == nullptr) return Cell{};
       const auto median_ns = static_cast<double>(slow->usual_ns);
       return Decimal(Percent(static_cast<double>(slow->own_ns) - median_ns, median_ns));
     }},
    {{"late_ns", "Late(ns)", "ns", kInteger, 11,
      "how much later than the median of the other ranks it comes per step, which is how much less "
      "it waits; mean over the slow steps, else over all; negative if it waits more"},
     [](const StragglersRow& row) { return Integer(row.verdict.late_ns); }},
    {{"late_pct", "Late(%)", "%", kDecimal, 8, "100 x late_ns / time of a step"},
     [](const StragglersRow& row) {
       const auto& late_ns = row.verdict.late_ns;
       return late_ns ? Decimal(Percent(static_cast<double>(*late_ns), row.step_ns)) : Cell{};
     }},
    {{"caused_ns", "Caused(ns)", "ns", kInteger, 13,
      "sum of the waits of other ranks in calls for which this rank came last; unknown if it is "
      "not known who came last",
      Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums->placed_calls > 0 ? CellOf(row.caused_ns) : Cell{};
     }},
    {{"last_calls", "Last", "", kInteger, 7, "calls for which it came last; unknown as caused_ns",
      Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums->placed_calls > 0 ? CellOf(row.sums->last_calls) : Cell{};
     }},
    {{"calls", "Calls", "", kInteger, 7, "its calls with a match on other ranks", Fold::kSum},
     [](const StragglersRow& row) { return CellOf(row.sums->calls); }},
    {{"wait_ns", "Wait(ns)", "ns", kInteger, 13, "sum of its own waits in these calls", Fold::kSum},
     [](const StragglersRow& row) {
       return row.sums->calls > 0 ? CellOf(row.sums->wait_ns) : Cell{};
     }},
    {{"before_op", "Before", "", kText, 20,
      "what its GPU mostly ran since the previous call before the calls for which it came last"},
     BeforeText<&WorkName::op>},
    {{"before_layer", "BeforeLayer", "", kName, 16, "layer of before_op"},
     BeforeText<&WorkName::layer>},
    {{"before_idle_pct", "BeforeIdle(%)", "%", kDecimal, 8,
      "mean share of that time in which its GPU computed nothing"},
     [](const StragglersRow& row) {
       const WaitSums& sums = *row.sums;
       if (sums.last_calls == 0) return Cell{};
       return Cell{static_cast<double>(sums.idle_permille) / 10 /
                   static_cast<double>(sums.last_calls)};
     }},
};

class Stragglers : public LoadedPartial<Stragglers, kStragglersColumns> {
 public:
  Stragglers() : LoadedPartial("stragglers") {}

  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Emit(Sink* sink) const override;

 private:
  /// Counts the last rank, and its preceding work.
  void AddLast(const CollectiveRow& row, WaitSums* sums);

  std::map<RankName, WaitSums> sums_;
  std::map<std::string, Sum> caused_ns_;  // By last rank, over the ranks here.

 public:
  static constexpr std::tuple kMembers{&Stragglers::loaded_, &Stragglers::sums_,
                                       &Stragglers::caused_ns_};
};

void Stragglers::AddCalls(std::span<const CollectiveRow> calls) {
  if (!loaded_.AddCalls(calls)) return;
  WaitSums& sums = sums_[RankName(*calls.front().rank)];
  for (const CollectiveRow& row : calls) {
    AddLast(row, &sums);
    if (row.share.ranks < 2 || row.wait_ns() < 0) continue;
    ++sums.calls;
    sums.wait_ns += row.wait_ns();
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

double MeanStep(const RankLoad& load) {
  double sum_ns = 0;
  size_t count = 0;
  for (const LoadStep& step : load.steps) {
    if (!step.steady) continue;
    sum_ns += static_cast<double>(int64_t{step.total_ns});
    ++count;
  }
  return count == 0 ? 0 : sum_ns / static_cast<double>(count);
}

/// Of two profiles of a rank, which has more to say.
int Weight(const StragglersRow& row) {
  if (row.own != nullptr) return IsAboutFiles(row.own->cause) ? 2 : 3;
  return row.last != nullptr ? 1 : 0;
}

void Stragglers::Emit(Sink* sink) const {
  const std::vector<CulpritRank> ranks = loaded_.Ranks();
  const RunFinding verdict = JudgeRanks(ranks);
  const auto culprit = [&](const std::optional<size_t>& index) {
    return index ? &verdict.culprits[*index] : nullptr;
  };
  const WaitSums none;
  std::map<RankName, StragglersRow> rows;
  for (size_t i = 0; i < ranks.size(); ++i) {
    StragglersRow row;
    row.verdict = verdict.ranks[i];
    row.own = culprit(row.verdict.culprit);
    row.last = culprit(row.verdict.waits_for);
    row.step_ns = MeanStep(*ranks[i].load);
    const auto [known, fresh] = rows.try_emplace(RankName(ranks[i].name), row);
    if (!fresh && Weight(row) > Weight(known->second)) known->second = row;
  }
  TableOf<StragglersRow> table(kStragglersColumns, sink);
  for (auto& [name, row] : rows) {
    const auto sums = sums_.find(name);
    const auto caused = caused_ns_.find(name.text);
    row.rank = &name;
    row.sums = sums == sums_.end() ? &none : &sums->second;
    row.before = row.sums->MostBefore();
    if (caused != caused_ns_.end()) row.caused_ns = caused->second;
    table.Add(row);
  }
}

}  // namespace

extern constexpr View kStragglersView = {
    .name = "stragglers",
    .help = "which ranks keep the others waiting, why and since when, and which wait for them",
    .fields = FieldsWithoutBy<kStragglersColumns>,
    .make = MakePartial<Stragglers>,
    .narrow = "verdict,waits_for,since_step,op,op_excess_pct,late_pct,caused_ns",
    .on_pages = false,
    .calls = true,
    .saved_form = 3};

}  // namespace oplens::prof
