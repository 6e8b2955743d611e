#include "prof/view_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/run_files.h"
#include "base/shown_text.h"
#include "prof/input/profile_records.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/stamp.h"
#include "prof/summary_file/summary_file.h"
#include "prof/summary_file/summary_sink.h"
#include "prof/table/most_rows.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/run_views.h"

namespace oplens::prof {
namespace {

bool ShowsPrices(const ViewPlan& plan) {
  const std::vector<Field> fields = FieldsOf(*plan.view, plan.options);
  return std::any_of(plan.places.begin(), plan.places.end(), [&](size_t place) {
    return fields[place].unit.starts_with("FLOP") || fields[place].unit.starts_with("TFLOP");
  });
}

/// What a picture of stacks shows.
std::string TitleOf(const Options& options) {
  if (options.views.empty() || options.inputs.empty()) return {};
  const std::vector<std::string>& by = options.views.front().options.by;
  const bool host = std::ranges::find(by, "host") != by.end();
  std::string title = fmt::format("{} by call stack: {}", host ? "Host time" : "GPU time",
                                  ShownText(options.inputs.front()));
  if (options.inputs.size() > 1) title += fmt::format(" and {} more", options.inputs.size() - 1);
  return title;
}

}  // namespace

PriceOptions PriceOptionsOf(const Options& options, Messages* messages) {
  PriceOptions pricing = options.Pricing();
  pricing.messages = messages;
  pricing.op_choice = options.op_choice;
  pricing.filter = options.filter.get();
  pricing.where = options.where.kernels.get();
  // Views without figures of prices report nothing about prices.
  const bool of_views = options.task != Task::kRows && options.task != Task::kCheck &&
                        options.task != Task::kTimeline;
  pricing.shows_prices =
      !of_views || std::any_of(options.views.begin(), options.views.end(), ShowsPrices);
  // With rows left out, utilisation over the elapsed time is meaningless.
  if (pricing.where != nullptr) pricing.peak_of = nullptr;
  return pricing;
}

FindOptions FindOptionsOf(const Options& options, Messages* messages) {
  FindOptions find;
  find.plans = &options.views;
  find.run = options.run;
  find.pricing = PriceOptionsOf(options, messages);
  find.writer = OPLENS_VERSION;
  find.salt = options.many.salt;
  return find;
}

std::unique_ptr<Destination> OpenDestination(const Options& options) {
  std::string inputs;
  for (const std::string& input : options.inputs) {
    inputs += inputs.empty() ? input : "\n" + input;
  }
  std::unique_ptr<Destination> destination = options.format->open(
      {options.format_value,
       options.output,
       {{"program", "oplens"}, {"version", OPLENS_VERSION}, {"inputs", inputs}},
       options.task == Task::kViews || options.task == Task::kDiff,
       options.header_keys,
       options.exact_cells,
       options.screen,
       options.markdown_rows,
       TitleOf(options),
       options.to_terminal});
  if (options.max_rows == 0) return destination;
  return std::make_unique<MostRows>(std::move(destination), options.max_rows);
}

void RefuseOverwriting(const Options& options, const SummaryPaths& summaries) {
  RunFiles files = options.FilesRead();
  if (!options.diff_base.empty()) files.Read(FilesReadFor(options.diff_base), "the base");
  files.Read(summaries.read);
  for (const std::string& path : summaries.written) files.Write(path, "the summary");
  const Format& format = *options.format;
  if (options.task == Task::kBaseline) {
    files.Write(options.baseline, "--save-baseline");
  } else if (format.owns_file()) {
    files.Write(options.format_value, "--" + std::string(format.option));
  } else if (options.task != Task::kRankSummaries) {
    files.Write(options.output, "-o");
  }
  if (!options.gate.junit.empty()) files.Write(options.gate.junit, "--junit");
  files.RefuseOverwriting();
}

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

std::vector<SummaryInput> SummariesOf(const Options& options, std::vector<std::string>* notes) {
  if (options.task != Task::kViews) return {};
  return ListSummaries(options.inputs, notes);
}

size_t AddSummaries(const std::vector<SummaryInput>& summaries, const std::vector<ViewPlan>& plans,
                    LeftOut* left_out, ViewRunner* runner, RunClaims* claims, Diagnostics* losses) {
  RankNamer namer(summaries.size());
  const SummaryInput* first = nullptr;  // The first that can be read.
  std::pair<std::string, std::string> selection;
  size_t left_out_before = 0;
  for (const SummaryInput& input : summaries) {
    SummaryFile summary;
    try {
      summary = ReadSummary(input.path);
    } catch (const Error& error) {
      // If none can be read, the last reason ends the run.
      if (first == nullptr && &input == &summaries.back()) throw;
      left_out->Add(error.what());
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

void GiveCopies(const std::function<const Trace*()>& next_trace, ItemFilter<CopyRow>* where,
                ViewRunner* runner, Messages* messages) {
  int64_t all = 0;
  int64_t impossible = 0;
  while (const Trace* trace = next_trace()) {
    for (CopyRow& copy : CopiesOf(*trace)) {
      copy.index = ++all;
      if (where != nullptr && !where->Keeps(copy)) continue;
      runner->AddCopy(copy);
      impossible += copy.has_possible_rate() ? 0 : 1;
    }
  }
  if (all == 0) {
    messages->Need("there are no copies and no memsets to show");
  } else if (where != nullptr) {
    messages->Need(where->count().Sentence("copies and memsets"));
  }
  if (impossible > 0) {
    messages->Need(
        fmt::format("{} of the copies and memsets have an impossible rate, from a wrong size or "
                    "time: no GB/s (column reason)",
                    impossible));
  }
}

}  // namespace oplens::prof
