#ifndef OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_
#define OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/columns.h"
#include "prof/views/group_sums.h"

namespace oplens::prof {

/// What kernels can be grouped by, each at most once.
inline constexpr size_t kGroupKeyCount = 14;

/// One group as the writers see it.
struct SummaryRow {
  const GroupSums* sums = nullptr;
  std::array<Cell, kGroupKeyCount> keys;  ///< In the order of --by.
  int64_t all_ns = 0;                     ///< Time of the kernels of all groups.
  int64_t steps = 0;                      ///< That its time a step is over; 0: not known.
};

/// What `prof --by` groups by, and the columns that it can print.
struct SummaryPlan {
  std::vector<const Column*> keys;  ///< Their getters take a kernel's row.
  /// The keys in their order, then the figures. Their getters take a row with a summary.
  std::vector<Column> columns;
};

/// The plan of a list such as "op,dir". Throws UsageError, naming the word and the valid ones, for
/// an unknown or repeated key or an empty list.
SummaryPlan PlanSummary(std::string_view list);

/// The keys of --by, and every column with figures, for -h.
std::span<const std::string_view> GroupKeys();
std::span<const Column> FigureColumns();

/// The figures that are printed with -w unless -c is given: those that fit beside a text.
inline constexpr std::string_view kNarrowFigures =
    "count,total,mean,share,flops,bytes,tflops,gbps,tc";

/// In which order groups are printed.
struct SummaryOrder {
  const Column* column = nullptr;  ///< Of the plan.
  bool ascending = false;
};

/// Reads "COL", "-COL", "COL:asc" or "COL:desc". Figures come largest first, keys smallest first or
/// from A to Z; '-' turns that round. Throws UsageError.
SummaryOrder ParseOrder(std::string_view text, const SummaryPlan& plan);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SUMMARY_COLUMNS_H_
