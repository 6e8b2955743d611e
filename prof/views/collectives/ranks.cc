#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/host_mark.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

struct StepSums {
  Count steps;
  Count calls;
  Count matched;  ///< Calls of known wait.
  Sum total_ns;
  Sum busy_ns;
  Sum compute_ns;
  Sum communication_ns;
  Sum wait_ns;

  void AddCall(int64_t waited_ns) {
    ++calls;
    if (waited_ns < 0) return;
    ++matched;
    wait_ns += waited_ns;
  }
};

struct RankSums {
  StepSums steady;
  StepSums all;
  Count kernels;
  Sum kernel_ns;
  Max<std::optional<int64_t>> peak_bytes;
  std::set<std::string> nodes;
  RankGroups groups;
  /// Calls of whole groups, by GroupIdentity and name.
  std::map<std::pair<std::string, std::string>, Balance> group_calls;
  /// Steps that are not steady, by first event of their profile and number.
  std::set<std::pair<int64_t, int64_t>> unsteady;
};

struct RanksRow {
  const RankName& rank;
  const RankSums& of_rank;
  const StepSums& sums;  ///< Over the steps that are shown.
  std::string node;
  std::string place;
};

template <auto part>
Cell RanksShareOf(const RanksRow& row) {
  if (row.sums.total_ns == 0) return {};
  return {100.0 * static_cast<double>(row.sums.*part) / static_cast<double>(row.sums.total_ns)};
}

constexpr Column<RanksRow> kRanksColumns[] = {
    {kRankField, [](const RanksRow& row) { return CellOf(row.rank); }},
    {{"node", "Node", "", FieldType::kText, 6,
      "number of the node that it ran on, if recorded; h0: the first host by rank, if only host "
      "names are recorded"},
     [](const RanksRow& row) { return Text(row.node); }},
    {{"stage", "Stage", "", FieldType::kInteger, 5, "its stage of the pipeline, from 0"},
     [](const RanksRow& row) { return Integer(row.of_rank.groups.Stage()); }},
    {{"place", "Place", "", FieldType::kName, 20,
      "its place in its process groups: data 3/8, tensor 0/2"},
     [](const RanksRow& row) { return Text(row.place); }},
    {{"place_by", "By", "", FieldType::kText, 8,
      "told: from the names that the program gives the groups; inferred: from their ranks and use"},
     [](const RanksRow& row) { return Text(row.of_rank.groups.PlaceSource()); }},
    FigureColumn<&StepSums::steps>{
        "steps", "Steps", "", 6,
        "number of steps in the times: the steady ones, or all if none is steady"},
    {AsRatio({"step_ns", "Step(ns)", "ns", FieldType::kDecimal, 13,
              "total_ns / steps: a step including its device work"},
             {"total_ns", "steps", 1}),
     RatioOf<&StepSums::total_ns, &StepSums::steps>},
    FigureColumn<&StepSums::total_ns>{"total_ns", "Total(ns)", "ns", 13,
                                      "sum of the lengths of these steps"},
    FigureColumn<&StepSums::busy_ns>{"busy_ns", "Busy(ns)", "ns", 13,
                                     "part of total_ns in which any GPU work runs"},
    FigureColumn<&StepSums::compute_ns>{
        "compute_ns", "Compute(ns)", "ns", 13,
        "part of total_ns in which compute kernels or graph replays run"},
    FigureColumn<&StepSums::communication_ns>{
        "communication_ns", "Comm(ns)", "ns", 13,
        "part of total_ns in which communication runs and no compute: exposed"},
    {AsRatio({"busy_pct", "Busy(%)", "%", FieldType::kDecimal, 8, "100 x busy_ns / total_ns"},
             {"busy_ns", "total_ns", 100}),
     RanksShareOf<&StepSums::busy_ns>},
    {AsRatio({"communication_pct", "Comm(%)", "%", FieldType::kDecimal, 8,
              "100 x communication_ns / total_ns"},
             {"communication_ns", "total_ns", 100}),
     RanksShareOf<&StepSums::communication_ns>},
    FigureColumn<&StepSums::calls>{"collectives", "Calls", "", 7,
                                   "collective calls launched in these steps"},
    {{"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 13,
      "sum of their waits for the rank that came last; unknown if none of them has a match on "
      "another rank",
      Fold::kSum},
     [](const RanksRow& row) {
       const StepSums& sums = row.sums;
       return sums.matched > 0 || sums.calls == 0 ? CellOf(sums.wait_ns) : Cell{};
     }},
    {{"peak_bytes", "Peak(B)", "B", FieldType::kInteger, 13,
      "most memory that the framework had allocated on a GPU", Fold::kMax},
     [](const RanksRow& row) { return CellOf(row.of_rank.peak_bytes); }},
    {{"kernels", "Kernels", "", FieldType::kInteger, 8, "kernels of the rank, in steps or not",
      Fold::kSum},
     [](const RanksRow& row) { return CellOf(row.of_rank.kernels); }},
    {{"kernel_ns", "KernelSum(ns)", "ns", FieldType::kInteger, 13,
      "sum of the durations of these kernels", Fold::kSum},
     [](const RanksRow& row) { return CellOf(row.of_rank.kernel_ns); }},
};

class Ranks : public GroupedPartial<RankName, RankSums, RanksRow> {
 public:
  explicit Ranks(const ViewOptions& options)
      : GroupedPartial("ranks", options, {}, kRanksColumns) {}

  void Begin(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override {
    GroupedPartial::Merge(other);
    MergeInto(&call_notes_, dynamic_cast<const Ranks&>(other).call_notes_);
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override { bytes->Values(&rows_, &call_notes_, &notes_); }
  void Load(ByteReader* bytes) override { bytes->Values(&rows_, &call_notes_, &notes_); }

 private:
  void NoteMissing(std::vector<std::string>* notes) const;

  CollectiveNotes call_notes_;
};

void AddRanksSteps(const Run& run, RankSums* rank) {
  const auto steps = run.steps().all();
  const std::vector<Interval> windows = WindowsOf(run.steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run.device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  for (size_t i = 0; i < steps.size(); ++i) {
    StepSums sums;
    sums.steps = 1;
    sums.total_ns = LengthOf(windows[i]);
    sums.busy_ns = times[i].AnyOf(kComputeBit | kCommunicationBit | kMemoryBit);
    sums.compute_ns = times[i].AnyOf(kComputeBit);
    sums.communication_ns =
        times[i].AnyOf(kCommunicationBit) - times[i].AllOf(kComputeBit | kCommunicationBit);
    MergeInto(&rank->all, sums);
    if (steps[i].steady()) {
      MergeInto(&rank->steady, sums);
    } else {
      rank->unsteady.insert({run.origin_ns(), steps[i].number});
    }
  }
}

std::optional<int64_t> PeakOf(const Run& run) {
  std::optional<int64_t> peak_bytes;
  if (run.trace().memory_events.empty()) return peak_bytes;
  for (const MemoryLife::Pool& pool : run.memory().pools()) {
    if (pool.source != MemorySource::kFramework || pool.device_id < 0) continue;
    if (!run.SelectsDevice(pool.device_id)) continue;
    const int64_t place = run.memory().PeakOf(pool, run.windows());
    if (place == MemoryLife::kNowhere) continue;
    peak_bytes = std::max(peak_bytes, {run.memory().AllocatedBehind(pool, place)});
  }
  return peak_bytes;
}

void Ranks::Begin(const Run* run) {
  notes_.Begin(run);
  if (run == nullptr || run->work().events().empty()) return;
  RankSums found;
  AddRanksSteps(*run, &found);
  for (const DeviceEvent& event : run->work().events()) {
    if (!event.IsKernel()) continue;
    ++found.kernels;
    found.kernel_ns += event.duration_ns();
  }
  found.peak_bytes.Add(PeakOf(*run));
  const int64_t node = run->trace().node;
  const std::string& host = run->trace().host;
  if (node >= 0) {
    found.nodes.insert(std::to_string(node));
  } else if (!host.empty()) {
    found.nodes.insert(MarkedHost(host));
  }
  found.groups.Add(run->trace());
  Take(RankName(run->rank()), found);
}

void Ranks::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty()) return;
  const auto at = rows_.find(RankName(*calls.front().rank));
  if (at == rows_.end()) return;
  call_notes_.Add(calls);
  RankSums& rank = at->second;
  rank.groups.AddCalls(calls);
  std::map<const CollectiveGroup*, int64_t> group_calls;
  for (const CollectiveRow& row : calls) {
    if (!IsPointToPoint(row.call.kind)) ++group_calls[row.group];
    const auto step = row.step();
    if (!step) continue;
    rank.all.AddCall(row.wait_ns());
    if (!rank.unsteady.contains({row.recording->origin_ns, *step}))
      rank.steady.AddCall(row.wait_ns());
  }
  for (const auto& [group, count] : group_calls) {
    rank.group_calls[{GroupIdentity(*group), group->name}] += count;
  }
}

/// The count that at least half of the ranks reach.
int64_t RanksMedianOf(const std::vector<std::pair<std::string_view, int64_t>>& counts) {
  std::vector<int64_t> sorted;
  for (const auto& [name, count] : counts) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

class HostNumbers {
 public:
  std::string NodesOf(const std::set<std::string>& nodes) {
    std::set<std::string, RankBefore> shown;
    for (const std::string& node : nodes) shown.insert(NodeOf(node));
    return fmt::format("{}", fmt::join(shown, ", "));
  }

 private:
  std::string NodeOf(const std::string& node) {
    if (!IsMarkedHost(node)) return node;
    return fmt::format("h{}", numbers_.try_emplace(node, numbers_.size()).first->second);
  }

  std::map<std::string, size_t> numbers_;
};

void Ranks::Emit(Sink* sink) const {
  TableOf<RanksRow> table(columns(), sink);
  HostNumbers hosts;
  for (const auto& [rank, of_rank] : rows_) {
    const StepSums& shown = of_rank.steady.steps > 0 ? of_rank.steady : of_rank.all;
    table.Add({rank, of_rank, shown, hosts.NodesOf(of_rank.nodes), of_rank.groups.Place()});
  }
}

/// Notes ranks with fewer calls of a group than most of its ranks.
void Ranks::NoteMissing(std::vector<std::string>* notes) const {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::string_view, int64_t>>>
      groups;
  for (const auto& [rank, sums] : rows_) {
    for (const auto& [group, count] : sums.group_calls) {
      groups[group].emplace_back(rank.text, count);
    }
  }
  constexpr size_t kMost = 20;
  size_t left_out = 0;
  for (const auto& [group, ranks] : groups) {
    const int64_t usual = RanksMedianOf(ranks);
    for (const auto& [name, count] : ranks) {
      if (count >= usual) continue;
      if (notes->size() >= kMost) {
        ++left_out;
        continue;
      }
      notes->push_back(fmt::format(
          "ranks: rank {} misses {} calls of collectives that others {}have", name, usual - count,
          group.second.empty() ? "" : fmt::format("of the group {} ", group.second)));
    }
  }
  if (left_out > 0) notes->push_back(fmt::format("ranks: {} more miss calls", left_out));
}

std::vector<std::string> Ranks::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  NoteMissing(&notes);
  return call_notes_.SentencesBehind(std::move(notes), "ranks", rows_.size());
}

}  // namespace

extern constexpr View kRanksView = {
    .name = "ranks",
    .help = "how busy each rank was, how long it waited, and its place among the others",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kRanksColumns>,
    .make = MakePartial<Ranks>,
    .narrow = "step_ns,busy_pct,communication_pct,wait_ns,peak_bytes,place",
    .of_ranks = true,
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
