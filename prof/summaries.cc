#include "prof/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "prof/summary_file/summary_file.h"

namespace oplens::prof {

void RefuseWithSummaries(const Options& options) {
  const std::pair<bool, std::string_view> asked[] = {
      {!options.run.selection.empty(), "--step-range, --time-range or --device"},
      {options.where.items != nullptr, "--where with columns of kernels"},
      {options.filter != nullptr, "--range"},
      {options.steps != nullptr, "--step"},
      {options.gpu.has_value(), "--gpu"},
      {options.rules.has_value(), "--rules"},
      {!options.execution_traces.empty(), "--execution-trace"},
      {options.op_choice != OpChoice::kInner, "--op"},
      {std::any_of(options.views.begin(), options.views.end(),
                   [](const ViewPlan& plan) { return !plan.options.what_if.empty(); }),
       "--what-if"},
  };
  for (const auto& [given, option] : asked) {
    if (!given) continue;
    throw UsageError(
        fmt::format("{}: a summary holds what views found before: it needs the trace", option));
  }
}

bool AreSummaries(const Options& options) {
  const auto summaries =
      static_cast<size_t>(std::count_if(options.inputs.begin(), options.inputs.end(), IsSummary));
  if (options.task != Task::kViews || summaries == 0) return false;
  for (const std::string& input : options.inputs) {
    if (summaries == options.inputs.size()) break;
    if (IsSummary(input)) continue;
    throw Error(input, "is no summary, but other inputs are", "save it with --save-baseline first");
  }
  return true;
}

}  // namespace oplens::prof
