// report: turns profiles or records into one self-contained page with the results of the views.

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "base/run_files.h"
#include "base/status_line.h"
#include "parse/model/messages.h"
#include "prof/compare_runs.h"
#include "prof/input/profile_records.h"
#include "prof/many_inputs.h"
#include "prof/summary_file/summary_file.h"
#include "prof/summary_file/summary_sink.h"
#include "prof/view_task.h"
#include "report/diff_page.h"
#include "report/options.h"
#include "report/report.h"
#include "report/timeline/collector.h"
#include "report/timeline_sink.h"

namespace oplens::report {
namespace {

constexpr std::string_view kTool = "report";
// Views on the page of two runs: those whose rows a reader can act on.
constexpr std::string_view kDiffViews =
    "operators,overview,gpu,groups,modules,idle,collectives,roofline,memory-ops,launches";

std::string WorkingFolder() {
  std::error_code unknown;
  const std::string folder = std::filesystem::current_path(unknown).string();
  return folder.empty() ? "/" : folder;
}

/// Opens a file with the desktop's default program. Returns an error message or "".
std::string OpenPage(const std::string& path) {
  std::string program = "xdg-open";
  std::string file = std::filesystem::absolute(path).string();
  char* arguments[] = {program.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
  if (error != 0) return fmt::format("xdg-open cannot be run: {}", std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return "xdg-open could not show the page";
}

void ShowPage(const std::string& path) {
  const std::string problem = OpenPage(path);
  if (!problem.empty()) PrintError(fmt::format("{}: {}\n", kTool, problem));
}

/// Prints messages about a written page, and opens it if requested.
void ShowWritten(const Options& options, const std::vector<std::string>& left_out,
                 size_t page_bytes, Messages* messages) {
  for (const std::string& sentence : left_out) messages->Need("not on the page: " + sentence);
  if (options.output != "-") {
    messages->Head(fmt::format("wrote {}, {} bytes", options.output, page_bytes));
  }
  options.Say(*messages);
  if (options.open) ShowPage(options.output);
}

ReportPlan PlanOf(const Options& options, size_t input_count, Messages* messages) {
  ReportPlan plan;
  plan.program = fmt::format("oplens {}", OPLENS_VERSION);
  plan.title = options.title;
  plan.inputs = options.inputs;
  plan.input_count = input_count;
  if (!options.keep_paths) plan.folder = WorkingFolder();
  plan.limit_bytes = options.limit_bytes;
  plan.host = options.host;
  plan.run = options.run;
  plan.model = options.model;
  plan.pricing = options.Pricing();
  plan.pricing.messages = messages;
  return plan;
}

/// Throws UsageError if the page would overwrite an input file.
void RefuseOverwriting(const Options& options) {
  RunFiles files = options.FilesRead();
  if (!options.diff_base.empty()) files.Read(prof::FilesReadFor({options.diff_base}), "the base");
  files.Write(options.output, "-o");
  files.RefuseOverwriting();
}

/// Both runs' kernels pass through to one timeline. The second run is named when it has been read.
prof::ComparisonFeed FeedOf(const Options& options, Collector* timelines) {
  return {.needs = kTimelineNeeds,
          .json_needs = options.host ? kJsonTimelineNeeds : TraceNeeds(),
          .sink = [timelines](bool is_new, size_t inputs, prof::ViewRunner* views) {
            if (is_new) timelines->NameRun("base");
            timelines->ShareBy(2 * inputs);
            return std::make_unique<TimelineSink>([views]() -> prof::ViewRunner& { return *views; },
                                                  timelines);
          }};
}

/// Writes the page that compares two runs.
int WriteDiff(const Options& options) {
  RefuseOverwriting(options);
  Output output(options.output, PackingOf(options.output));
  DiffPagePlan plan;
  plan.program = fmt::format("oplens {}", OPLENS_VERSION);
  plan.title = options.title;
  if (!options.keep_paths) plan.folder = WorkingFolder();
  plan.limit_bytes = options.limit_bytes;
  plan.host = options.host;
  StatusLine status(kTool, !options.quiet);
  Messages base_messages("report: base");
  Messages messages(kTool);
  const std::vector<std::string> base = {options.diff_base};
  const prof::DiffPlan views = prof::PlanDiff(kDiffViews, "");
  prof::RunComparison comparison(options, base, views, options.run, kTool);
  Collector timelines({.host = options.host, .limit_bytes = options.limit_bytes});
  comparison.PassThrough(FeedOf(options, &timelines));
  comparison.Read(&status, &base_messages, &messages);
  timelines.NameRun("new");
  const prof::Diff diff = comparison.Make();
  const DiffPageResult result = WriteDiffPage(diff, timelines.Take(), plan, &output);
  output.Commit();
  options.Say(base_messages);
  for (const std::string& note : diff.notes) messages.Need(note);
  ShowWritten(options, result.left_out, result.page_bytes, &messages);
  const bool failure = base_messages.losses()->Damaged() || messages.losses()->Damaged();
  return options.ExitCode(failure, comparison.left_out());
}

/// The views that the first summary that can be read holds; others must hold them too.
prof::SummaryFile FirstOf(const std::vector<prof::SummaryInput>& summaries) {
  for (const prof::SummaryInput& input : summaries) {
    try {
      return prof::ReadSummary(input.path);
    } catch (const Error&) {
      // Reported when all are read.
    }
  }
  return {};
}

/// Writes the page of ranks by their summaries: tables, without a timeline.
int WriteOfSummaries(const Options& options, const std::vector<prof::SummaryInput>& summaries,
                     std::vector<std::string> notes) {
  if (!options.run.selection.empty() || options.steps != nullptr || options.gpu || options.rules ||
      options.model != nullptr || !options.execution_traces.empty()) {
    throw UsageError("summaries hold what views found before: other options need the traces");
  }
  RunFiles files;
  for (const prof::SummaryInput& input : summaries) files.Read(input.path);
  files.Write(options.output, "-o");
  files.RefuseOverwriting();
  Output output(options.output, PackingOf(options.output));
  Messages messages(kTool);
  prof::LeftOut left_out{kTool};
  prof::RunClaims claims;
  size_t left_out_before = 0;
  const prof::SummaryFile first = FirstOf(summaries);
  const FoundViews found = {
      .holds = [&](const prof::ViewPlan& plan) { return prof::HoldsView(first, plan); },
      .give =
          [&](const std::vector<prof::ViewPlan>& plans, prof::ViewRunner* views) {
            left_out_before =
                prof::AddSummaries(summaries, plans, &left_out, views, &claims, messages.losses());
          }};
  const auto said = [&] {
    notes.push_back(
        "made from summaries, which hold views of ranks: a timeline and further views "
        "need the traces");
    for (const std::string& note : notes) messages.Need(note);
    if (std::string sentence = claims.Sentence(); !sentence.empty()) {
      messages.Need(std::move(sentence));
    }
    return messages.Sentences();
  };
  const ReportResult result =
      WriteReport(found, PlanOf(options, summaries.size(), &messages), said, &output);
  output.Commit();
  ShowWritten(options, result.left_out, result.page_bytes, &messages);
  return options.ExitCode(messages.losses()->Damaged(), left_out.count() + left_out_before);
}

int Main(const Options& options) {
  GiveBackWhatIsFreed();
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  if (!options.diff_base.empty()) return WriteDiff(options);
  std::vector<std::string> beside;
  const std::vector<prof::SummaryInput> summaries = prof::ListSummaries(options.inputs, &beside);
  if (!summaries.empty()) return WriteOfSummaries(options, summaries, std::move(beside));
  options.SayWhatIsAwaited(kTool);
  StatusLine status(kTool, !options.quiet);
  prof::Inputs inputs(options.inputs, options.execution_traces, NeedsOfReport(),
                      JsonNeedsOfReport(options.host), kTool, &status);
  RefuseOverwriting(options);
  inputs.Explain(options.evidence, options.reference);
  inputs.Count(options.counters);
  // Before reading, so that an unwritable output fails early.
  Output output(options.output, PackingOf(options.output));
  Messages messages(kTool);
  std::vector<std::string> unused;
  const auto said = [&] {
    for (const std::string& note : beside) messages.Need(note);
    unused = inputs.UnusedFiles();
    for (const std::string& sentence : unused) messages.Need(sentence);
    for (std::string& note : inputs.Notes()) messages.Need(std::move(note));
    if (std::string sentence = inputs.claims()->Sentence(); !sentence.empty()) {
      messages.Need(std::move(sentence));
    }
    return messages.Sentences();
  };
  const ReportResult result = WriteReport(
      &inputs, PlanOf(options, inputs.paths().size(), &messages), messages.losses(), said, &output);
  output.Commit();
  ShowWritten(options, result.left_out, result.page_bytes, &messages);
  const bool failure = result.kernels == 0 || messages.losses()->Damaged() || !unused.empty();
  return options.ExitCode(failure, inputs.left_out());
}

}  // namespace

int RunReport(int argc, char** argv) {
  return RunProgram("report", [&] { return Main(ParseOptions(argc, argv)); });
}

}  // namespace oplens::report
