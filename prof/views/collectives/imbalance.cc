#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/price/kernel_facts.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {
namespace {

struct StepLoad {
  Sum total_ns;
  Sum compute_ns;
  Sum expert_ns;
};

struct RankLoads {
  RankGroups groups;
  std::map<int64_t, StepLoad> steps;          ///< Whole steps, by number.
  std::map<std::string, Balance> sent_bytes;  ///< By all_to_all, by name of the group.

  bool has_experts() const {
    return std::any_of(steps.begin(), steps.end(),
                       [](const auto& step) { return step.second.expert_ns > 0; });
  }
};

class Members {
 public:
  void Add(std::string_view name, int64_t step, int64_t load_ns, int64_t total_ns) {
    Step& own = steps_[step];
    ++own.members;
    own.max_ns = std::max(own.max_ns, load_ns);
    own.sum_ns += load_ns;
    own.total_ns = std::max(own.total_ns, total_ns);
    loads_ns_[RankName(name)] += load_ns;
  }

  struct Sums {
    int64_t steps = 0;
    Sum max_ns;
    Sum mean_ns;
    Sum total_ns;

    int64_t saved_ns() const { return max_ns - mean_ns; }
  };
  Sums SumUp() const {
    Sums sums;
    for (const auto& [number, step] : steps_) {
      if (step.members < 2) continue;
      ++sums.steps;
      sums.max_ns += step.max_ns;
      sums.mean_ns += step.sum_ns / step.members;
      sums.total_ns += step.total_ns;
    }
    return sums;
  }
  int64_t size() const { return static_cast<int64_t>(loads_ns_.size()); }
  /// The first member with the largest load.
  std::string_view Most() const {
    const auto most =
        std::max_element(loads_ns_.begin(), loads_ns_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == loads_ns_.end() ? std::string_view() : most->first.text;
  }

 private:
  struct Step {
    int64_t members = 0;
    int64_t max_ns = 0;
    Sum sum_ns;
    int64_t total_ns = 0;
  };
  std::map<int64_t, Step> steps_;
  std::map<RankName, Sum> loads_ns_;
};

struct ExpertGroup {
  Members members;
  int64_t ranks = 0;  ///< Ranks that sent something.
  int64_t max_bytes = 0;
  Sum sum_bytes;
};

struct ImbalanceRow {
  std::string_view what;
  std::string_view group;
  int64_t first_rank;  ///< -1: unknown.
  const Members& members;
  const ExpertGroup* experts;  ///< Null for stages.
  Members::Sums sums = members.SumUp();

  bool sends() const { return experts != nullptr && experts->ranks > 1; }
};

Cell ImbalanceRatio(int64_t of, int64_t over, double times) {
  if (over == 0) return {};
  return {times * static_cast<double>(of) / static_cast<double>(over)};
}

constexpr Column<ImbalanceRow> kImbalanceColumns[] = {
    {{"what", "What", "", FieldType::kText, 8,
      "stages: compute of the stages of the pipeline; experts: kernels of experts and of the "
      "routing to them, per rank of a group",
      Fold::kKey},
     [](const ImbalanceRow& row) { return Text(row.what); }},
    {{"group", "Group", "", FieldType::kText, 7, "name of the process group of the experts",
      Fold::kKey},
     [](const ImbalanceRow& row) { return Text(row.group); }},
    {{"first_rank", "First", "", FieldType::kInteger, 6,
      "first rank of the group, if its ranks are known", Fold::kKey},
     [](const ImbalanceRow& row) { return row.first_rank < 0 ? Cell{} : Integer(row.first_rank); }},
    {{"members", "Members", "", FieldType::kInteger, 7,
      "number of stages, or of given ranks of the group"},
     [](const ImbalanceRow& row) { return Integer(row.members.size()); }},
    {{"most", "Most", "", FieldType::kText, 6, "the stage or rank with the most work"},
     [](const ImbalanceRow& row) { return Text(row.members.Most()); }},
    {{"steps", "Steps", "", FieldType::kInteger, 6,
      "number of steady steps that at least two members have"},
     [](const ImbalanceRow& row) { return Integer(row.sums.steps); }},
    FigureColumn<&Members::Sums::max_ns>{
        "max_ns", "Max(ns)", "ns", 13,
        "sum over the steps of the time of the largest member of the step"},
    FigureColumn<&Members::Sums::mean_ns>{"mean_ns", "Mean(ns)", "ns", 13,
                                          "sum over the steps of the mean time of the members"},
    {{"ratio", "Max/Mean", "", FieldType::kDecimal, 9, "max_ns / mean_ns: 1 is even"},
     [](const ImbalanceRow& row) { return ImbalanceRatio(row.sums.max_ns, row.sums.mean_ns, 1); }},
    {{"saved_ns", "Saved(ns)", "ns", FieldType::kInteger, 13,
      "max_ns - mean_ns: the most that perfect balance can save, if all wait for the largest",
      Fold::kSum},
     [](const ImbalanceRow& row) { return Integer(row.sums.saved_ns()); }},
    FigureColumn<&Members::Sums::total_ns>{"total_ns", "Total(ns)", "ns", 13,
                                           "sum of the lengths of these steps"},
    {{"saved_pct", "Saved(%)", "%", FieldType::kDecimal, 8, "100 x saved_ns / total_ns"},
     [](const ImbalanceRow& row) {
       return ImbalanceRatio(row.sums.saved_ns(), row.sums.total_ns, 100);
     }},
    {{"max_bytes", "Max(B)", "B", FieldType::kInteger, 13,
      "most bytes that a rank of the group sends by all_to_all", Fold::kSum},
     [](const ImbalanceRow& row) {
       return row.sends() ? Integer(row.experts->max_bytes) : Cell{};
     }},
    {{"mean_bytes", "Mean(B)", "B", FieldType::kInteger, 13,
      "mean bytes that a rank of the group sends by all_to_all", Fold::kSum},
     [](const ImbalanceRow& row) {
       return row.sends() ? Integer(row.experts->sum_bytes / row.experts->ranks) : Cell{};
     }},
};

class Imbalance : public GroupedPartial<RankName, RankLoads, ImbalanceRow> {
 public:
  explicit Imbalance(const ViewOptions& options)
      : GroupedPartial("imbalance", options, {}, kImbalanceColumns) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  void EmitStages(TableOf<ImbalanceRow>* table) const;
  void EmitExperts(TableOf<ImbalanceRow>* table) const;

  // Of the current run:
  const Run* run_ = nullptr;
  std::vector<StepLoad> loads_;  // By step.
};

void Imbalance::Begin(const Run* run) {
  notes_.Begin(run);
  if (run == nullptr || run->work().events().empty()) return;
  run_ = run;
  const std::vector<Interval> windows = WindowsOf(run->steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run->device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  loads_.assign(windows.size(), {});
  for (size_t i = 0; i < windows.size(); ++i) {
    loads_[i].total_ns = LengthOf(windows[i]);
    loads_[i].compute_ns = times[i].AnyOf(kComputeBit);
  }
}

void Imbalance::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const auto family = FamilyOf(kernel);
  if (family != ops::KernelFamily::kGroupedGemm && family != ops::KernelFamily::kRouting) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  const size_t step = run_->StepOf(own, kernel.work);
  if (!own.timed() || step == Steps::kNone) return;
  loads_[step].expert_ns += LengthOf({own.start_ns, own.end_ns});
}

void Imbalance::End(const Run* /*run*/) {
  if (run_ == nullptr) return;
  RankLoads& rank = rows_[RankName(run_->rank())];
  rank.groups.Add(run_->trace());
  const auto steps = run_->steps().all();
  for (size_t i = 0; i < loads_.size(); ++i) {
    if (steps[i].steady()) MergeInto(&rank.steps[steps[i].number], loads_[i]);
  }
  run_ = nullptr;
}

void Imbalance::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = rows_.find(RankName(*calls.front().rank));
  if (at == rows_.end()) return;
  at->second.groups.AddCalls(calls);
  for (const CollectiveRow& row : calls) {
    if (row.call.kind != CollectiveKind::kAllToAll || row.call.size_bytes < 0) continue;
    at->second.sent_bytes[row.group->name] += row.call.size_bytes;
  }
}

/// Mean over the ranks of a stage.
struct StageLoad {
  int64_t ranks = 0;
  StepLoad sums;
};

void Imbalance::EmitStages(TableOf<ImbalanceRow>* table) const {
  std::map<int64_t, std::map<int64_t, StageLoad>> stages;  // By stage and step.
  for (const auto& [name, rank] : rows_) {
    const auto stage = rank.groups.Stage();
    if (!stage) continue;
    for (const auto& [number, load] : rank.steps) {
      StageLoad& own = stages[*stage][number];
      ++own.ranks;
      MergeInto(&own.sums, load);
    }
  }
  if (stages.size() < 2) return;
  Members members;
  for (const auto& [stage, steps] : stages) {
    for (const auto& [number, load] : steps) {
      members.Add(std::to_string(stage), number, load.sums.compute_ns / load.ranks,
                  load.sums.total_ns / load.ranks);
    }
  }
  table->Add({"stages", "", -1, members, nullptr});
}

/// The group that shares the rank's experts; the group of all ranks if the rank runs experts and no
/// expert group is known.
std::optional<RankGroups::Found> ExpertsOf(const RankLoads& rank) {
  const auto told = rank.groups.Of(GroupKind::kExpert);
  if (told || !rank.has_experts()) return told;
  return rank.groups.Of(GroupKind::kWorld);
}

void Imbalance::EmitExperts(TableOf<ImbalanceRow>* table) const {
  std::map<std::pair<std::string_view, int64_t>, ExpertGroup> groups;  // By name and first rank.
  for (const auto& [name, rank] : rows_) {
    const auto found = ExpertsOf(rank);
    if (!found) continue;
    ExpertGroup& group = groups[{*found->name, found->group->shape.first}];
    for (const auto& [number, load] : rank.steps) {
      group.members.Add(name.text, number, load.expert_ns, load.total_ns);
    }
    const auto sent = rank.sent_bytes.find(*found->name);
    if (sent == rank.sent_bytes.end()) continue;
    ++group.ranks;
    group.max_bytes = std::max<int64_t>(group.max_bytes, sent->second);
    group.sum_bytes += sent->second;
  }
  for (const auto& [key, group] : groups) {
    if (group.members.size() < 2) continue;
    table->Add({"experts", key.first, key.second, group.members, &group});
  }
}

void Imbalance::Emit(Sink* sink) const {
  TableOf<ImbalanceRow> table(columns(), sink);
  EmitStages(&table);
  EmitExperts(&table);
}

std::vector<std::string> Imbalance::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  const bool any = std::any_of(rows_.begin(), rows_.end(), [](const auto& rank) {
    return rank.second.groups.Stage() || ExpertsOf(rank.second);
  });
  if (!rows_.empty() && !any) {
    notes.emplace_back(
        "imbalance: the profiles record no group of stages or experts: there is nothing to "
        "compare");
  }
  return notes;
}

}  // namespace

extern constexpr View kImbalanceView = {
    .name = "imbalance",
    .help = "how uneven the work of experts and of pipeline stages is",
    .fields = FieldsWithoutBy<kImbalanceColumns>,
    .make = MakePartial<Imbalance>,
    .narrow = "members,most,ratio,saved_ns,saved_pct",
    .of_ranks = true,
    .may_be_empty = true,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
