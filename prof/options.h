#ifndef OPLENS_PROF_OPTIONS_H_
#define OPLENS_PROF_OPTIONS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/compat/compat.h"
#include "prof/diff/compare.h"
#include "prof/diff/print_diff.h"
#include "prof/gate_options.h"
#include "prof/input_options.h"
#include "prof/price/nested_calls.h"
#include "prof/range_patterns.h"
#include "prof/rank_options.h"
#include "prof/table/formats.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// What is printed.
enum class Task : uint8_t {
  kMessage,   ///< Options::message, and nothing else.
  kRows,      ///< Kernels or copies, or groups of these: the views of PlanRows.
  kCheck,     ///< How many kernels have each column.
  kTimeline,  ///< A Chrome trace of the profiles.
  kViews,
  kDiff,           ///< Two runs compared.
  kBaseline,       ///< Options::baseline, what the views found.
  kRankSummaries,  ///< The same of each input: Options::rank_summary.
};

/// The command line, understood.
struct Options : InputOptions {
  Task task = Task::kRows;
  std::string message;  ///< Of -h, --version and --view list.

  const Format* format = nullptr;
  std::string format_value;  ///< Of its option.
  std::string output;        ///< "" or "-": standard output.
  bool header_keys = false;  ///< Of CSV.
  Screen screen = {};        ///< Of ScreenFormat().
  bool to_terminal = false;  ///< What is printed goes to a terminal that somebody looks at.

  /// Of kRows one, of kCheck and kTimeline the one that has their columns; else of kViews and
  /// others,
  std::vector<ViewPlan> views;
  RunOptions run;                   ///< with what of each run they are of.
  std::string baseline;             ///< Of kBaseline: the file that is written.
  RankSummaryOptions rank_summary;  ///< Of kRankSummaries, with `output` of one input, and,
  bool keeps_summaries = false;     ///< with this, of kViews: what was found is kept.
  ManyOptions many;                 ///< How inputs are read that are read apart.

  std::vector<std::string> diff_base;  ///< Of kDiff: the inputs that `inputs` are compared with
                                       ///< (none: they are judged alone),
  DiffPlan diff;                       ///< what is compared, with `run` of both,
  DiffPrint diff_print;                ///< what of it is printed,
  CompatDiffPlan compat_diff;          ///< or by whose other rules, with the plans of `diff`,
  GateOptions gate;                    ///< and what decides the exit code.

  OpChoice op_choice = OpChoice::kInner;
  std::unique_ptr<RangeFilter> filter;  ///< Null without --range.
  ItemFilters where;                    ///< What --where asks of kernels and copies.

  /// Whether rows and groups are of copies alone: kernels are not read.
  bool of_copies() const { return task == Task::kRows && views.front().options.copies; }
  /// Of kCheck and kTimeline.
  Columns<PricedKernel> kernel_columns() const {
    return ColumnsAt(views.front().places, KernelColumns());
  }
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);
/// The command line of `oplens WORD`, one of Commands(); argv[0] is not read.
Options ParseCommand(std::string_view word, int argc, const char* const* argv);
/// The same for many processes that keep summaries while they make views: --summary-dir goes with
/// --view, and a terminal is nothing special.
Options ParseKeepingOptions(int argc, const char* const* argv);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_OPTIONS_H_
