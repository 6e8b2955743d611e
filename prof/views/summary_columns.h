#ifndef OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_
#define OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/columns.h"
#include "prof/table/row_kind.h"
#include "prof/views/copy_row.h"
#include "prof/views/group_key.h"
#include "prof/views/group_sums.h"
#include "prof/views/kernel_columns.h"

namespace oplens::prof {

/// What kernels can be grouped by: the words of --by.
inline constexpr std::string_view kGroupKeys[] = {
    "op",    "mod",   "layer", "range",  "kernel",   "name_full", "family", "dir",
    "phase", "shape", "dtype", "stream", "device",   "rank",      "role",   "step",
    "grid",  "block", "regs",  "smem",   "evidence", "confidence"};
inline constexpr size_t kGroupKeyCount = std::size(kGroupKeys);

/// One group as a row shows it.
struct SummaryRow {
  const GroupSums* sums = nullptr;
  std::array<Cell, kGroupKeyCount> keys;  ///< In the order of --by.
  int64_t all_ns = 0;                     ///< Time of the kernels of all groups.
  int64_t steps = 0;                      ///< That its time a step is over; 0: not known.
  RowKind kind = RowKind::kRow;
};

/// What `prof --by` groups by, and the fields that it can print.
struct SummaryPlan {
  Columns<PricedKernel> keys;   ///< Of kernels, or
  Columns<CopyRow> copy_keys;   ///< of copies;
  std::vector<KeyForm> forms;   ///< of each, in their order.
  Columns<SummaryRow> figures;  ///< Behind the keys.
  std::vector<Field> fields;    ///< The keys in their order, then the figures.
  std::string_view rows;        ///< "kernels" or "copies".

  size_t key_count() const { return forms.size(); }
};

/// The plan of a list such as "op,layer:2". Throws UsageError, naming the word and the valid ones,
/// for an unknown or repeated key or an empty list.
SummaryPlan PlanSummary(std::string_view list);
/// The same of `--copies`: the keys are the columns that say what a copy is (Fold::kKey).
SummaryPlan PlanCopySummary(std::string_view list);

/// Every field with figures.
std::vector<Field> FigureFields();
/// The same with --copies.
std::vector<std::string_view> CopyGroupKeys();
std::vector<Field> CopyFigureFields();

/// What a condition may name of a kernel: the columns, and keys that are none.
Columns<PricedKernel> NamedKernelColumns();

/// The figures that are printed with -w unless -c is given: those that fit beside a text.
inline constexpr std::string_view kNarrowFigures =
    "count,total,mean,share,flops,bytes,tflops,gbps,tc";
inline constexpr std::string_view kNarrowCopyFigures = "count,total,mean,share,bytes,gbps";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_
