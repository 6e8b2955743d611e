#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "prof/run/run.h"
#include "prof/views/memory_fields.h"
#include "prof/views/memory_notes.h"
#include "prof/views/memory_op_run.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kNoCallName = "(no operator)";
constexpr std::string_view kUntoldName = "(not recorded)";
constexpr std::string_view kMemoryOpsOtherName = "(other)";

constexpr Field kMemoryOpsFields[] = {
    kMemoryDeviceField,
    kMemorySourceField,
    {"op", "Op", "", FieldType::kText, Field::kShared, "operator, by its name as recorded",
     Fold::kKey},
    {"calls", "Calls", "", FieldType::kInteger, 8, "all calls, whatever they took", Fold::kNone},
    {"size_increase_bytes", "Increase(B)", "B", FieldType::kInteger, 14,
     "taken less given back by its calls and calls inside; a call inside another of the same row "
     "adds nothing",
     Fold::kNone},
    {"self_size_increase_bytes", "SelfIncrease(B)", "B", FieldType::kInteger, 15,
     "taken less given back by its calls themselves", Fold::kSum},
    {"allocations", "Allocations", "", FieldType::kInteger, 11,
     "allocations by its calls and calls inside", Fold::kNone},
    {"self_allocations", "SelfAlloc", "", FieldType::kInteger, 9,
     "allocations by its calls themselves", Fold::kSum},
    {"allocated_bytes", "Allocated(B)", "B", FieldType::kInteger, 14,
     "sum of the sizes of allocations", Fold::kNone},
    {"self_allocated_bytes", "SelfAllocated(B)", "B", FieldType::kInteger, 16,
     "sum of the sizes of self_allocations", Fold::kSum},
    {"peak_bytes", "Peak(B)", "B", FieldType::kInteger, 14,
     "what it had taken itself of what was there when most was allocated of the device and source "
     "in the rank",
     Fold::kNone},
    {"leaked_bytes", "Leaked(B)", "B", FieldType::kInteger, 13,
     "what it took itself in a step that was there behind the step's end and at the end of the "
     "recording",
     Fold::kSum},
};

struct MemoryOpsKeyWord {
  std::string_view word;
  OperatorKey key;
};
constexpr MemoryOpsKeyWord kMemoryOpsKeys[] = {{"layer", OperatorKey::kLayer},
                                               {"stack", OperatorKey::kStack},
                                               {"step", OperatorKey::kStep},
                                               {"rank", OperatorKey::kRank}};

std::vector<OperatorKey> MemoryOpsKeysOf(const std::vector<std::string>& by) {
  std::vector<OperatorKey> keys;
  for (const std::string& word : by) {
    const auto* known = std::find_if(std::begin(kMemoryOpsKeys), std::end(kMemoryOpsKeys),
                                     [&](const MemoryOpsKeyWord& one) { return one.word == word; });
    if (known == std::end(kMemoryOpsKeys)) {
      throw UsageError(
          fmt::format("--by {}: the view memory-ops is split by layer, stack, step, rank", word));
    }
    if (std::find(keys.begin(), keys.end(), known->key) == keys.end()) keys.push_back(known->key);
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
  std::vector<Field> Fields() const override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->notes_);
    TransferMap(bytes, &self->rows_, [&](const Key& key, const MemoryOpSums& sums) {
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
  struct Key {
    int32_t device_id = -1;
    MemorySource source = MemorySource::kFramework;
    MemoryOpRun::Row::Kind kind = MemoryOpRun::Row::Kind::kCalls;
    std::vector<std::string> texts;  // The name, then those of by_ but for the step.
    std::optional<int64_t> step;
    friend auto operator<=>(const Key&, const Key&) = default;

    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->device_id);
      bytes->Word(&self->source, kMemorySources);
      bytes->Word(&self->kind, size_t{3});
      bytes->Values(&self->texts, &self->step);
    }
  };

  Key KeyOf(const Run& run, const MemoryLife::Pool& pool, const MemoryOpRun& ops,
            const MemoryOpRun::Row& row) const;
  void AddTo(const Key& key, const MemoryOpSums& sums);
  void EmitRow(const Key& key, const MemoryOpSums& sums, Sink* sink) const;

  std::vector<OperatorKey> by_;
  std::map<Key, MemoryOpSums> rows_;
  MemoryNotes notes_;
};

MemoryOps::Key MemoryOps::KeyOf(const Run& run, const MemoryLife::Pool& pool,
                                const MemoryOpRun& ops, const MemoryOpRun::Row& row) const {
  Key key;
  key.device_id = pool.device_id;
  key.source = pool.source;
  key.kind = row.kind;
  const std::vector<std::string_view> texts = ops.TextsOf(row);
  key.texts.emplace_back(texts[0]);
  if (row.kind == MemoryOpRun::Row::Kind::kNoCall) key.texts[0] = kNoCallName;
  if (row.kind == MemoryOpRun::Row::Kind::kUntold) key.texts[0] = kUntoldName;
  size_t next = 1;
  for (const OperatorKey by : by_) {
    if (by == OperatorKey::kStep) continue;
    key.texts.emplace_back(by == OperatorKey::kRank ? run.rank() : texts[next++]);
  }
  if (row.step != Steps::kNone) key.step = run.steps().all()[row.step].number;
  return key;
}

void MemoryOps::AddTo(const Key& key, const MemoryOpSums& sums) {
  const auto at = rows_.find(key);
  if (at != rows_.end()) {
    at->second.Add(sums);
  } else if (rows_.size() < kMaxRows) {
    rows_.emplace(key, sums);
  } else {
    Key other;
    other.device_id = key.device_id;
    other.source = key.source;
    other.texts.assign(key.texts.size(), "");
    other.texts[0] = kMemoryOpsOtherName;
    rows_[other].Add(sums);
  }
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

std::vector<Field> MemoryOps::Fields() const {
  std::vector<Field> fields(std::begin(kMemoryOpsFields), std::end(kMemoryOpsFields));
  constexpr size_t kOwnKeys = 3;
  std::vector<Field> keys;
  for (const OperatorKey key : by_) keys.push_back(FieldOf(key));
  fields.insert(fields.begin() + kOwnKeys, keys.begin(), keys.end());
  return fields;
}

void MemoryOps::Emit(Sink* sink) const {
  std::vector<const std::pair<const Key, MemoryOpSums>*> rows;
  for (const auto& row : rows_) rows.push_back(&row);
  // Rows are by key: equal ones stay in that order.
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    const auto order = [](const auto* row) {
      const Key& key = row->first;
      const MemoryOpSums& sums = row->second;
      // GPUs before the host; then whose memory it was at the peak, who kept some, who took most.
      // Largest first: the smallest number has no opposite.
      return std::tuple(key.device_id < 0, key.device_id, key.source,
                        sums.peak_known ? ~sums.peak_bytes : ~int64_t{0}, ~sums.self.increase_bytes,
                        ~sums.self.allocated_bytes);
    };
    return order(a) < order(b);
  });
  for (const auto* row : rows) EmitRow(row->first, row->second, sink);
}

void MemoryOps::EmitRow(const Key& key, const MemoryOpSums& sums, Sink* sink) const {
  const std::string device = MemoryDeviceName(key.device_id);
  std::vector<Cell> cells = {Text(device), Text(MemorySourceWord(key.source)), Text(key.texts[0])};
  size_t next = 1;
  for (const OperatorKey by : by_) {
    cells.push_back(by == OperatorKey::kStep ? Integer(key.step) : Text(key.texts[next++]));
  }
  using Kind = MemoryOpRun::Row::Kind;
  const bool untold = key.kind == Kind::kUntold;
  const auto of_recording = [&](int64_t value) { return untold ? Cell{} : Integer(value); };
  cells.push_back(key.kind == Kind::kCalls ? Integer(sums.calls) : Cell{});
  cells.push_back(of_recording(sums.total.increase_bytes));
  cells.push_back(of_recording(sums.self.increase_bytes));
  cells.push_back(of_recording(sums.total.allocations));
  cells.push_back(of_recording(sums.self.allocations));
  cells.push_back(of_recording(sums.total.allocated_bytes));
  cells.push_back(of_recording(sums.self.allocated_bytes));
  cells.push_back(sums.peak_known ? Integer(sums.peak_bytes) : Cell{});
  cells.push_back(sums.leaks_known ? Integer(sums.leaked_bytes) : Cell{});
  sink->Row(cells);
}

constexpr std::string_view kMemoryOpsWords[] = {"layer", "stack", "step", "rank"};

}  // namespace

constexpr View kMemoryOpsView = {
    .name = "memory-ops",
    .help = "what each operator took of memory and gave back",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kMemoryOpsFields>,
    .make = MakePartial<MemoryOps>,
    .by = kMemoryOpsWords,
    .narrow =
        "calls,size_increase_bytes,self_size_increase_bytes,self_allocations,"
        "self_allocated_bytes,peak_bytes",
    .saved_form = 1};

}  // namespace oplens::prof
