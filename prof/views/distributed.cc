#include "prof/views/distributed.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/byte_map.h"
#include "base/checked.h"
#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/views/collective_notes.h"
#include "prof/views/collective_sums.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr Field kDistributedFields[] = {
    kRankField,
    {"step",
     "Step",
     "",
     FieldType::kText,
     6,
     "number of the step; mean: of the steps that are whole",
     Fold::kKey,
     {},
     {},
     "mean"},
    {"total_ns", "Total(ns)", "ns", FieldType::kInteger, 13,
     "length of the step with the device work of it = the sum of the four that follow", Fold::kSum},
    {"computation_ns", "Compute(ns)", "ns", FieldType::kInteger, 13,
     "time in which compute kernels or replays of graphs run and no communication", Fold::kSum},
    {"overlap_ns", "Overlap(ns)", "ns", FieldType::kInteger, 13,
     "time in which both run: communication that costs nothing", Fold::kSum},
    {"communication_ns", "Comm(ns)", "ns", FieldType::kInteger, 13,
     "time in which communication runs and no compute: exposed", Fold::kSum},
    {"other_ns", "Other(ns)", "ns", FieldType::kInteger, 13, "the rest", Fold::kSum},
    {"memory_ns", "Memory(ns)", "ns", FieldType::kInteger, 13,
     "of other_ns the time in which copies or fills run", Fold::kSum},
    AsRatio({"computation_pct", "Compute%", "%", FieldType::kDecimal, 8,
             "100 x computation_ns / total_ns", Fold::kNone},
            {"computation_ns", "total_ns", 100}),
    AsRatio({"overlap_pct", "Overlap%", "%", FieldType::kDecimal, 8, "100 x overlap_ns / total_ns",
             Fold::kNone},
            {"overlap_ns", "total_ns", 100}),
    AsRatio({"communication_pct", "Comm%", "%", FieldType::kDecimal, 8,
             "100 x communication_ns / total_ns", Fold::kNone},
            {"communication_ns", "total_ns", 100}),
    AsRatio({"other_pct", "Other%", "%", FieldType::kDecimal, 8, "100 x other_ns / total_ns",
             Fold::kNone},
            {"other_ns", "total_ns", 100}),
    {"collectives", "Calls", "", FieldType::kInteger, 6,
     "calls of collectives that were launched in the step", Fold::kSum},
    {"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 13,
     "sum of their latencies (view collectives) = wait_ns + transfer_ns + unmatched_ns",
     Fold::kSum},
    {"wait_ns", "Wait(ns)", "ns", FieldType::kInteger, 13,
     "sum of what they waited for the rank that came last; unknown where none of them was found on "
     "another rank",
     Fold::kSum},
    {"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 13,
     "sum of the transfers of these, the same", Fold::kSum},
    {"unmatched_ns", "Unmatched(ns)", "ns", FieldType::kInteger, 13,
     "sum of the latencies of those that were not found on another rank", Fold::kSum},
};

/// One step of one rank.
struct DistributedRow {
  int64_t origin_ns = 0;  ///< The profile's first event.
  int64_t start_ns = 0;   ///< From it.
  int64_t number = 0;
  bool whole = true;
  int64_t total_ns = 0;
  int64_t computation_ns = 0;
  int64_t overlap_ns = 0;
  int64_t communication_ns = 0;
  int64_t memory_ns = 0;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);

  int64_t other_ns() const { return total_ns - computation_ns - overlap_ns - communication_ns; }
  auto key() const {
    return std::tie(start_ns, origin_ns, number, whole, total_ns, computation_ns, overlap_ns,
                    communication_ns, memory_ns);
  }
};

template <typename Bytes, typename Self>
void DistributedRow::Transfer(Bytes* bytes, Self* self) {
  bytes->Values(&self->origin_ns);
  bytes->Sums(&self->start_ns);
  bytes->Values(&self->number, &self->whole);
  bytes->Sums(&self->total_ns, &self->computation_ns, &self->overlap_ns, &self->communication_ns,
              &self->memory_ns);
  if constexpr (Bytes::kReads) {
    const auto parts = Checked(self->computation_ns) + self->overlap_ns + self->communication_ns;
    bytes->Check(parts.Value().value_or(INT64_MAX) <= self->total_ns,
                 "a step is shorter than its parts");
  }
}

DistributedRow RowOf(const Step& step, const Interval& window, const ClassTimes& times,
                     int64_t origin_ns) {
  DistributedRow row;
  row.origin_ns = origin_ns;
  row.start_ns = LengthOf({origin_ns, window.start_ns});
  row.number = step.number;
  row.whole = step.complete;
  row.total_ns = LengthOf(window);
  row.overlap_ns = times.AllOf(kComputeBit | kCommunicationBit);
  row.computation_ns = times.AnyOf(kComputeBit) - row.overlap_ns;
  row.communication_ns = times.AnyOf(kCommunicationBit) - row.overlap_ns;
  row.memory_ns = times.ns[kMemoryBit];
  return row;
}

class Distributed : public SavedPartial<Distributed> {
 public:
  Distributed() : notes_("distributed") {}

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_);
    TransferMap(bytes, &self->calls_,
                [self](const auto& key, const auto& sums) { self->calls_[key].Merge(sums); });
    bytes->Values(&self->call_notes_, &self->notes_);
  }

  void Begin(const Run* run) override;
  void AddCalls(std::span<const CollectiveRow> calls) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {std::begin(kDistributedFields), std::end(kDistributedFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

 private:
  /// Rank, first event of the profile, and number of the step.
  using CallsKey = std::pair<std::string, std::pair<int64_t, int64_t>>;

  std::map<std::string, std::vector<DistributedRow>, RankBefore> ranks_;
  std::map<CallsKey, CollectiveSums> calls_;
  CollectiveNotes call_notes_;
  ViewNotes notes_;
};

// All is found at once: what it takes is free again when other views begin.
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
  std::vector<DistributedRow>& rows = ranks_[std::string(run->rank())];
  for (size_t i = 0; i < steps.size(); ++i) {
    rows.push_back(RowOf(steps[i], windows[i], times[i], origin_ns));
  }
}

void Distributed::AddCalls(std::span<const CollectiveRow> calls) {
  if (calls.empty() || !ranks_.contains(*calls.front().rank)) return;
  call_notes_.Add(calls);
  for (const CollectiveRow& row : calls) {
    const auto step = row.step();
    if (step) calls_[{*row.rank, {row.recording->origin_ns, *step}}].Add(row);
  }
}

void Distributed::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const Distributed&>(other);
  for (const auto& [rank, rows] : more.ranks_) {
    std::vector<DistributedRow>& own = ranks_[rank];
    own.insert(own.end(), rows.begin(), rows.end());
  }
  for (const auto& [key, sums] : more.calls_) calls_[key].Merge(sums);
  call_notes_.Merge(more.call_notes_);
  notes_.Merge(more.notes_);
}

/// What one row shows: one step, or the mean of several.
struct DistributedShown {
  size_t steps = 0;
  DistributedRow sums;
  CollectiveSums calls;

  void Add(const DistributedRow& row) {
    ++steps;
    for (const auto part :
         {&DistributedRow::total_ns, &DistributedRow::computation_ns, &DistributedRow::overlap_ns,
          &DistributedRow::communication_ns, &DistributedRow::memory_ns}) {
      sums.*part = SaturatingSum(sums.*part, row.*part);
    }
  }
};

std::vector<Cell> DistributedCellsOf(std::string_view rank, std::string_view label, bool mean,
                                     const DistributedShown& shown) {
  const DistributedRow& sums = shown.sums;
  const auto value = [&](int64_t sum) {
    return mean ? Cell{static_cast<double>(sum) / static_cast<double>(shown.steps)} : Cell{sum};
  };
  const auto share = [&](int64_t part) {
    if (sums.total_ns == 0) return Cell{};
    return Cell{100.0 * static_cast<double>(part) / static_cast<double>(sums.total_ns)};
  };
  std::vector<Cell> cells = {Text(rank), Text(label), value(sums.total_ns)};
  const std::array<int64_t, 4> parts = {sums.computation_ns, sums.overlap_ns, sums.communication_ns,
                                        sums.other_ns()};
  for (const int64_t part : parts) cells.push_back(value(part));
  cells.push_back(value(sums.memory_ns));
  for (const int64_t part : parts) cells.push_back(share(part));
  const CollectiveSums& calls = shown.calls;
  const auto known = [&](bool is_known, int64_t sum) { return is_known ? value(sum) : Cell{}; };
  const bool timed = calls.timed > 0 || calls.calls == 0;
  const bool matched = calls.matched > 0 || calls.calls == 0;
  cells.push_back(value(calls.calls));
  cells.push_back(known(timed, calls.latency_ns));
  cells.push_back(known(matched, calls.wait_ns));
  cells.push_back(known(matched, calls.transfer_ns));
  cells.push_back(known(timed, calls.unmatched_ns));
  return cells;
}

void Distributed::Emit(Sink* sink) const {
  for (const auto& [name, found] : ranks_) {
    std::vector<DistributedRow> rows = found;
    std::sort(rows.begin(), rows.end(),
              [](const DistributedRow& a, const DistributedRow& b) { return a.key() < b.key(); });
    const bool none_whole =
        std::none_of(rows.begin(), rows.end(), [](const DistributedRow& row) { return row.whole; });
    DistributedShown mean;
    std::set<std::pair<int64_t, int64_t>> given;
    for (const DistributedRow& row : rows) {
      DistributedShown shown;
      shown.Add(row);
      const bool counts = row.whole || none_whole;
      if (counts) mean.Add(row);
      const std::pair key(row.origin_ns, row.number);
      const auto calls = calls_.find({name, key});
      // Of two steps of one number the first has them.
      if (calls != calls_.end() && given.insert(key).second) {
        shown.calls = calls->second;
        if (counts) mean.calls.Merge(calls->second);
      }
      sink->Row(DistributedCellsOf(name, std::to_string(row.number), false, shown));
    }
    if (mean.steps > 0) sink->Row(DistributedCellsOf(name, "mean", true, mean));
  }
}

std::vector<std::string> Distributed::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  for (std::string& note : call_notes_.Sentences("distributed", ranks_.size()))
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::span<const Field> DistributedFields() { return kDistributedFields; }

std::unique_ptr<Partial> MakeDistributed(const ViewOptions& /*options*/) {
  return std::make_unique<Distributed>();
}

}  // namespace oplens::prof
