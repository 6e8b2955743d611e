#include "prof/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "prof/input/rank_namer.h"
#include "prof/summary_file/summary_file.h"
#include "prof/summary_file/summary_sink.h"

namespace oplens::prof {
namespace {

/// Of the trace that a summary is of: its own, without what it adds.
std::string TracePathOf(const std::string& summary) {
  constexpr std::string_view kEnding = ".oplens";
  const bool ends = summary.size() > kEnding.size() && summary.ends_with(kEnding);
  return summary.substr(0, summary.size() - (ends ? kEnding.size() : 0));
}

}  // namespace

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

void AddSummaries(const Options& options, ViewRunner* runner) {
  std::vector<std::string> traces;
  for (const std::string& path : options.inputs) traces.push_back(TracePathOf(path));
  const std::vector<std::string> names = NamesOfInputs(traces);
  RankNamer namer(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& path = options.inputs[i];
    const SummaryFile summary = ReadSummary(path);
    AddSummary(summary, options.views, namer.NamesOf(summary.ranks, names[i]), path, runner);
  }
}

}  // namespace oplens::prof
