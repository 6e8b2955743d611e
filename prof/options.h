#ifndef OPLENS_PROF_OPTIONS_H_
#define OPLENS_PROF_OPTIONS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/compat/compat.h"
#include "prof/diff/compare.h"
#include "prof/diff/print_diff.h"
#include "prof/gate/gate.h"
#include "prof/input_options.h"
#include "prof/price/nested_calls.h"
#include "prof/range_patterns.h"
#include "prof/rank_options.h"
#include "prof/table/formats.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// Values of --fail-if, --require-comparable and --junit.
struct GateOptions {
  Gate gate;
  std::string junit;  ///< File of the report; "": none.
};

enum class Task : uint8_t {
  kMessage,   ///< Options::message only.
  kRows,      ///< Kernels, copies, or groups of these: the views of PlanRows.
  kCheck,     ///< Number of kernels that have each column.
  kTimeline,  ///< A Chrome trace of the profiles.
  kViews,
  kDiff,           ///< Two runs compared.
  kBaseline,       ///< Options::baseline: a file of all results.
  kRankSummaries,  ///< Options::rank_summary: a file of results per input.
};

struct Options : InputOptions {
  Task task = Task::kRows;
  std::string message;  ///< For -h, --version and --view list.

  const Format* format = nullptr;
  std::string format_value;    ///< Argument of the format's option.
  std::string output;          ///< "" or "-": standard output.
  bool header_keys = false;    ///< For CSV.
  bool exact_cells = false;    ///< For CSV.
  Screen screen = {};          ///< For ScreenFormat().
  bool raw = false;            ///< --raw: the format is that of SQLite.
  size_t markdown_rows = 100;  ///< The most of a table in Markdown; 0: all.
  size_t max_rows = 0;         ///< The most of each table, of any format; 0: all.
  bool to_terminal = false;    ///< Output goes to an interactive terminal.

  /// For kRows one view, for kCheck and kTimeline the one with their columns, otherwise the views,
  std::vector<ViewPlan> views;
  RunOptions run;                   ///< and the part of each run to look at.
  std::string baseline;             ///< For kBaseline: the output file.
  RankSummaryOptions rank_summary;  ///< For kRankSummaries (`output`: a single input's), and, if
  bool keeps_summaries = false;     ///< set, for kViews: results are kept as summaries.
  ManyOptions many;                 ///< How inputs are read in separate processes.

  /// For kDiff: inputs to compare `inputs` with; empty: these are only judged.
  std::vector<std::string> diff_base;
  DiffPlan diff;               ///< For kDiff: what to compare (with `run`),
  DiffPrint diff_print;        ///< what to print of it,
  CompatDiffPlan compat_diff;  ///< other rules, if any, with the plans of `diff`,
  GateOptions gate;            ///< and what decides the exit code.

  OpChoice op_choice = OpChoice::kInner;
  std::unique_ptr<RangeFilter> filter;  ///< Null without --range.
  ItemFilters where;                    ///< Conditions of --where on kernels and copies.

  /// Whether rows or groups are of copies only, so that kernels need not be read.
  bool of_copies() const { return task == Task::kRows && views.front().options.copies; }
  /// For kCheck and kTimeline.
  Columns<PricedKernel> kernel_columns() const {
    return ColumnsAt(views.front().places, KernelColumns());
  }
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);
/// The command line of `oplens WORD`, one of Commands(); argv[0] is not read.
Options ParseCommand(std::string_view word, int argc, const char* const* argv);
/// For many processes that keep summaries while they make views: accepts --summary-dir with --view,
/// and treats a terminal like a file.
Options ParseKeepingOptions(int argc, const char* const* argv);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_OPTIONS_H_
