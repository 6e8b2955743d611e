
#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "prof/run/run.h"
#include "prof/views/calls/call_groups.h"
#include "prof/views/common/bounded_partial.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/memory/memory_notes.h"
#include "prof/views/memory/memory_op_run.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kNoCallName = "(no operator)";
constexpr std::string_view kUntoldName = "(not recorded)";
constexpr std::string_view kMemoryOpsOtherName = "(other)";

constexpr std::string_view kMemoryOpsKeys[] = {"layer", "stack", "step", "rank"};
constexpr OperatorKey kKeysOfWords[] = {OperatorKey::kLayer, OperatorKey::kStack,
                                        OperatorKey::kStep, OperatorKey::kRank};

struct MemoryOpKey {
  using Kind = MemoryOpRun::Row::Kind;

  int32_t device_id = -1;
  MemorySource source = MemorySource::kFramework;
  Kind kind = Kind::kCalls;
  std::vector<std::string> texts;  // The name, then the keys of --by except the step.
  std::optional<int64_t> step;
  friend auto operator<=>(const MemoryOpKey&, const MemoryOpKey&) = default;

  size_t TextBytes() const { return 0; }
  /// One per device.
  MemoryOpKey Other() const {
    MemoryOpKey other = {device_id, source, Kind::kCalls, {}, {}};
    other.texts.assign(texts.size(), "");
    other.texts[0] = kMemoryOpsOtherName;
    return other;
  }
};

struct MemoryOpRow {
  const MemoryOpKey& key;
  const MemoryOpSums& sums;
  std::string device;
  OperatorTexts texts;
};

/// Unknown for memory allocated before the recording.
Cell OfRecording(const MemoryOpRow& row, int64_t value) {
  return row.key.kind == MemoryOpKey::Kind::kTypesWithoutValue ? Cell{} : Integer(value);
}
template <auto member>
Cell SelfOf(const MemoryOpRow& row) {
  return OfRecording(row, row.sums.self.*member);
}
template <auto member>
Cell TotalOf(const MemoryOpRow& row) {
  return OfRecording(row, row.sums.total.*member);
}

constexpr Column<MemoryOpRow> kMemoryOpsColumns[] = {
    {kMemoryDeviceField, [](const MemoryOpRow& row) { return Text(row.device); }},
    {kMemorySourceField,
     [](const MemoryOpRow& row) { return Text(MemorySourceWord(row.key.source)); }},
    TextColumn<0>{"op", "Op", Field::kShared, "operator, by its recorded name"},
    kOperatorLayerColumn,
    kOperatorStackColumn,
    {kOperatorStepField, [](const MemoryOpRow& row) { return Integer(row.key.step); },
     Need::kNothing, true},
    kOperatorRankColumn,
    {{"calls", "Calls", "", FieldType::kInteger, 8, "all calls, also those that allocated nothing"},
     [](const MemoryOpRow& row) {
       return row.key.kind == MemoryOpKey::Kind::kCalls ? CellOf(row.sums.calls) : Cell{};
     }},
    {{"size_increase_bytes", "Increase(B)", "B", FieldType::kInteger, 14,
      "allocated minus freed by its calls and calls inside; a call inside another of the same row "
      "adds nothing"},
     TotalOf<&MemoryChange::increase_bytes>},
    {{"self_size_increase_bytes", "SelfIncrease(B)", "B", FieldType::kInteger, 15,
      "allocated minus freed by its calls themselves", Fold::kSum},
     SelfOf<&MemoryChange::increase_bytes>},
    {{"allocations", "Allocations", "", FieldType::kInteger, 11,
      "allocations by its calls and calls inside"},
     TotalOf<&MemoryChange::allocations>},
    {{"self_allocations", "SelfAlloc", "", FieldType::kInteger, 9,
      "allocations by its calls themselves", Fold::kSum},
     SelfOf<&MemoryChange::allocations>},
    {{"allocated_bytes", "Allocated(B)", "B", FieldType::kInteger, 14,
      "sum of the sizes of allocations"},
     TotalOf<&MemoryChange::allocated_bytes>},
    {{"self_allocated_bytes", "SelfAllocated(B)", "B", FieldType::kInteger, 16,
      "sum of the sizes of self_allocations", Fold::kSum},
     SelfOf<&MemoryChange::allocated_bytes>},
    {{"peak_bytes", "Peak(B)", "B", FieldType::kInteger, 14,
      "allocated by its calls themselves, of the memory live at the peak of the device and source "
      "in the rank"},
     [](const MemoryOpRow& row) {
       return row.sums.peak_known ? CellOf(row.sums.peak_bytes) : Cell{};
     }},
    {{"leaked_bytes", "Leaked(B)", "B", FieldType::kInteger, 13,
      "allocated by its calls themselves in a step, and live after the step's end and at the end "
      "of the recording",
      Fold::kSum},
     [](const MemoryOpRow& row) {
       return row.sums.leaks_known ? CellOf(row.sums.leaked_bytes) : Cell{};
     }},
};

class MemoryOps : public BoundedPartial<MemoryOpKey, MemoryOpSums, MemoryOpRow, MemoryNotes> {
 public:
  explicit MemoryOps(const ViewOptions& options)
      : BoundedPartial("memory-ops", options, kMemoryOpsKeys, kMemoryOpsColumns,
                       ByOrder::kOfWords) {
    for (const size_t place : words_.PlacesIn(kMemoryOpsKeys)) by_.push_back(kKeysOfWords[place]);
  }

  void End(const Run* run) override;
  void Emit(Sink* sink) const override;

 private:
  MemoryOpKey KeyOf(const Run& run, const MemoryLife::Pool& pool, const MemoryOpRun& ops,
                    const MemoryOpRun::Row& row) const;
  void Check(const MemoryOpKey& key, ByteReader* bytes) const override {
    bytes->Check(key.texts.size() == 1 + by_.size() - (By("step") ? 1 : 0),
                 "a row does not have the texts of its keys");
  }

  std::vector<OperatorKey> by_;
};

MemoryOpKey MemoryOps::KeyOf(const Run& run, const MemoryLife::Pool& pool, const MemoryOpRun& ops,
                             const MemoryOpRun::Row& row) const {
  MemoryOpKey key;
  key.device_id = pool.device_id;
  key.source = pool.source;
  key.kind = row.kind;
  const std::vector<std::string_view> texts = ops.TextsOf(row);
  key.texts.emplace_back(texts[0]);
  if (row.kind == MemoryOpRun::Row::Kind::kNoCall) key.texts[0] = kNoCallName;
  if (row.kind == MemoryOpRun::Row::Kind::kTypesWithoutValue) key.texts[0] = kUntoldName;
  size_t next = 1;
  for (const OperatorKey by : by_) {
    if (by == OperatorKey::kStep) continue;
    key.texts.emplace_back(by == OperatorKey::kRank ? run.rank() : texts[next++]);
  }
  if (row.step != Steps::kNone) key.step = run.steps().all()[row.step].number;
  return key;
}

void MemoryOps::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  notes_.Count(run->memory());
  MemoryOpRun ops(*run, by_);
  for (const MemoryLife::Pool& pool : run->memory().pools()) {
    if (!run->SelectsDevice(pool.device_id)) continue;
    ops.Sum(pool, [&](const MemoryOpRun::Row& row, const MemoryOpSums& sums) {
      Take(KeyOf(*run, pool, ops, row), sums);
    });
  }
}

void MemoryOps::Emit(Sink* sink) const {
  std::vector<std::pair<const MemoryOpKey*, const MemoryOpSums*>> rows;
  for (const auto& [key, row] : groups_.index()) rows.emplace_back(&key, &groups_[row]);
  // Stable: ties stay in the order of keys.
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto order = [](const auto& row) {
      const auto& [key, sums] = row;
      // GPUs before the host; then by memory at the peak, leaks and allocations, largest first. ~
      // instead of -, since the smallest number has no opposite.
      return std::tuple(key->device_id < 0, key->device_id, key->source,
                        sums->peak_known ? ~sums->peak_bytes : ~int64_t{0},
                        ~sums->self.increase_bytes, ~sums->self.allocated_bytes);
    };
    return order(a) < order(b);
  });
  TableOf<MemoryOpRow> table(columns_, sink);
  for (const auto& [key, sums] : rows) {
    MemoryOpRow shown = {*key, *sums, MemoryDeviceName(key->device_id), {key->texts[0]}};
    size_t next = 1;
    for (const OperatorKey by : by_) {
      if (by != OperatorKey::kStep) shown.texts[TextPlaceOf(by)] = key->texts[next++];
    }
    table.Add(shown);
  }
}

}  // namespace

extern constexpr View kMemoryOpsView = {
    .name = "memory-ops",
    .help = "how much memory each operator allocated and freed",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kMemoryOpsColumns>,
    .make = MakePartial<MemoryOps>,
    .by = kMemoryOpsKeys,
    .narrow =
        "calls,size_increase_bytes,self_size_increase_bytes,self_allocations,"
        "self_allocated_bytes,peak_bytes",
    .saved_form = 1};

}  // namespace oplens::prof
