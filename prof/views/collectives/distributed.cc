#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/byte_map.h"
#include "base/checked.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/collective_sums.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

struct DistributedStep {
  int64_t origin_ns = 0;  ///< First event of the profile.
  Sum start_ns;           ///< Relative to origin_ns.
  int64_t number = 0;
  bool steady = true;
  Sum total_ns;
  Sum computation_ns;
  Sum overlap_ns;
  Sum communication_ns;
  Sum memory_ns;

  std::string_view Problem() const {
    const auto parts = Checked(computation_ns) + Checked(overlap_ns) + Checked(communication_ns);
    return parts.Value().value_or(INT64_MAX) <= total_ns ? "" : "a step is shorter than its parts";
  }

  int64_t other_ns() const { return total_ns - computation_ns - overlap_ns - communication_ns; }
  auto key() const {
    return std::tie(start_ns, origin_ns, number, steady, total_ns, computation_ns, overlap_ns,
                    communication_ns, memory_ns);
  }
};

/// One step, or the mean of several.
struct DistributedRow {
  const RankName& rank;
  std::string label;
  bool mean = false;
  size_t steps = 0;
  DistributedStep sums = {};
  CollectiveSums calls = {};

  void Add(const DistributedStep& step) {
    ++steps;
    for (const auto part : {&DistributedStep::total_ns, &DistributedStep::computation_ns,
                            &DistributedStep::overlap_ns, &DistributedStep::communication_ns,
                            &DistributedStep::memory_ns}) {
      sums.*part += step.*part;
    }
  }
  Cell Value(int64_t sum) const {
    return mean ? Cell{static_cast<double>(sum) / static_cast<double>(steps)} : Cell{sum};
  }
};

template <auto part>
Cell StepValueOf(const DistributedRow& row) {
  return row.Value(std::invoke(part, row.sums));
}
template <auto part>
Cell StepShareOf(const DistributedRow& row) {
  if (row.sums.total_ns == 0) return {};
  const int64_t part_ns = std::invoke(part, row.sums);
  return {100.0 * static_cast<double>(part_ns) / static_cast<double>(row.sums.total_ns)};
}
/// Unknown if there are calls, but the value is known of none.
template <auto count, auto part>
Cell CallsValueOf(const DistributedRow& row) {
  const bool known = row.calls.*count > 0 || row.calls.calls == 0;
  return known ? row.Value(row.calls.*part) : Cell{};
}

using enum FieldType;

constexpr Column<DistributedRow> kDistributedColumns[] = {
    {kRankField, [](const DistributedRow& row) { return CellOf(row.rank); }},
    {{"step",
      "Step",
      "",
      kText,
      6,
      "number of the step; mean: over the steady steps",
      Fold::kKey,
      {},
      {},
      "mean"},
     [](const DistributedRow& row) { return Text(row.label); }},
    {{"total_ns", "Total(ns)", "ns", kInteger, 13,
      "length of the step including its device work = the sum of the next four", Fold::kSum},
     StepValueOf<&DistributedStep::total_ns>},
    {{"computation_ns", "Compute(ns)", "ns", kInteger, 13,
      "time in which compute kernels or graph replays run, and no communication", Fold::kSum},
     StepValueOf<&DistributedStep::computation_ns>},
    {{"overlap_ns", "Overlap(ns)", "ns", kInteger, 13,
      "time in which both run: communication that costs nothing", Fold::kSum},
     StepValueOf<&DistributedStep::overlap_ns>},
    {{"communication_ns", "Comm(ns)", "ns", kInteger, 13,
      "time in which communication runs and no compute: exposed", Fold::kSum},
     StepValueOf<&DistributedStep::communication_ns>},
    {{"other_ns", "Other(ns)", "ns", kInteger, 13, "the rest", Fold::kSum},
     StepValueOf<&DistributedStep::other_ns>},
    {{"memory_ns", "Memory(ns)", "ns", kInteger, 13,
      "part of other_ns in which copies or memsets run", Fold::kSum},
     StepValueOf<&DistributedStep::memory_ns>},
    {AsRatio({"computation_pct", "Compute%", "%", kDecimal, 8, "100 x computation_ns / total_ns"},
             {"computation_ns", "total_ns", 100}),
     StepShareOf<&DistributedStep::computation_ns>},
    {AsRatio({"overlap_pct", "Overlap%", "%", kDecimal, 8, "100 x overlap_ns / total_ns"},
             {"overlap_ns", "total_ns", 100}),
     StepShareOf<&DistributedStep::overlap_ns>},
    {AsRatio({"communication_pct", "Comm%", "%", kDecimal, 8, "100 x communication_ns / total_ns"},
             {"communication_ns", "total_ns", 100}),
     StepShareOf<&DistributedStep::communication_ns>},
    {AsRatio({"other_pct", "Other%", "%", kDecimal, 8, "100 x other_ns / total_ns"},
             {"other_ns", "total_ns", 100}),
     StepShareOf<&DistributedStep::other_ns>},
    {{"collectives", "Calls", "", kInteger, 6, "collective calls launched in the step", Fold::kSum},
     [](const DistributedRow& row) { return row.Value(row.calls.calls); }},
    {{"latency_ns", "Latency(ns)", "ns", kInteger, 13,
      "sum of their latencies (view collectives) = wait_ns + transfer_ns + unmatched_ns",
      Fold::kSum},
     CallsValueOf<&CollectiveSums::timed, &CollectiveSums::latency_ns>},
    {{"wait_ns", "Wait(ns)", "ns", kInteger, 13,
      "sum of their waits for the rank that came last; unknown if none of them has a match on "
      "another rank",
      Fold::kSum},
     CallsValueOf<&CollectiveSums::matched, &CollectiveSums::wait_ns>},
    {{"transfer_ns", "Transfer(ns)", "ns", kInteger, 13,
      "sum of their transfer times; unknown as wait_ns", Fold::kSum},
     CallsValueOf<&CollectiveSums::matched, &CollectiveSums::transfer_ns>},
    {{"unmatched_ns", "Unmatched(ns)", "ns", kInteger, 13,
      "sum of the latencies of the calls without a match on another rank", Fold::kSum},
     CallsValueOf<&CollectiveSums::timed, &CollectiveSums::unmatched_ns>},
};

DistributedStep DistributedStepOf(const Step& step, const Interval& window, const ClassTimes& times,
                                  int64_t origin_ns) {
  DistributedStep own;
  own.origin_ns = origin_ns;
  own.start_ns = LengthOf({origin_ns, window.start_ns});
  own.number = step.number;
  own.steady = step.steady();
  own.total_ns = LengthOf(window);
  own.overlap_ns = times.AllOf(kComputeBit | kCommunicationBit);
  own.computation_ns = times.AnyOf(kComputeBit) - own.overlap_ns;
  own.communication_ns = times.AnyOf(kCommunicationBit) - own.overlap_ns;
  own.memory_ns = times.ns[kMemoryBit];
  return own;
}

class Distributed : public GroupedPartial<RankName, std::vector<DistributedStep>, DistributedRow> {
 public:
  explicit Distributed(const ViewOptions& options)
      : GroupedPartial("distributed", options, {}, kDistributedColumns) {}

  void Begin(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override {
    GroupedPartial::Merge(other);
    const auto& more = dynamic_cast<const Distributed&>(other);
    MergeInto(&calls_, more.calls_);
    MergeInto(&call_notes_, more.call_notes_);
  }
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override {
    bytes->Values(&rows_, &calls_, &call_notes_, &notes_);
  }
  void Load(ByteReader* bytes) override {
    bytes->Values(&rows_);
    TransferMap(bytes, &calls_, [this](const CallsKey& key, const CollectiveSums& sums) {
      MergeInto(&calls_[key], sums);
    });
    bytes->Values(&call_notes_, &notes_);
  }

 private:
  /// Rank, first event of the profile, and number of the step.
  using CallsKey = std::pair<std::string, std::pair<int64_t, int64_t>>;

  void EmitGroup(const RankName& rank, const std::vector<DistributedStep>& steps,
                 TableOf<DistributedRow>* table) const override;

  std::map<CallsKey, CollectiveSums> calls_;
  CollectiveNotes call_notes_;
};

// Everything is computed here, so that temporary memory is freed before other views begin.
void Distributed::Begin(const Run* run) {
  notes_.Begin(run);
  if (run == nullptr || run->device_work().events().empty()) return;
  const auto steps = run->steps().all();
  if (steps.empty()) return;
  const std::vector<Interval> windows = WindowsOf(run->steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run->device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  const int64_t origin_ns = run->origin_ns();
  std::vector<DistributedStep>& rows = rows_[RankName(run->rank())];
  for (size_t i = 0; i < steps.size(); ++i) {
    rows.push_back(DistributedStepOf(steps[i], windows[i], times[i], origin_ns));
  }
}

void Distributed::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty() || !rows_.contains(RankName(*calls.front().rank))) return;
  call_notes_.Add(calls);
  for (const CollectiveRow& row : calls) {
    const auto step = row.step();
    if (step) calls_[{*row.rank, {row.recording->origin_ns, *step}}].Add(row);
  }
}

void Distributed::EmitGroup(const RankName& rank, const std::vector<DistributedStep>& found,
                            TableOf<DistributedRow>* table) const {
  std::vector<DistributedStep> steps = found;
  std::sort(steps.begin(), steps.end(),
            [](const DistributedStep& a, const DistributedStep& b) { return a.key() < b.key(); });
  const bool none_steady =
      std::none_of(steps.begin(), steps.end(), [](const auto& step) { return step.steady; });
  DistributedRow mean = {rank, "mean", true};
  std::set<std::pair<int64_t, int64_t>> given;
  for (const DistributedStep& step : steps) {
    DistributedRow row = {rank, std::to_string(step.number)};
    row.Add(step);
    const bool counts = step.steady || none_steady;
    if (counts) mean.Add(step);
    const std::pair key(step.origin_ns, step.number);
    const auto calls = calls_.find({rank.text, key});
    // The first of several steps with one number gets the calls.
    if (calls != calls_.end() && given.insert(key).second) {
      row.calls = calls->second;
      if (counts) MergeInto(&mean.calls, calls->second);
    }
    table->Add(row);
  }
  if (mean.steps > 0) table->Add(mean);
}

std::vector<std::string> Distributed::Notes() const {
  return call_notes_.SentencesBehind(notes_.Sentences(), "distributed", rows_.size());
}

}  // namespace

extern constexpr View kDistributedView = {
    .name = "distributed",
    .help = "how long each rank computed, communicated and waited in each step",
    .fields = FieldsWithoutBy<kDistributedColumns>,
    .make = MakePartial<Distributed>,
    .narrow = "total_ns,computation_ns,overlap_ns,communication_ns,other_ns,wait_ns,transfer_ns",
    .calls = true,
    .saved_form = 1};

}  // namespace oplens::prof
