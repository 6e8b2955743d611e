#ifndef OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_
#define OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
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

/// Sums over the kernels of a group. An untimed kernel (Reason::kUntimed, kBadTimes) counts as a
/// kernel, but in no time.
struct GroupSums {
  Count kernels;
  Count timed;  ///< Kernels that have a time.
  Sum total_ns;
  Sum min_ns;  ///< 0 if none is timed.
  Max<Sum> max_ns;
  Sum step_ns;  ///< Time of kernels of known step.

  Count with_flops;  ///< Kernels of known FLOPs, summed in `flops`.
  Count with_bytes;
  Checked flops;
  Checked bytes;
  Sum flops_ns;  ///< Time of kernels of known FLOPs.
  Sum bytes_ns;
  // For rates: of timed kernels, measured where the hardware counted them (RatedWorkOf).
  Checked rated_flops;
  Checked rated_bytes;
  Sum rated_flops_ns;
  Sum rated_bytes_ns;

  Sum tensor_core_ns;        ///< Time of kernels that use Tensor Cores.
  Sum tensor_core_known_ns;  ///< Time of kernels for which that is known.
  Sum inferred_ns;           ///< Time of kernels whose op is inferred (IsInferred).

  void Add(const PricedKernel& row);
  void Merge(const GroupSums& other);

  /// 10^12 FLOP/s and 10^9 bytes/s, over the time of kernels whose FLOPs (bytes) are known; nullopt
  /// without such time or on overflow.
  std::optional<double> TeraflopsPerSecond() const;
  std::optional<double> GigabytesPerSecond() const;
  /// Percent of the time for which the use of Tensor Cores is known; nullopt without such time.
  std::optional<double> TensorCorePercent() const;
  /// Percent of `total_ns`; nullopt if that is 0.
  std::optional<double> PercentOfTotal(int64_t part_ns) const;
};

/// What kernels can be grouped by: the words of --by.
inline constexpr std::string_view kGroupKeys[] = {
    "op",     "mod",      "layer",  "range",  "kernel", "variant",     "name_full",  "family",
    "dir",    "phase",    "shape",  "dtype",  "stream", "device",      "rank",       "role",
    "step",   "grid",     "block",  "regs",   "smem",   "evidence",    "confidence", "params",
    "m",      "n",        "k",      "batch",  "layout", "conv_n",      "conv_c",     "conv_h",
    "conv_w", "conv_k",   "conv_r", "conv_s", "conv_g", "conv_stride", "heads",      "sq",
    "sk",     "head_dim", "causal"};
inline constexpr size_t kGroupKeyCount = std::size(kGroupKeys);

struct SummaryRow {
  const GroupSums* sums = nullptr;
  std::array<Cell, kGroupKeyCount> keys;  ///< In the order of --by.
  int64_t all_ns = 0;                     ///< Time of the kernels of all groups.
  int64_t steps = 0;  ///< Number of steps that its time per step covers; 0: unknown.
  RowKind kind = RowKind::kRow;
};

/// What `prof --by` groups by, and the fields that it can print.
struct SummaryPlan {
  Columns<PricedKernel> keys;   ///< Of kernels, or
  Columns<CopyRow> copy_keys;   ///< of copies;
  std::vector<KeyForm> forms;   ///< of each key, in order.
  Columns<SummaryRow> figures;  ///< After the keys.
  std::vector<Field> fields;    ///< The keys, then the figures.
  std::string_view rows;        ///< "kernels" or "copies".

  size_t key_count() const { return forms.size(); }
};

/// The plan of a list such as "op,layer:2". Throws UsageError, naming the word and the valid ones,
/// for an unknown or repeated key or an empty list.
SummaryPlan PlanSummary(std::string_view list);
/// As PlanSummary, for `--copies`: keys are the columns that say what a copy is (Fold::kKey).
SummaryPlan PlanCopySummary(std::string_view list);

std::vector<Field> FigureFields();
/// As kGroupKeys and FigureFields, for --copies.
std::vector<std::string_view> CopyGroupKeys();
std::vector<Field> CopyFigureFields();

/// What a condition may name of a kernel: the columns, and keys that are not columns.
Columns<PricedKernel> NamedKernelColumns();

/// Figures printed with -w if -c is not given: they fit beside a text.
inline constexpr std::string_view kNarrowFigures =
    "count,total,mean,share,flops,bytes,tflops,gbps,tc";
inline constexpr std::string_view kNarrowCopyFigures = "count,total,mean,share,bytes,gbps";

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_SUMMARY_COLUMNS_H_
