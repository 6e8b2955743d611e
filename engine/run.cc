#include "engine/run.h"

#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "engine/price_ranks.h"
#include "engine/query_options.h"
#include "parse/model/trace_needs.h"
#include "parse/source/profile_file.h"
#include "prof/input/profile_records.h"
#include "prof/many_inputs.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/summary_file/summary_file.h"
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

struct Needs {
  TraceNeeds all;
  TraceNeeds json;  ///< Further ones of PyTorch's traces.
};

}  // namespace

class Run::State {
 public:
  State(std::vector<std::string> paths, Words opened);

  // Those of Run.
  int64_t Ask(const Query& query, prof::Destination* destination, Messages* messages,
              WorkMeter* meter);
  void Read(const Needs& needs, const Reader& read, Messages* messages, WorkMeter* meter);
  const std::vector<std::string>& paths() const { return paths_; }
  const Words& opened() const { return opened_; }
  std::vector<std::string> left_out() const;
  void Forget();

 private:
  int64_t AskSummaries(const Options& options, prof::Destination* destination, Messages* messages);
  /// Has all inputs in memory, with at least these parts.
  void Load(const Options& options, const Needs& needs, WorkMeter* meter);
  std::unique_ptr<prof::Inputs> MakeInputs(const Options& options, const Needs& needs,
                                           WorkMeter* meter);
  void ReadLocked(const Options& options, const Needs& needs, const Reader& read,
                  Messages* messages, WorkMeter* meter);
  /// The kernels of the loaded profiles come next.
  void BeginKernels(Messages* messages, WorkMeter* meter) const;
  void Keep(prof::Inputs* inputs);
  /// Adds what the inputs tell, once they are read.
  void TellOfInputs(bool as_one_run, Messages* messages) const;

  std::vector<std::string> paths_;
  Words opened_;
  std::vector<prof::SummaryInput> summaries_;
  bool reads_records_ = false;  // Nothing is kept.

  mutable std::timed_mutex mutex_;  // Guards all below.
  bool loaded_ = false;
  Needs needs_;
  std::vector<std::unique_ptr<prof::LoadedProfile>> profiles_;
  // Of the last reading.
  std::vector<std::string> left_out_;
  std::vector<std::string> files_;
  std::vector<std::string> notes_;
  std::vector<std::string> beside_;  // What summaries leave unread.
  std::string claim_;
};

Run::State::State(std::vector<std::string> paths, Words opened)
    : paths_(std::move(paths)), opened_(std::move(opened)) {
  RefusePipes(paths_);
  const Options options = OptionsOf(paths_, opened_, {});
  summaries_ = prof::ListSummaries(paths_, &beside_);
  if (!summaries_.empty()) return;
  const std::unique_ptr<prof::Inputs> inputs = MakeInputs(options, {}, nullptr);
  inputs->RefuseUnreadable();
  reads_records_ = inputs->CannotBeLoaded();
}

std::unique_ptr<prof::Inputs> Run::State::MakeInputs(const Options& options, const Needs& needs,
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
void Run::State::Keep(prof::Inputs* inputs) {
  files_ = inputs->paths();
  notes_ = inputs->UnusedFiles();
  for (std::string& note : inputs->Notes()) notes_.push_back(std::move(note));
  claim_ = inputs->claims()->Sentence();
}

void Run::State::Load(const Options& options, const Needs& needs, WorkMeter* meter) {
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

void Run::State::ReadLocked(const Options& options, const Needs& needs, const Reader& read,
                            Messages* messages, WorkMeter* meter) {
  if (reads_records_) {
    const std::unique_ptr<prof::Inputs> inputs = MakeInputs(options, needs, meter);
    inputs->RefuseUnreadable();
    read(inputs.get(), inputs->paths());
    return Keep(inputs.get());
  }
  Load(options, needs, meter);
  BeginKernels(messages, meter);
  prof::LoadedRecords records(profiles_, meter);
  read(&records, files_);
}

void Run::State::BeginKernels(Messages* messages, WorkMeter* meter) const {
  for (const auto& profile : profiles_) {
    messages->losses()->Merge(profile->losses);
    messages->losses()->Merge(profile->join_losses);
  }
  meter->Start(prof::KernelsOf(profiles_));
}

void Run::State::TellOfInputs(bool as_one_run, Messages* messages) const {
  for (const std::string& note : beside_) messages->Need(note);
  for (const std::string& note : notes_) messages->Need(note);
  if (as_one_run && !claim_.empty()) messages->Need(claim_);
}

int64_t Run::State::AskSummaries(const Options& options, prof::Destination* destination,
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

int64_t Run::State::Ask(const Query& query, prof::Destination* destination, Messages* messages,
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
  } else if (CanPriceApart(profiles_, options)) {
    BeginKernels(messages, meter);
    PriceApart(profiles_, options, &runner, messages, meter);
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

void Run::State::Read(const Needs& needs, const Reader& read, Messages* messages,
                      WorkMeter* meter) {
  WorkMeter unwatched;
  if (meter == nullptr) meter = &unwatched;
  const Options options = OptionsOf(paths_, opened_, {});
  const auto lock = meter->Lock(&mutex_);
  if (!summaries_.empty()) {
    throw Error(paths_.front(), "is a summary, which holds no kernels", "open the trace");
  }
  ReadLocked(options, needs, read, messages, meter);
  TellOfInputs(true, messages);
}

std::vector<std::string> Run::State::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

void Run::State::Forget() {
  const std::lock_guard lock(mutex_);
  loaded_ = false;
  needs_ = {};
  profiles_.clear();
}

Run::Run(std::vector<std::string> paths, Words opened)
    : state_(std::make_unique<State>(std::move(paths), std::move(opened))) {}

Run::~Run() = default;

int64_t Run::Ask(const Query& query, prof::Destination* destination, Messages* messages,
                 WorkMeter* meter) {
  return state_->Ask(query, destination, messages, meter);
}

void Run::Read(TraceNeeds needs, TraceNeeds json_needs, const Reader& read, Messages* messages,
               WorkMeter* meter) {
  state_->Read({needs, json_needs}, read, messages, meter);
}

const std::vector<std::string>& Run::paths() const { return state_->paths(); }

const Words& Run::opened() const { return state_->opened(); }

std::vector<std::string> Run::left_out() const { return state_->left_out(); }

void Run::Forget() { state_->Forget(); }

}  // namespace oplens::engine
