#ifndef OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_
#define OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/checked.h"
#include "base/sums.h"
#include "prof/price/priced_kernel.h"
#include "prof/table/columns.h"
#include "prof/table/row_kind.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/kernels/group_key.h"
#include "prof/views/kernels/kernel_columns.h"

namespace oplens::prof {

/// Sums over the kernels of a group. A kernel that is not timed (Reason::kUntimed, kBadTimes) is
/// counted, but has no part in any time.
struct GroupSums {
  Count kernels;
  Count timed;  ///< Kernels that have a time.
  Sum total_ns;
  Sum min_ns;  ///< 0 where none is timed.
  Max<Sum> max_ns;
  Sum step_ns;  ///< Time of the kernels whose step is known.

  Count with_flops;  ///< Kernels whose FLOPs are known; `flops` sums theirs.
  Count with_bytes;
  Checked flops;
  Checked bytes;
  Sum flops_ns;  ///< Time of these kernels.
  Sum bytes_ns;
  Checked timed_flops;  ///< FLOPs of those of them that have a time, for rates.
  Checked timed_bytes;

  Sum tensor_core_ns;        ///< Time of the kernels that use Tensor Cores.
  Sum tensor_core_known_ns;  ///< Of those that are known to use them or not.
  Sum inferred_ns;           ///< Of those whose op is inferred (IsInferred).

  static constexpr std::tuple kMembers{&GroupSums::kernels,        &GroupSums::timed,
                                       &GroupSums::total_ns,       &GroupSums::min_ns,
                                       &GroupSums::max_ns,         &GroupSums::step_ns,
                                       &GroupSums::with_flops,     &GroupSums::with_bytes,
                                       &GroupSums::flops,          &GroupSums::bytes,
                                       &GroupSums::flops_ns,       &GroupSums::bytes_ns,
                                       &GroupSums::timed_flops,    &GroupSums::timed_bytes,
                                       &GroupSums::tensor_core_ns, &GroupSums::tensor_core_known_ns,
                                       &GroupSums::inferred_ns};

  /// Adds one kernel.
  void Add(const PricedKernel& row);
  /// Adds the kernels of another group.
  void Merge(const GroupSums& other);

  /// 10^12 FLOP a second and 10^9 bytes a second, over the time of the kernels whose FLOPs (bytes)
  /// are known; nullopt without such time, or where the sum overflowed.
  std::optional<double> TeraflopsPerSecond() const;
  std::optional<double> GigabytesPerSecond() const;
  /// Percent of the time that is known to use Tensor Cores or not; nullopt without such time.
  std::optional<double> TensorCorePercent() const;
  /// Percent of `total_ns`; nullopt where that is 0.
  std::optional<double> PercentOfTotal(int64_t part_ns) const;
};

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

#endif  // OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_
