#include "engine/run.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "parse/source/profile_file.h"
#include "prof/input/profile_records.h"
#include "prof/many_inputs.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/view_task.h"
#include "prof/views/run_views.h"

namespace oplens::engine {
namespace {

using prof::Options;

constexpr std::string_view kTool = "oplens";

void RefusePipes(const std::vector<std::string>& paths) {
  if (paths.empty()) throw UsageError("there is no file to open");
  for (const std::string& path : paths) {
    if (path.empty()) throw UsageError("the name of the input is empty");
    if (path != "-" && !parse::IsPipe(path)) continue;
    throw Error(path == "-" ? "standard input" : path, "can be read only once",
                "save it in a file and open that");
  }
}

}  // namespace

Run::Run(std::vector<std::string> paths, Words opened)
    : paths_(std::move(paths)), opened_(std::move(opened)) {
  RefusePipes(paths_);
  const Options options = OptionsOf(paths_, opened_, {});
  summaries_ = prof::ListSummaries(paths_, &beside_);
  if (!summaries_.empty()) return;
  const std::unique_ptr<prof::Inputs> inputs = MakeInputs(options, {}, nullptr);
  inputs->RefuseUnreadable();
  reads_records_ = inputs->CannotBeLoaded();
}

Run::~Run() = default;

std::unique_ptr<prof::Inputs> Run::MakeInputs(const Options& options, const Needs& needs,
                                              WorkMeter* meter) {
  left_out_.clear();
  const auto tell = [this](const std::string& problem) { left_out_.push_back(problem); };
  // No tool: nothing is printed.
  auto inputs = std::make_unique<prof::Inputs>(paths_, options.execution_traces, needs.all,
                                               needs.json, std::string_view(), nullptr);
  inputs->Quietly(tell, meter);
  inputs->Explain(options.evidence, options.reference);
  inputs->Count(options.counters);
  return inputs;
}

/// What the inputs tell once they are read.
void Run::Keep(prof::Inputs* inputs) {
  files_ = inputs->paths();
  notes_ = inputs->UnusedExecutionTraces();
  for (std::string& note : inputs->Notes()) notes_.push_back(std::move(note));
  claim_ = inputs->claims()->Sentence();
}

void Run::Load(const Options& options, const Needs& needs, WorkMeter* meter) {
  const Needs both = {needs_.all | needs.all, needs_.json | needs.json};
  if (loaded_ && both.all == needs_.all && both.json == needs_.json) return;
  loaded_ = false;
  profiles_.clear();
  needs_ = both;
  const std::unique_ptr<prof::Inputs> inputs = MakeInputs(options, needs_, meter);
  inputs->RefuseUnreadable();
  profiles_ = inputs->LoadAll(options.many.jobs);
  Keep(inputs.get());
  loaded_ = true;
}

void Run::ReadLocked(const Options& options, const Needs& needs, const Reader& read,
                     Messages* messages, WorkMeter* meter) {
  if (reads_records_) {
    const std::unique_ptr<prof::Inputs> inputs = MakeInputs(options, needs, meter);
    inputs->RefuseUnreadable();
    read(inputs.get(), inputs->paths());
    return Keep(inputs.get());
  }
  Load(options, needs, meter);
  for (const auto& profile : profiles_) {
    messages->losses()->Merge(profile->losses);
    messages->losses()->Merge(profile->join_losses);
  }
  prof::LoadedRecords records(profiles_, meter);
  read(&records, files_);
}

void Run::TellOfInputs(bool as_one_run, Messages* messages) const {
  for (const std::string& note : beside_) messages->Need(note);
  for (const std::string& note : notes_) messages->Need(note);
  if (as_one_run && !claim_.empty()) messages->Need(claim_);
}

int64_t Run::AskSummaries(const Options& options, prof::Destination* destination,
                          Messages* messages) {
  prof::RefuseWithSummaries(options);
  if (options.task != prof::Task::kViews) {
    throw Error(paths_.front(), "is a summary, which holds no kernels", "ask for a view of it");
  }
  left_out_.clear();
  prof::ViewRunner runner(options.views, options.run, destination);
  prof::LeftOut left_out(kTool,
                         [this](const std::string& problem) { left_out_.push_back(problem); });
  prof::RunClaims claims;
  prof::AddSummaries(summaries_, options.views, &left_out, &runner, &claims, messages->losses());
  const int64_t shown = runner.Finish();
  destination->Commit();
  claim_ = claims.Sentence();
  TellOfInputs(true, messages);
  for (std::string& note : runner.Notes()) messages->Need(std::move(note));
  for (std::string& note : destination->Notes()) messages->Need(std::move(note));
  return shown;
}

int64_t Run::Ask(const Query& query, prof::Destination* destination, Messages* messages,
                 WorkMeter* meter) {
  WorkMeter unwatched;
  if (meter == nullptr) meter = &unwatched;
  const Options options = OptionsOf(paths_, opened_, query);
  const auto lock = meter->Lock(&mutex_);
  if (!summaries_.empty()) return AskSummaries(options, destination, messages);
  const bool copies = options.of_copies();
  if (copies && reads_records_) {
    MakeInputs(options, {}, nullptr)->RefuseRecords("copies", "copies");
  }
  const Needs needs = {prof::NeedsOf(options.views), {}};
  if (!reads_records_) Load(options, needs, meter);
  prof::ViewRunner runner(options.views, options.run, destination);
  if (copies) {
    auto next = profiles_.begin();
    for (const auto& profile : profiles_) messages->losses()->Merge(profile->losses);
    const auto next_trace = [&]() -> const Trace* {
      meter->Check();
      return next == profiles_.end() ? nullptr : &(*next++)->trace;
    };
    prof::GiveCopies(next_trace, options.where.copies.get(), &runner, messages);
  } else {
    const auto price = [&](prof::RecordSource* records, const std::vector<std::string>&) {
      prof::PriceAll(records, prof::PriceOptionsOf(options, messages), &runner, messages->losses());
    };
    ReadLocked(options, needs, price, messages, meter);
  }
  const int64_t shown = runner.Finish();
  for (std::string& note : runner.Notes()) messages->Need(std::move(note));
  destination->Commit();
  for (std::string& note : destination->Notes()) messages->Need(std::move(note));
  // Rows of kernels and copies belong to one input each; groups to all.
  TellOfInputs(options.task == prof::Task::kViews || options.views.front().view->make != nullptr,
               messages);
  return shown;
}

void Run::Read(TraceNeeds needs, TraceNeeds json_needs, const Reader& read, Messages* messages,
               WorkMeter* meter) {
  WorkMeter unwatched;
  if (meter == nullptr) meter = &unwatched;
  const Options options = OptionsOf(paths_, opened_, {});
  const auto lock = meter->Lock(&mutex_);
  if (!summaries_.empty()) {
    throw Error(paths_.front(), "is a summary, which holds no kernels", "open the trace");
  }
  ReadLocked(options, {needs, json_needs}, read, messages, meter);
  TellOfInputs(true, messages);
}

std::vector<std::string> Run::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

void Run::Forget() {
  const std::lock_guard lock(mutex_);
  loaded_ = false;
  needs_ = {};
  profiles_.clear();
}

}  // namespace oplens::engine
