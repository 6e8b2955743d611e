// prof: profiles or records -> one priced row per kernel, or other tables made of them.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "base/status_line.h"
#include "parse/model/messages.h"
#include "prof/commands.h"
#include "prof/compare_runs.h"
#include "prof/gate/gate_output.h"
#include "prof/input/profile_records.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/rank_summaries.h"
#include "prof/summary_file/hashed_host.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/summary_sink.h"
#include "prof/table/sqlite_file.h"
#include "prof/view_task.h"
#include "prof/views/kernels/priced_timeline.h"
#include "prof/views/kernels/raw_tables.h"
#include "prof/views/recording/column_check.h"

namespace oplens::prof {
namespace {

/// Prints how many kernels have each column. Returns the number of kernels.
int64_t PrintCheck(Inputs* inputs, const Options& options, Messages* messages) {
  const bool words = options.format->option.empty();
  std::unique_ptr<Destination> table;
  std::unique_ptr<Output> output;
  if (words) {
    output = std::make_unique<Output>(options.output, PackingOf(options.output));
  } else {
    table = OpenDestination(options);
  }
  ColumnCheck check(options.kernel_columns());
  const int64_t kernels =
      PriceAll(inputs, PriceOptionsOf(options, messages), &check, messages->losses());
  if (words) {
    output->Write(check.Render());
    output->Commit();
  } else {
    check.Emit(table->NewTable().get());
    table->Commit();
  }
  return kernels;
}

/// Prints the profiles' timeline. Returns the number of kernels.
int64_t PrintTimeline(Inputs* inputs, const Options& options, Messages* messages) {
  Output output(options.output, PackingOf(options.output));
  PricedTimeline timeline(options.kernel_columns(), &output);
  const int64_t kernels =
      PriceAll(inputs, PriceOptionsOf(options, messages), &timeline, messages->losses());
  timeline.Finish();
  output.Commit();
  return kernels;
}

bool CanReadApart(const Inputs& inputs, const Options& options, const FindOptions& find) {
  return inputs.waiting() > 1 && inputs.OnlyProfilesWait() && CanFindApart(find) &&
         options.execution_traces.empty() && options.reference.empty() && options.counters.empty();
}

/// Passes the findings of each input to `runner`.
void FindApart(Inputs* inputs, const Options& options, const FindOptions& find, LeftOut* left_out,
               ViewRunner* runner, Messages* messages) {
  std::vector<size_t> places(inputs->waiting());
  std::iota(places.begin(), places.end(), size_t{0});
  FindingsMerger merger(options.views, places.size(), runner);
  ManyInputs many(inputs, options.many, left_out, options.quiet);
  many.Run(
      places, [&find](Inputs* own, size_t place) { return FindIn(own, place, find); },
      [&](const Findings& findings, size_t place) {
        const parse::ProfileInput& input = inputs->waiting(place);
        merger.Add(findings, input.name);
        inputs->claims()->Add(findings.summary.ranks, input.name, input.path);
      });
  merger.Tell(find.pricing, messages);
}

/// Writes kernels with what else the profiles hold. Returns the number of kernels.
int64_t PrintRaw(Inputs* inputs, const Options& options, Messages* messages) {
  const std::unique_ptr<Destination> destination = OpenDestination(options);
  auto& file = dynamic_cast<SqliteFile&>(*destination);
  RawTables tables(options.kernel_columns(), &file);
  const int64_t kernels =
      PriceAll(inputs, PriceOptionsOf(options, messages), &tables, messages->losses());
  tables.Finish();
  file.Commit();
  return kernels;
}

/// Returns the number of rows of the view with the fewest, ignoring views that may be empty.
int64_t PrintViews(Inputs* inputs, const Options& options, LeftOut* left_out, Messages* messages) {
  const std::unique_ptr<Destination> destination = OpenDestination(options);
  const FindOptions find = FindOptionsOf(options, messages);
  ViewRunner runner(options.views, options.run, destination.get());
  if (options.of_copies()) {
    GiveCopies([&] { return inputs->NextTrace(messages->losses()); }, options.where.copies.get(),
               &runner, messages);
  } else if (CanReadApart(*inputs, options, find)) {
    FindApart(inputs, options, find, left_out, &runner, messages);
  } else {
    PriceAll(inputs, find.pricing, &runner, messages->losses());
  }
  const int64_t least = runner.Finish();
  for (std::string& note : runner.Notes()) messages->Need(std::move(note));
  destination->Commit();
  for (std::string& note : destination->Notes()) messages->Need(std::move(note));
  return least;
}

/// Writes a summary of each input. Returns their number.
int64_t PrintRankSummaries(Inputs* inputs, const Options& options, LeftOut* left_out,
                           Messages* messages) {
  if (!inputs->OnlyProfilesWait()) {
    inputs->RefuseRecords("what a summary is of", "summary");
    throw UsageError("--summary needs files: what comes through a pipe has no name for it");
  }
  RankSummaryPlan plan;
  plan.find = FindOptionsOf(options, messages);
  plan.find.texts = SummaryTexts::kOfInput;
  plan.options = options.rank_summary;
  plan.output = options.output;
  RefuseOverwriting(options, {.read = {}, .written = SummaryPathsOf(*inputs, plan)});
  FindingsMerger merger(options.views, inputs->waiting(), nullptr);
  ManyInputs many(inputs, options.many, left_out, options.quiet);
  const WrittenSummaries written = WriteRankSummaries(inputs, plan, &many, &merger);
  merger.Tell(plan.find.pricing, messages);
  messages->Head(written.Sentence());
  return static_cast<int64_t>(written.written + written.kept);
}

/// Saves the views' results. Returns the number of rows or kernels.
int64_t SaveBaseline(Inputs* inputs, const Options& options, Messages* messages) {
  const std::string first = inputs->waiting() > 0 ? inputs->waiting(0).path : std::string();
  SummarySink sink(options.views, options.run, std::filesystem::current_path().string(),
                   SummaryTexts::kOfRun, SaltOr(options.many.salt, first));
  const int64_t kernels =
      PriceAll(inputs, PriceOptionsOf(options, messages), &sink, messages->losses());
  SummaryFile summary = sink.Take(OPLENS_VERSION);
  KeepLosses(*messages->losses(), inputs->left_out(), &summary);
  WriteSummary(options.baseline, summary);
  return kernels;
}

/// Runs the requested task. Returns how much was shown.
int64_t Print(Inputs* inputs, const Options& options, LeftOut* left_out, Messages* messages) {
  if (options.raw) return PrintRaw(inputs, options, messages);
  switch (options.task) {
    case Task::kCheck:
      return PrintCheck(inputs, options, messages);
    case Task::kTimeline:
      return PrintTimeline(inputs, options, messages);
    case Task::kBaseline:
      return SaveBaseline(inputs, options, messages);
    case Task::kRankSummaries:
      return PrintRankSummaries(inputs, options, left_out, messages);
    default:
      return PrintViews(inputs, options, left_out, messages);
  }
}

void NeedOneRun(const RunClaims& claims, Messages* messages) {
  if (std::string sentence = claims.Sentence(); !sentence.empty()) {
    messages->Need(std::move(sentence));
  }
}

int MainOfSummaries(const std::vector<SummaryInput>& summaries, std::vector<std::string> beside,
                    const Options& options) {
  RefuseWithSummaries(options);
  SummaryPaths paths;
  for (const SummaryInput& summary : summaries) paths.read.push_back(summary.path);
  RefuseOverwriting(options, paths);
  const std::unique_ptr<Destination> destination = OpenDestination(options);
  ViewRunner runner(options.views, options.run, destination.get());
  LeftOut left_out("prof");
  Messages messages("prof");
  RunClaims claims;
  for (std::string& note : beside) messages.Need(std::move(note));
  const size_t left_out_before =
      AddSummaries(summaries, options.views, &left_out, &runner, &claims, messages.losses());
  const int64_t shown = runner.Finish();
  destination->Commit();
  NeedOneRun(claims, &messages);
  for (std::string& note : runner.Notes()) messages.Need(std::move(note));
  for (std::string& note : destination->Notes()) messages.Need(std::move(note));
  options.Say(messages);
  const bool failure = shown == 0 || messages.losses()->Damaged();
  return options.ExitCode(failure, left_out.count() + left_out_before, options.many.allow_missing);
}

/// Reports failed conditions of the gate, and writes its report. Returns the exit code.
int JudgeDiff(const Diff& diff, const Options& options, Destination* destination) {
  if (options.gate.gate.empty()) return kExitOk;
  const GateResult result = options.gate.gate.Check(diff);
  // For one run, or a format with several tables, the rows are the result.
  if (options.diff_base.empty() || options.format->many) {
    const std::unique_ptr<Sink> sink = destination->NewTable();
    const std::span<const Field> fields = GateFields();
    sink->Begin("gate", {fields.begin(), fields.end()});
    EmitGate(result, sink.get());
    sink->End();
  }
  if (!options.gate.junit.empty()) WriteJunit(result, options.gate.junit);
  PrintError(GateText(result, "prof"));
  return result.exit_code();
}

int MainOfDiff(const Options& options) {
  StatusLine status("prof", !options.quiet);
  RefuseOverwriting(options);
  Messages base_messages("prof: base");
  Messages messages("prof");
  RunComparison comparison(options, options.diff_base, options.diff, options.run, "prof");
  comparison.Read(&status, &base_messages, &messages);
  const std::unique_ptr<Destination> destination = OpenDestination(options);
  int judged = kExitOk;
  if (options.compat_diff.rules != nullptr) {
    for (std::string& note : PrintCompatDiff(options.compat_diff, comparison.base(),
                                             comparison.now(), destination.get())) {
      messages.Need(std::move(note));
    }
  } else {
    const Diff diff = comparison.Make();
    for (const std::string& note : diff.notes) messages.Need(note);
    if (!options.diff_base.empty()) PrintDiff(diff, options.diff_print, destination.get());
    judged = JudgeDiff(diff, options, destination.get());
  }
  destination->Commit();
  for (std::string& note : destination->Notes()) messages.Need(std::move(note));
  for (const Messages* one : {&base_messages, &messages}) options.Say(*one);
  const bool failure = base_messages.losses()->Damaged() || messages.losses()->Damaged();
  if (judged != kExitOk) return judged;
  return options.ExitCode(failure, comparison.left_out(), options.many.allow_missing);
}

TraceNeeds NeedsOf(const Options& options) {
  if (options.task == Task::kTimeline) return NeedsOfTimeline();
  const TraceNeeds needs = NeedsOf(options.views);
  return options.raw ? needs | NeedsOfRawTables() : needs;
}

int Main(Options options) {
  GiveBackWhatIsFreed();
  if (options.task == Task::kMessage) {
    PrintText(options.message);
    return kExitOk;
  }
  if (options.task == Task::kDiff) return MainOfDiff(options);
  std::vector<std::string> beside;
  if (const std::vector<SummaryInput> summaries = SummariesOf(options, &beside);
      !summaries.empty()) {
    return MainOfSummaries(summaries, std::move(beside), options);
  }
  const bool timeline = options.task == Task::kTimeline;
  options.SayWhatIsAwaited("prof");
  StatusLine status("prof", !options.quiet);
  LeftOut left_out("prof");
  Inputs inputs(options.inputs, options.execution_traces, NeedsOf(options), {}, "prof", &status);
  if (options.task != Task::kRankSummaries) RefuseOverwriting(options);
  inputs.Explain(options.evidence, options.reference);
  inputs.Count(options.counters);
  if (timeline) inputs.RefuseRecords("a timeline", "chrome");
  if (options.raw) inputs.RefuseRecords("what profiles hold besides kernels", "raw");
  if (options.of_copies()) inputs.RefuseRecords("copies", "copies");
  Messages messages("prof");
  for (std::string& note : beside) messages.Need(std::move(note));
  const int64_t shown = Print(&inputs, options, &left_out, &messages);
  const std::vector<std::string> unused = inputs.UnusedFiles();
  for (const std::string& sentence : unused) messages.Need(sentence);
  for (std::string& note : inputs.Notes()) messages.Need(std::move(note));
  // Rows of kernels and copies belong to one input each; groups to all.
  if (options.task == Task::kViews ||
      (options.task == Task::kRows && options.views.front().view->make != nullptr)) {
    NeedOneRun(*inputs.claims(), &messages);
  }
  options.Say(messages);
  const bool failure = shown == 0 || messages.losses()->Damaged() || !unused.empty();
  return options.ExitCode(failure, inputs.left_out() + left_out.count(),
                          options.many.allow_missing);
}

}  // namespace

int RunProf(int argc, char** argv) {
  return RunProgram("prof", [&] { return Main(ParseOptions(argc, argv)); });
}

int RunCommand(std::string_view word, int argc, char** argv) {
  return RunProgram("prof", [&] { return Main(ParseCommand(word, argc, argv)); });
}

}  // namespace oplens::prof
