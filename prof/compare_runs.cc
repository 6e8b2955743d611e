#include "prof/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "prof/input/profile_records.h"
#include "prof/input/rank_namer.h"
#include "prof/price_all.h"
#include "prof/summary_file/kept_losses.h"
#include "prof/summary_file/summary_sink.h"

namespace oplens::prof {
namespace {

/// Display name of a side: its first input.
std::string CompareRunsNameOf(const std::vector<std::string>& paths) {
  if (paths.empty()) return "standard input";
  return paths.size() == 1 ? paths.front()
                           : fmt::format("{} and {} more", paths.front(), paths.size() - 1);
}

/// Emits the rows of what was saved, for each plan.
void EmitSections(const SummaryFile& summary, const std::string& path, const DiffPlan& plan,
                  KeptTables* tables, Messages* messages) {
  ViewRunner runner(plan.plans, {}, tables);
  AddSummary(summary, plan.plans, RankNamer(1).NamesOf(summary.ranks, path), path, &runner);
  runner.Finish();
  for (std::string& note : runner.Notes()) messages->Need(std::move(note));
}

}  // namespace

bool IsOneSummary(const std::vector<std::string>& paths) {
  const auto summaries = std::count_if(paths.begin(), paths.end(), IsSummary);
  if (summaries == 0) return false;
  if (paths.size() == 1) return true;
  throw Error(paths.front(), "is compared with other files beside a summary",
              "give one summary, or profiles");
}

void RunComparison::Read(StatusLine* status, Messages* base_messages, Messages* messages) {
  if (!base_.empty() && !options_.counters.empty()) {
    throw UsageError("--counters are those of one run: they do not go with --diff");
  }
  // A summary holds its texts in the form in which they may leave the machine: the other run's must
  // match.
  const bool as_saved = IsOneSummary(base_) || IsOneSummary(options_.inputs);
  if (base_.empty()) {
    for (size_t i = 0; i < plan_.plans.size(); ++i) base_tables_.NewTable();
  } else {
    ReadSide(base_, as_saved, false, status, base_messages, &base_tables_);
    base_lost_ = LostText(*base_messages->losses());
  }
  ReadSide(options_.inputs, as_saved, true, status, messages, &now_tables_);
  lost_ = LostText(*messages->losses());
}

Diff RunComparison::Make() const {
  Diff diff = Compare(plan_, base(), now());
  const auto add = [&](std::string_view run, const std::string& lost, size_t left_out) {
    std::string text = lost;
    if (left_out > 0) text += fmt::format("{}{} left out", text.empty() ? "" : "; ", left_out);
    if (text.empty()) return;
    diff.lost += fmt::format("{}{} lost data ({})", diff.lost.empty() ? "" : "; ", run, text);
  };
  add("the base", base_lost_, base_left_out_);
  add(base_.empty() ? "the run" : "the new run", lost_, left_out_);
  return diff;
}

DiffInput RunComparison::base() const {
  return {base_.empty() ? "" : CompareRunsNameOf(base_), &base_tables_};
}

DiffInput RunComparison::now() const { return {CompareRunsNameOf(options_.inputs), &now_tables_}; }

void RunComparison::ReadSide(const std::vector<std::string>& paths, bool as_saved, bool is_new,
                             StatusLine* status, Messages* messages, KeptTables* tables) {
  size_t* const left_out = is_new ? &left_out_ : &base_left_out_;
  if (IsOneSummary(paths)) {
    if (!run_.selection.empty()) {
      throw UsageError(
          "--step-range, --time-range or --device: a summary holds what views found before: it "
          "needs the trace");
    }
    const SummaryFile summary = ReadSummary(paths.front());
    EmitSections(summary, paths.front(), plan_, tables, messages);
    *left_out = AddKeptLosses(summary, paths.front(), messages->losses());
    return;
  }
  const std::vector<std::string> none;
  Inputs inputs(paths, is_new ? options_.execution_traces : none,
                NeedsOf(plan_.plans) | feed_.needs, feed_.json_needs, tool_, status);
  if (tell_ != nullptr) inputs.Quietly(tell_, meter_);
  inputs.Explain(options_.evidence, options_.reference);
  inputs.Count(options_.counters);
  PriceOptions pricing = options_.Pricing();
  pricing.messages = messages;
  pricing.shows_prices = false;
  if (as_saved) {
    SummarySink sink(plan_.plans, run_, std::filesystem::current_path().string(),
                     SummaryTexts::kOfRun);
    PriceAll(&inputs, pricing, &sink, messages->losses());
    EmitSections(sink.Take(""), CompareRunsNameOf(paths), plan_, tables, messages);
  } else {
    ViewRunner runner(plan_.plans, run_, tables);
    const std::unique_ptr<KernelSink> fed =
        feed_.sink != nullptr ? feed_.sink(is_new, inputs.paths().size(), &runner) : nullptr;
    KernelSink* const first = fed != nullptr ? fed.get() : &runner;
    PriceAll(&inputs, pricing, first, messages->losses());
    runner.Finish();
    for (std::string& note : runner.Notes()) messages->Need(std::move(note));
  }
  for (const std::string& sentence : inputs.UnusedFiles()) messages->Need(sentence);
  for (std::string& note : inputs.Notes()) messages->Need(std::move(note));
  if (std::string sentence = inputs.claims()->Sentence(); !sentence.empty()) {
    messages->Need(std::move(sentence));
  }
  *left_out = inputs.left_out();
}

}  // namespace oplens::prof
