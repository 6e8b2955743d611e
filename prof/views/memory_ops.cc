#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "prof/run/run.h"
#include "prof/views/grouped_partial.h"
#include "prof/views/memory_notes.h"
#include "prof/views/memory_op_run.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kNoCallName = "(no operator)";
constexpr std::string_view kUntoldName = "(not recorded)";
constexpr std::string_view kMemoryOpsOtherName = "(other)";

using RowKind = MemoryOpRun::Row::Kind;

struct MemoryOpsKey {
  int32_t device_id = -1;
  MemorySource source = MemorySource::kFramework;
  RowKind kind = RowKind::kCalls;
  std::vector<std::string> texts;  ///< The name, then those of --by but for the step.
  std::optional<int64_t> step;

  static constexpr std::tuple kMembers{&MemoryOpsKey::device_id, &MemoryOpsKey::source,
                                       &MemoryOpsKey::kind, &MemoryOpsKey::texts,
                                       &MemoryOpsKey::step};
  friend auto operator<=>(const MemoryOpsKey&, const MemoryOpsKey&) = default;
};

struct MemoryOpsRow {
  const MemoryOpsKey& key;
  const MemoryOpSums& sums;
  std::string_view device;
  std::vector<Cell> by;  ///< Of the words of --by.
};

/// Of what the recording holds.
template <auto change, auto part>
Cell ChangeOf(const MemoryOpsRow& row) {
  return row.key.kind == RowKind::kUntold ? Cell{} : CellOf(row.sums.*change.*part);
}

template <size_t place>
Cell MemoryOpsByCell(const MemoryOpsRow& row) {
  return row.by[place];
}

constexpr Column<MemoryOpsRow> kMemoryOpsColumns[] = {
    {kMemoryDeviceField, [](const MemoryOpsRow& row) { return Text(row.device); }},
    {kMemorySourceField,
     [](const MemoryOpsRow& row) { return Text(MemorySourceWord(row.key.source)); }},
    {{"op", "Op", "", FieldType::kText, Field::kShared, "operator, by its name as recorded",
      Fold::kKey},
     [](const MemoryOpsRow& row) { return Text(row.key.texts[0]); }},
    {{"calls", "Calls", "", FieldType::kInteger, 8, "all calls, whatever they took"},
     [](const MemoryOpsRow& row) {
       return row.key.kind == RowKind::kCalls ? CellOf(row.sums.calls) : Cell{};
     }},
    {{"size_increase_bytes", "Increase(B)", "B", FieldType::kInteger, 14,
      "taken less given back by its calls and calls inside; a call inside another of the same row "
      "adds nothing"},
     ChangeOf<&MemoryOpSums::total, &MemoryChange::increase_bytes>},
    {{"self_size_increase_bytes", "SelfIncrease(B)", "B", FieldType::kInteger, 15,
      "taken less given back by its calls themselves", Fold::kSum},
     ChangeOf<&MemoryOpSums::self, &MemoryChange::increase_bytes>},
    {{"allocations", "Allocations", "", FieldType::kInteger, 11,
      "allocations by its calls and calls inside"},
     ChangeOf<&MemoryOpSums::total, &MemoryChange::allocations>},
    {{"self_allocations", "SelfAlloc", "", FieldType::kInteger, 9,
      "allocations by its calls themselves", Fold::kSum},
     ChangeOf<&MemoryOpSums::self, &MemoryChange::allocations>},
    {{"allocated_bytes", "Allocated(B)", "B", FieldType::kInteger, 14,
      "sum of the sizes of allocations"},
     ChangeOf<&MemoryOpSums::total, &MemoryChange::allocated_bytes>},
    {{"self_allocated_bytes", "SelfAllocated(B)", "B", FieldType::kInteger, 16,
      "sum of the sizes of self_allocations", Fold::kSum},
     ChangeOf<&MemoryOpSums::self, &MemoryChange::allocated_bytes>},
    {{"peak_bytes", "Peak(B)", "B", FieldType::kInteger, 14,
      "what it had taken itself of what was there when most was allocated of the device and source "
      "in the rank"},
     [](const MemoryOpsRow& row) {
       return row.sums.peak_known ? CellOf(row.sums.peak_bytes) : Cell{};
     }},
    {{"leaked_bytes", "Leaked(B)", "B", FieldType::kInteger, 13,
      "what it took itself in a step that was there behind the step's end and at the end of the "
      "recording",
      Fold::kSum},
     [](const MemoryOpsRow& row) {
       return row.sums.leaks_known ? CellOf(row.sums.leaked_bytes) : Cell{};
     }},
};

constexpr std::string_view kMemoryOpsWords[] = {"layer", "stack", "step", "rank"};
constexpr OperatorKey kMemoryOpsKeys[] = {OperatorKey::kLayer, OperatorKey::kStack,
                                          OperatorKey::kStep, OperatorKey::kRank};

std::vector<OperatorKey> MemoryOpsKeysOf(const std::vector<std::string>& by) {
  std::vector<OperatorKey> keys;
  for (const std::string& word : by) {
    const auto known = std::find(std::begin(kMemoryOpsWords), std::end(kMemoryOpsWords), word);
    if (known == std::end(kMemoryOpsWords)) {
      throw UsageError(
          fmt::format("--by {}: the view memory-ops is split by layer, stack, step, rank", word));
    }
    const OperatorKey key = kMemoryOpsKeys[known - std::begin(kMemoryOpsWords)];
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

class MemoryOps : public SavedPartial<MemoryOps> {
 public:
  explicit MemoryOps(const ViewOptions& options)
      : by_(MemoryOpsKeysOf(options.by)), notes_("memory-ops") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return FieldsOf(std::span<const Column<MemoryOpsRow>>(ColumnsBy()));
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->notes_);
    TransferMap(bytes, &self->rows_, [&](const MemoryOpsKey& key, const MemoryOpSums& sums) {
      if constexpr (Bytes::kReads) {
        const bool by_step =
            std::find(self->by_.begin(), self->by_.end(), OperatorKey::kStep) != self->by_.end();
        bytes->Check(key.texts.size() == 1 + self->by_.size() - (by_step ? 1 : 0),
                     "a row has not the texts of its keys");
        self->AddTo(key, sums);
      }
    });
  }

 private:
  // Rows that come once there are so many count in one more of their device.
  static constexpr size_t kMaxRows = size_t{1} << 20;
  MemoryOpsKey KeyOf(const Run& run, const MemoryLife::Pool& pool, const MemoryOpRun& ops,
                     const MemoryOpRun::Row& row) const;
  void AddTo(const MemoryOpsKey& key, const MemoryOpSums& sums);
  std::vector<Column<MemoryOpsRow>> ColumnsBy() const;

  std::vector<OperatorKey> by_;
  std::map<MemoryOpsKey, MemoryOpSums> rows_;
  MemoryNotes notes_;
};

MemoryOpsKey MemoryOps::KeyOf(const Run& run, const MemoryLife::Pool& pool, const MemoryOpRun& ops,
                              const MemoryOpRun::Row& row) const {
  MemoryOpsKey key;
  key.device_id = pool.device_id;
  key.source = pool.source;
  key.kind = row.kind;
  const std::vector<std::string_view> texts = ops.TextsOf(row);
  key.texts.emplace_back(texts[0]);
  if (row.kind == RowKind::kNoCall) key.texts[0] = kNoCallName;
  if (row.kind == RowKind::kUntold) key.texts[0] = kUntoldName;
  size_t next = 1;
  for (const OperatorKey by : by_) {
    if (by == OperatorKey::kStep) continue;
    key.texts.emplace_back(by == OperatorKey::kRank ? run.rank() : texts[next++]);
  }
  if (row.step != Steps::kNone) key.step = run.steps().all()[row.step].number;
  return key;
}

void MemoryOps::AddTo(const MemoryOpsKey& key, const MemoryOpSums& sums) {
  if (rows_.size() < kMaxRows || rows_.contains(key)) return MergeInto(&rows_[key], sums);
  MemoryOpsKey other;
  other.device_id = key.device_id;
  other.source = key.source;
  other.texts.assign(key.texts.size(), "");
  other.texts[0] = kMemoryOpsOtherName;
  MergeInto(&rows_[other], sums);
}

void MemoryOps::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  notes_.Count(run->memory());
  MemoryOpRun ops(*run, by_);
  for (const MemoryLife::Pool& pool : run->memory().pools()) {
    if (!run->SelectsDevice(pool.device_id)) continue;
    ops.Sum(pool, [&](const MemoryOpRun::Row& row, const MemoryOpSums& sums) {
      AddTo(KeyOf(*run, pool, ops, row), sums);
    });
  }
}

void MemoryOps::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const MemoryOps&>(other);
  for (const auto& [key, sums] : more.rows_) AddTo(key, sums);
  notes_.Merge(more.notes_);
}

std::vector<Column<MemoryOpsRow>> MemoryOps::ColumnsBy() const {
  constexpr decltype(&MemoryOpsByCell<0>) kCells[] = {MemoryOpsByCell<0>, MemoryOpsByCell<1>,
                                                      MemoryOpsByCell<2>, MemoryOpsByCell<3>};
  constexpr std::ptrdiff_t kOwnKeys = 3;
  std::vector<Column<MemoryOpsRow>> columns(std::begin(kMemoryOpsColumns),
                                            std::end(kMemoryOpsColumns));
  auto at = columns.begin() + kOwnKeys;
  for (size_t i = 0; i < by_.size(); ++i) at = columns.insert(at, {FieldOf(by_[i]), kCells[i]}) + 1;
  return columns;
}

void MemoryOps::Emit(Sink* sink) const {
  std::vector<const std::pair<const MemoryOpsKey, MemoryOpSums>*> rows;
  for (const auto& row : rows_) rows.push_back(&row);
  // Rows are by key: equal ones stay in that order.
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    const auto order = [](const auto* row) {
      const MemoryOpsKey& key = row->first;
      const MemoryOpSums& sums = row->second;
      // GPUs before the host; then whose memory it was at the peak, who kept some, who took most.
      // Largest first: the smallest number has no opposite.
      return std::tuple(key.device_id < 0, key.device_id, key.source,
                        sums.peak_known ? ~sums.peak_bytes : ~int64_t{0}, ~sums.self.increase_bytes,
                        ~sums.self.allocated_bytes);
    };
    return order(a) < order(b);
  });
  const std::vector<Column<MemoryOpsRow>> columns = ColumnsBy();
  TableOf<MemoryOpsRow> table(std::span<const Column<MemoryOpsRow>>(columns), sink);
  for (const auto* row : rows) {
    const auto& [key, sums] = *row;
    const std::string device = MemoryDeviceName(key.device_id);
    MemoryOpsRow shown = {key, sums, device, {}};
    size_t next = 1;
    for (const OperatorKey by : by_) {
      shown.by.push_back(by == OperatorKey::kStep ? Integer(key.step) : Text(key.texts[next++]));
    }
    table.Add(shown);
  }
}

}  // namespace

constexpr View kMemoryOpsView = {
    .name = "memory-ops",
    .help = "what each operator took of memory and gave back",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kMemoryOpsColumns>,
    .make = MakePartial<MemoryOps>,
    .by = kMemoryOpsWords,
    .narrow =
        "calls,size_increase_bytes,self_size_increase_bytes,self_allocations,"
        "self_allocated_bytes,peak_bytes",
    .saved_form = 1};

}  // namespace oplens::prof
