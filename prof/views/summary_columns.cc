#include "prof/views/summary_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "prof/views/kernel_columns.h"

namespace oplens::prof {
namespace {

using enum ColumnType;

constexpr std::string_view kGroupKeys[kGroupKeyCount] = {
    "op",    "mod",   "layer",  "range",  "kernel", "dir",  "phase",
    "shape", "dtype", "stream", "device", "rank",   "role", "step"};

// Keys that are no column of a kernel.
constexpr Column kKeyColumns[] = {
    {"shape", "Shape", "", kText, Column::kShared, "", "", "shapes of the op's tensors",
     [](const PricedKernel& row) { return Text(row.shapes); }},
    {"dtype", "DType", "", kText, 6, "", "", "data type of the op's first tensor",
     [](const PricedKernel& row) { return Text(row.dtype); }},
    {"step", "Step", "", kInteger, 5, "", "", "number of the training step",
     [](const PricedKernel& row) { return Integer(row.record->step); }},
};

const GroupSums& SumsOf(const PricedKernel& row) { return *row.summary->sums; }

Cell TimeOf(const GroupSums& sums, int64_t ns) { return sums.timed > 0 ? Cell{ns} : Cell{}; }

/// A sum that may have outgrown 64 bits: then as a decimal number.
Cell SumOf(int64_t kernels, Checked sum) {
  if (kernels == 0) return {};
  if (const auto value = sum.Value()) return {*value};
  return Decimal(sum.Approximate());
}

Cell PerStep(const PricedKernel& row) {
  const SummaryRow& summary = *row.summary;
  if (summary.steps == 0 || summary.sums->timed == 0) return {};
  return {static_cast<double>(summary.sums->step_ns) / static_cast<double>(summary.steps)};
}

constexpr Column kFigures[] = {
    {"count", "Count", "", kInteger, 6, "", "", "kernels",
     [](const PricedKernel& row) { return Cell{SumsOf(row).kernels}; }},
    {"total", "Total(ns)", "ns", kInteger, 12, "", "", "time on the GPU",
     [](const PricedKernel& row) { return TimeOf(SumsOf(row), SumsOf(row).total_ns); }},
    {"mean", "Mean(ns)", "ns", kDecimal, 11, "", "", "total over the timed kernels",
     [](const PricedKernel& row) { return Decimal(SumsOf(row).MeanNs()); }},
    {"min", "Min(ns)", "ns", kInteger, 9, "", "", "shortest kernel",
     [](const PricedKernel& row) { return TimeOf(SumsOf(row), SumsOf(row).min_ns); }},
    {"max", "Max(ns)", "ns", kInteger, 9, "", "", "longest kernel",
     [](const PricedKernel& row) { return TimeOf(SumsOf(row), SumsOf(row).max_ns); }},
    {"share", "Share(%)", "%", kDecimal, 8, "", "", "of the time of all kernels",
     [](const PricedKernel& row) {
       return SumsOf(row).timed > 0 ? Decimal(Percent(SumsOf(row).total_ns, row.summary->all_ns))
                                    : Cell{};
     }},
    {"perstep", "PerStep(ns)", "ns", kDecimal, 13, "", "", "time a step, where steps are known",
     PerStep},
    {"flops", "FLOPs", "FLOP", kInteger, 16, "", "",
     "sum over the kernels whose FLOPs are known: a lower bound where these are not all",
     [](const PricedKernel& row) { return SumOf(SumsOf(row).with_flops, SumsOf(row).flops); }},
    {"flops_known", "FLOPs(%)", "%", kDecimal, 8, "", "", "share of the group's time in flops",
     [](const PricedKernel& row) {
       return Decimal(SumsOf(row).PercentOfTotal(SumsOf(row).flops_ns));
     }},
    {"bytes", "Bytes", "B", kInteger, 14, "", "",
     "sum over the kernels whose bytes are known: a lower bound where these are not all",
     [](const PricedKernel& row) { return SumOf(SumsOf(row).with_bytes, SumsOf(row).bytes); }},
    {"bytes_known", "Bytes(%)", "%", kDecimal, 8, "", "", "share of the group's time in bytes",
     [](const PricedKernel& row) {
       return Decimal(SumsOf(row).PercentOfTotal(SumsOf(row).bytes_ns));
     }},
    {"tflops", "TFLOP/s", "TFLOP/s", kDecimal, 7, "", "",
     "flops over the time of the kernels whose FLOPs are known",
     [](const PricedKernel& row) { return Decimal(SumsOf(row).TeraflopsPerSecond()); }},
    {"gbps", "GB/s", "GB/s", kDecimal, 8, "", "",
     "bytes over the time of the kernels whose bytes are known",
     [](const PricedKernel& row) { return Decimal(SumsOf(row).GigabytesPerSecond()); }},
    {"tc", "TC(%)", "%", kDecimal, 7, "", "",
     "time that uses Tensor Cores, of the time of which that is known",
     [](const PricedKernel& row) { return Decimal(SumsOf(row).TensorCorePercent()); }},
    {"tc_known", "TCknown(%)", "%", kDecimal, 10, "", "",
     "share of the group's time of which the use of Tensor Cores is known",
     [](const PricedKernel& row) {
       return Decimal(SumsOf(row).PercentOfTotal(SumsOf(row).tensor_core_known_ns));
     }},
};

using Getter = Cell (*)(const PricedKernel& row);

template <size_t... I>
constexpr std::array<Getter, sizeof...(I)> KeyGetters(std::index_sequence<I...>) {
  return {[](const PricedKernel& row) { return row.summary->keys[I]; }...};
}
constexpr auto kKeyGetters = KeyGetters(std::make_index_sequence<kGroupKeyCount>());

const Column* FindIn(std::span<const Column> columns, std::string_view key) {
  for (const Column& column : columns) {
    if (column.key == key) return &column;
  }
  return nullptr;
}

/// The column of a kernel that a word of --by names; null for none.
const Column* FindKey(std::string_view word) {
  if (std::find(std::begin(kGroupKeys), std::end(kGroupKeys), word) == std::end(kGroupKeys)) {
    return nullptr;
  }
  const Column* column = FindIn(KernelColumns(), word);
  return column != nullptr ? column : FindIn(kKeyColumns, word);
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool IsText(const Column& column) { return column.type != kInteger && column.type != kDecimal; }

void AddKey(std::string_view word, SummaryPlan* plan) {
  const Column* key = FindKey(word);
  if (key == nullptr) {
    throw UsageError(fmt::format("--by: there is no key '{}'; the keys are {}", word,
                                 fmt::join(kGroupKeys, ",")));
  }
  if (std::find(plan->keys.begin(), plan->keys.end(), key) != plan->keys.end()) {
    throw UsageError(fmt::format("--by: '{}' is there twice", word));
  }
  Column column = *key;
  column.get = kKeyGetters[plan->keys.size()];
  // A list is one text here: what groups is the whole.
  if (IsText(column) && column.type != kName) column.type = kText;
  if (column.type == kName || column.width > 9) column.width = Column::kShared;
  plan->keys.push_back(key);
  plan->columns.push_back(column);
}

}  // namespace

std::span<const std::string_view> GroupKeys() { return kGroupKeys; }

std::span<const Column> FigureColumns() { return kFigures; }

SummaryPlan PlanSummary(std::string_view list) {
  SummaryPlan plan;
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    AddKey(Trim(list.substr(0, comma)), &plan);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  plan.columns.insert(plan.columns.end(), std::begin(kFigures), std::end(kFigures));
  return plan;
}

SummaryOrder ParseOrder(std::string_view text, const SummaryPlan& plan) {
  std::string_view key = Trim(text);
  std::optional<bool> ascending;
  if (key.ends_with(":asc")) ascending = true;
  if (key.ends_with(":desc")) ascending = false;
  if (ascending) key = key.substr(0, key.rfind(':'));
  const bool turned = !ascending && key.starts_with('-');
  if (turned) key.remove_prefix(1);
  SummaryOrder order;
  order.column = FindIn(plan.columns, key);
  if (order.column == nullptr) {
    std::string keys;
    for (const Column& column : plan.columns) (keys += keys.empty() ? "" : ",") += column.key;
    throw UsageError(fmt::format("--sort: there is no column '{}'; the columns are {}", key, keys));
  }
  const bool is_key = order.column < plan.columns.data() + plan.keys.size();
  order.ascending = ascending.value_or(is_key != turned);
  return order;
}

bool CellBefore(const Cell& a, const Cell& b) {
  if (a.value.index() != b.value.index()) return a.value.index() < b.value.index();
  if (const auto* integer = std::get_if<int64_t>(&a.value)) {
    return *integer < std::get<int64_t>(b.value);
  }
  if (const auto* decimal = std::get_if<double>(&a.value)) {
    return *decimal < std::get<double>(b.value);
  }
  if (const auto* text = std::get_if<std::string_view>(&a.value)) {
    return *text < std::get<std::string_view>(b.value);
  }
  return false;
}

}  // namespace oplens::prof
