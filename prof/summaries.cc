#include "prof/summaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "prof/input/rank_namer.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/stamp.h"
#include "prof/summary_file/summary_file.h"
#include "prof/summary_file/summary_sink.h"

namespace oplens::prof {

void RefuseWithSummaries(const Options& options) {
  const std::pair<bool, std::string_view> asked[] = {
      {!options.run.selection.empty(), "--step-range, --time-range or --device"},
      {options.where.kernels != nullptr, "--where with columns of kernels"},
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

std::vector<SummaryInput> SummariesOf(const Options& options) {
  if (options.task != Task::kViews) return {};
  return ListSummaries(options.inputs);
}

size_t AddSummaries(const std::vector<SummaryInput>& summaries, const std::vector<ViewPlan>& plans,
                    LeftOut* left_out, ViewRunner* runner, RunClaims* claims, Diagnostics* losses) {
  RankNamer namer(summaries.size());
  const SummaryInput* first = nullptr;  // Of those that can be read.
  std::pair<std::string, std::string> selection;
  size_t left_out_before = 0;
  for (const SummaryInput& input : summaries) {
    SummaryFile summary;
    try {
      summary = ReadSummary(input.path);
    } catch (const Error& error) {
      // Where none can be read, the last reason ends the run.
      if (first == nullptr && &input == &summaries.back()) throw;
      left_out->Add(error.what(), input.from_folder);
      continue;
    }
    if (first == nullptr) {
      selection = SelectionOf(summary);
      first = &input;
    } else if (SelectionOf(summary) != selection) {
      throw Error(input.path,
                  fmt::format("was made with other options than {}", ShownText(first->path)),
                  "save both with the same --step-range, --device, --salt, ...");
    }
    claims->Add(summary.ranks, input.name, input.path);
    AddSummary(summary, plans, namer.NamesOf(summary.ranks, input.name), input.path, runner);
    left_out_before += AddKeptLosses(summary, input.path, losses);
  }
  return left_out_before;
}

}  // namespace oplens::prof
