#include "prof/views/kernels/summary_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/near_words.h"
#include "base/ratio.h"
#include "base/saturating.h"
#include "base/words.h"
#include "parse/model/kernel_record.h"
#include "prof/price/figures.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::prof {
namespace {

using enum FieldType;

Cell SharedMemory(const KernelRecord& record) {
  if (record.shared_memory_bytes) return {*record.shared_memory_bytes};
  if (!record.static_shared_memory_bytes || !record.dynamic_shared_memory_bytes) return {};
  return Integer(
      SaturatingSum(*record.static_shared_memory_bytes, *record.dynamic_shared_memory_bytes));
}

// Keys that are no column of a kernel.
constexpr KernelColumn kKeyColumns[] = {
    {{"regs", "Regs", "", kInteger, 5, "registers per thread"},
     [](const PricedKernel& row) { return Integer(row.record->registers_per_thread); }},
    {{"smem", "Smem", "B", kInteger, 7, "shared memory per block, static and dynamic"},
     [](const PricedKernel& row) { return SharedMemory(*row.record); }},
};

template <auto member>
Cell GroupTimeOf(const SummaryRow& row) {
  return row.sums->timed > 0 ? CellOf(row.sums->*member) : Cell{};
}

/// A sum; a decimal number if it exceeds 64 bits.
template <auto kernels, auto sum>
Cell KnownSumOf(const SummaryRow& row) {
  if (row.sums->*kernels == 0) return {};
  if (const auto value = (row.sums->*sum).Value()) return {*value};
  return Decimal((row.sums->*sum).Approximate());
}

template <auto time_ns>
Cell GroupShareOf(const SummaryRow& row) {
  return Decimal(row.sums->PercentOfTotal(row.sums->*time_ns));
}

/// `sum` / `time_ns` x `times`; nullopt without time or on overflow.
std::optional<double> GroupRate(Checked sum, int64_t time_ns, double times) {
  const auto whole = sum.Approximate();
  const auto rate = whole ? Ratio(*whole, static_cast<double>(time_ns)) : std::nullopt;
  return rate ? std::optional<double>(*rate * times) : std::nullopt;
}

Cell PerStep(const SummaryRow& row) {
  if (row.steps == 0 || row.sums->timed == 0) return {};
  return {static_cast<double>(row.sums->step_ns) / static_cast<double>(row.steps)};
}

constexpr Column<SummaryRow> kFigures[] = {
    {{"count", "Count", "", kInteger, 6, "kernels", Fold::kSum},
     [](const SummaryRow& row) { return CellOf(row.sums->kernels); }},
    {{"total", "Total(ns)", "ns", kInteger, 12, "time on the GPU", Fold::kSum},
     GroupTimeOf<&GroupSums::total_ns>},
    {{"mean", "Mean(ns)", "ns", kDecimal, 11, "total / number of timed kernels", Fold::kMean},
     [](const SummaryRow& row) {
       return Decimal(Ratio(int64_t{row.sums->total_ns}, int64_t{row.sums->timed}));
     }},
    {{"min", "Min(ns)", "ns", kInteger, 9, "shortest kernel", Fold::kMin},
     GroupTimeOf<&GroupSums::min_ns>},
    {{"max", "Max(ns)", "ns", kInteger, 9, "longest kernel", Fold::kMax},
     GroupTimeOf<&GroupSums::max_ns>},
    {{"share", "Share(%)", "%", kDecimal, 8, "share of the time of all kernels"},
     [](const SummaryRow& row) {
       return row.sums->timed > 0 ? Decimal(Percent<int64_t>(row.sums->total_ns, row.all_ns))
                                  : Cell{};
     }},
    // Not a sum when rows by step are folded: each row has its own step.
    {{"perstep", "PerStep(ns)", "ns", kDecimal, 13, "time per step, where steps are known"},
     PerStep},
    {{"flops", "FLOPs", "FLOP", kInteger, 16,
      "sum over the kernels whose FLOPs are known: a lower bound if not all are", Fold::kSum},
     KnownSumOf<&GroupSums::with_flops, &GroupSums::flops>},
    {{"flops_known", "FLOPs(%)", "%", kDecimal, 8, "share of the group's time that flops covers"},
     GroupShareOf<&GroupSums::flops_ns>},
    {{"bytes", "Bytes", "B", kInteger, 14,
      "sum over the kernels whose bytes are known: a lower bound if not all are", Fold::kSum},
     KnownSumOf<&GroupSums::with_bytes, &GroupSums::bytes>},
    {{"bytes_known", "Bytes(%)", "%", kDecimal, 8, "share of the group's time that bytes covers"},
     GroupShareOf<&GroupSums::bytes_ns>},
    {{"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 7,
      "FLOPs / time of the kernels whose FLOPs are known; measured ones where there are "
      "(--counters)"},
     [](const SummaryRow& row) { return Decimal(row.sums->TeraflopsPerSecond()); }},
    {{"gbps", "GB/s", "GB/s", kDecimal, 8,
      "bytes / time of the kernels whose bytes are known; measured ones where there are "
      "(--counters)"},
     [](const SummaryRow& row) { return Decimal(row.sums->GigabytesPerSecond()); }},
    {{"tc", "TC(%)", "%", kDecimal, 7,
      "time that uses Tensor Cores, as a share of the time for which that is known"},
     [](const SummaryRow& row) { return Decimal(row.sums->TensorCorePercent()); }},
    {{"tc_known", "TCknown(%)", "%", kDecimal, 10,
      "share of the group's time for which the use of Tensor Cores is known"},
     GroupShareOf<&GroupSums::tensor_core_known_ns>},
    {OnRequest({"inferred_pct", "Inferred(%)", "%", kDecimal, 11,
                "share of the group's time whose op is inferred, not recorded"}),
     GroupShareOf<&GroupSums::inferred_ns>},
    {kRowKindField, [](const SummaryRow& row) { return Text(RowKindWord(row.kind)); }},
};

// Figures of copies.
constexpr std::string_view kCopyFigures = "count,total,mean,min,max,share,bytes,gbps,row_kind";

/// The column of a kernel that a key names; null for none.
const KernelColumn* FindKey(std::string_view key) {
  if (std::find(std::begin(kGroupKeys), std::end(kGroupKeys), key) == std::end(kGroupKeys)) {
    return nullptr;
  }
  for (const KernelColumn* column : NamedKernelColumns()) {
    if (column->key == key) return column;
  }
  return nullptr;
}

/// Likewise of a copy.
const Column<CopyRow>* FindCopyKey(std::string_view key) {
  for (const Column<CopyRow>& column : CopyColumns()) {
    if (column.key == key && column.fold == Fold::kKey) return &column;
  }
  return nullptr;
}

bool IsSummaryColumnsText(const Field& field) {
  return field.type != kInteger && field.type != kDecimal;
}

/// A column name for a key: its own, or numbered if taken.
std::string_view FreeName(std::string_view name, const std::vector<Field>& fields) {
  const auto taken = [&](std::string_view key) {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  };
  std::string_view free = name;
  for (size_t n = 2; taken(free); ++n) free = NumberedKey(name, n);
  return free;
}

void AddField(const Field& key, const GroupWord& word, SummaryPlan* plan) {
  word.RefuseIfNot(key);
  Field field = key;
  field.fold = Fold::kKey;
  if (!word.name.empty()) field.header = "Label";
  // Not the key of the word, whose text may not outlive the plan.
  field.key = FreeName(word.name.empty() ? key.key : word.name, plan->fields);
  // A list is one text here: rows are grouped by all of it.
  if (IsSummaryColumnsText(field) && field.type != kName) field.type = kText;
  if (field.type == kName || field.width > 9) field.width = Field::kShared;
  plan->fields.push_back(field);
  plan->forms.push_back(word.form);
}

/// Adds the keys of a list; `find` finds a key's column, `keys` are the valid keys.
template <typename Find, typename Keys, typename Item>
void AddKeys(std::string_view list, Find find, const Keys& keys, Columns<Item>* columns,
             SummaryPlan* plan) {
  std::vector<std::string_view> seen;
  for (const std::string_view word : WordsOf(list)) {
    const GroupWord read = GroupWord::Read(word);
    const Column<Item>* key = find(read.key);
    if (key == nullptr) {
      throw UsageError(fmt::format("--by: {}", NoSuchName("key", read.key, keys, "the keys are")));
    }
    if (std::find(seen.begin(), seen.end(), word) != seen.end()) {
      throw UsageError(fmt::format("--by: '{}' is there twice", word));
    }
    if (seen.size() == kGroupKeyCount) {
      throw UsageError(fmt::format("--by: there are more than {} keys", kGroupKeyCount));
    }
    seen.push_back(word);
    columns->push_back(key);
    AddField(*key, read, plan);
  }
}

void AddFigures(std::string_view list, SummaryPlan* plan) {
  plan->figures = SelectColumns(list, std::span<const Column<SummaryRow>>(kFigures));
  for (const Field& field : FieldsOf(plan->figures)) plan->fields.push_back(field);
}

}  // namespace

void GroupSums::Add(const PricedKernel& row) {
  ++kernels;
  const KernelRecord& record = *row.record;
  const ops::KernelShare& share = row.share;
  if (share.flops) {
    ++with_flops;
    flops += *share.flops;
  }
  if (share.bytes) {
    ++with_bytes;
    bytes += *share.bytes;
  }
  if (!record.timed()) return;
  const int64_t duration = record.duration_ns;
  min_ns = timed == 0 ? duration : std::min<int64_t>(min_ns, duration);
  max_ns.Add(duration);
  ++timed;
  total_ns += duration;
  if (record.step) step_ns += duration;
  if (share.flops) flops_ns += duration;
  if (share.bytes) bytes_ns += duration;
  const RatedWork work = RatedWorkOf(row);
  // A kernel beside others of its op, which do the op's FLOPs.
  const bool does_none = row.sizes_by_launch && work.flops == 0;
  if (work.flops && !does_none) {
    rated_flops_ns += duration;
    rated_flops += *work.flops;
  }
  if (work.bytes) {
    rated_bytes_ns += duration;
    rated_bytes += *work.bytes;
  }
  if (HasInferredOp(row)) inferred_ns += duration;
  const ops::TensorCoreUse use = TensorCoreUseOf(row);
  if (use == ops::TensorCoreUse::kUnknown) return;
  tensor_core_known_ns += duration;
  if (use == ops::TensorCoreUse::kYes) tensor_core_ns += duration;
}

void GroupSums::Merge(const GroupSums& other) {
  int64_t least_ns = min_ns;
  if (other.timed > 0) {
    least_ns = timed == 0 ? int64_t{other.min_ns} : std::min<int64_t>(min_ns, other.min_ns);
  }
  MergeMembers(this, other);
  min_ns = least_ns;
}

std::optional<double> GroupSums::TeraflopsPerSecond() const {
  return GroupRate(rated_flops, rated_flops_ns, 1e-3);  // 1 FLOP/ns is 10^-3 TFLOP/s.
}

std::optional<double> GroupSums::GigabytesPerSecond() const {
  return GroupRate(rated_bytes, rated_bytes_ns, 1);  // 1 B/ns is 1 GB/s.
}

std::optional<double> GroupSums::TensorCorePercent() const {
  return Percent<int64_t>(tensor_core_ns, tensor_core_known_ns);
}

std::optional<double> GroupSums::PercentOfTotal(int64_t part_ns) const {
  return Percent<int64_t>(part_ns, total_ns);
}

std::vector<Field> FigureFields() {
  return FieldsOf(std::span<const Column<SummaryRow>>(kFigures));
}

std::vector<std::string_view> CopyGroupKeys() {
  std::vector<std::string_view> keys;
  for (const Column<CopyRow>& column : CopyColumns()) {
    if (column.fold == Fold::kKey) keys.push_back(column.key);
  }
  return keys;
}

std::vector<Field> CopyFigureFields() {
  return FieldsOf(SelectColumns(kCopyFigures, std::span<const Column<SummaryRow>>(kFigures)));
}

Columns<PricedKernel> NamedKernelColumns() {
  Columns<PricedKernel> columns;
  for (const KernelColumn& column : KernelColumns()) columns.push_back(&column);
  for (const KernelColumn& column : kKeyColumns) columns.push_back(&column);
  return columns;
}

SummaryPlan PlanSummary(std::string_view list) {
  SummaryPlan plan;
  plan.rows = "kernels";
  AddKeys(list, FindKey, kGroupKeys, &plan.keys, &plan);
  AddFigures("all,inferred_pct,row_kind", &plan);
  return plan;
}

SummaryPlan PlanCopySummary(std::string_view list) {
  SummaryPlan plan;
  plan.rows = "copies";
  AddKeys(list, FindCopyKey, CopyGroupKeys(), &plan.copy_keys, &plan);
  AddFigures(kCopyFigures, &plan);
  return plan;
}

}  // namespace oplens::prof
