#ifndef OPLENS_PROF_OPTIONS_H_
#define OPLENS_PROF_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/gpu/gpu.h"
#include "ops/rules/rules.h"
#include "prof/price/nested_calls.h"
#include "prof/range_patterns.h"
#include "prof/table/writer.h"
#include "prof/views/summary_columns.h"

namespace oplens::prof {

/// The command line, understood.
struct Options {
  std::vector<std::string> inputs;  ///< Files and folders; none: standard input.
  std::vector<std::string> execution_traces;
  std::string output;   ///< "" or "-": standard output.
  std::string sqlite;   ///< The database to write; "" for none.
  bool check = false;   ///< Count the kernels that have each column.
  bool copies = false;  ///< Rows are copies and fills, not kernels.
  Columns columns;
  std::unique_ptr<RowWriter> writer;  ///< Null with sqlite and check.
  OpChoice op_choice = OpChoice::kInner;
  std::unique_ptr<RangeFilter> filter;   ///< Null without --range.
  std::unique_ptr<StepFinder> steps;     ///< Null without --step.
  std::unique_ptr<SummaryPlan> summary;  ///< Null without --by: rows are kernels.
  SummaryOrder order;                    ///< With --by.
  size_t top = 0;                        ///< With --by; 0: all groups.
  std::optional<ops::Gpu> gpu;      ///< That all kernels ran on; nullopt: what their records say.
  std::optional<ops::Rules> rules;  ///< Of the user, where given.
  bool quiet = false;
  bool strict = false;  ///< Damage, and nothing to show, decide the exit code.
  std::string message;  ///< Set by -h and --version: print it, do nothing else.
};

/// Throws UsageError with one line that says what to type instead.
Options ParseOptions(int argc, const char* const* argv);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_OPTIONS_H_
