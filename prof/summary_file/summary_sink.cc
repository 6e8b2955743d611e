#include "prof/summary_file/summary_sink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "parse/model/family.h"
#include "parse/model/kernel_record.h"
#include "parse/model/trace_devices.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
#include "prof/summary_file/hashed_host.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {
namespace {

std::string_view RunFactsWordOf(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "none";
    case StepSource::kRepetition:
      return "repetition";
    default:
      return "marked";
  }
}

std::string RunFactsTextOf(const Selection& selection) {
  std::vector<std::string> parts;
  if (selection.steps) {
    parts.push_back(fmt::format("steps {} to {}", selection.steps->first, selection.steps->last));
  }
  if (selection.device) parts.push_back(fmt::format("device {}", *selection.device));
  if (selection.time) {
    parts.push_back(
        fmt::format("time {} to {} ns", selection.time->start_ns, selection.time->end_ns));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string AllThatSave() {
  std::string list;
  for (const View& view : Views()) {
    if (view.saved_form == 0) continue;
    if (!list.empty()) list += ',';
    list += view.name;
  }
  return list;
}

/// The section without words of --by, on which what is in it does not depend; null: there is none,
/// or the words are not about calls.
const Section* SectionOfCalls(const SummaryFile& summary, const ViewPlan& plan) {
  const auto is_of_calls = [&](const std::string& word) {
    return std::ranges::find(plan.view->by_of_calls, word) != plan.view->by_of_calls.end();
  };
  if (summary.calls.empty() || !std::ranges::all_of(plan.options.by, is_of_calls)) return nullptr;
  ViewOptions whole = plan.options;
  whole.by.clear();
  return FindSection(summary.sections, *plan.view, whole);
}

}  // namespace

void RunFacts::Add(const Run* run) {
  ++ranks_;
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  std::set<int64_t> worked;
  for (const DeviceEvent& event : run->device_work().events()) {
    if (!event.IsKernel() && event.work != WorkClass::kReplay) continue;
    worked.insert(event.device_id);
    kernels_ += event.IsKernel() ? 1 : 0;
  }
  gpus_ += static_cast<int64_t>(worked.size());
  for (const int64_t id : worked) {
    const Device* const device = FindDevice(trace, id).device;
    if (device == nullptr) continue;
    names_.emplace(trace.strings.View(device->name));
    clocks_hz_.insert(device->core_clock_hz);
    memories_bytes_.insert(device->memory_bytes);
  }
  if (trace.world_size != kUnknownId) world_sizes_.insert(trace.world_size);
  families_.emplace(FamilyWord(trace.family));
  AddSteps(run->steps());
}

void RunFacts::AddSteps(const Steps& steps) {
  step_sources_.emplace(RunFactsWordOf(steps.source()));
  step_counts_.insert(static_cast<int64_t>(steps.all().size()));
  cut_steps_ += std::count_if(steps.all().begin(), steps.all().end(),
                              [](const Step& step) { return !step.complete; });
}

std::map<std::string, std::string> RunFacts::Texts() const {
  std::map<std::string, std::string> facts;
  facts["ranks"] = std::to_string(ranks_);
  if (!selection_.empty()) facts["selection"] = RunFactsTextOf(selection_);
  if (families_.empty()) return facts;
  facts["gpus"] = std::to_string(gpus_);
  facts["kernels"] = std::to_string(kernels_);
  facts["cut_steps"] = std::to_string(cut_steps_);
  facts["steps"] = step_counts_.size() == 1
                       ? std::to_string(*step_counts_.begin())
                       : fmt::format("{} to {}", *step_counts_.begin(), *step_counts_.rbegin());
  const auto list = [&](const char* key, const auto& values) {
    std::string text = fmt::format("{}", fmt::join(values, "; "));
    if (!text.empty() && text != "0") facts[key] = std::move(text);
  };
  list("gpu", names_);
  list("gpu_clock_hz", clocks_hz_);
  list("gpu_memory_bytes", memories_bytes_);
  list("world_size", world_sizes_);
  list("step_source", step_sources_);
  list("families", families_);
  return facts;
}

std::vector<ViewPlan> PlanSummaryViews(std::string_view list, std::string_view by, bool copies) {
  const std::string all = AllThatSave();
  std::vector<ViewPlan> plans =
      PlanViews({.list = list.empty() || list == "all" ? std::string_view(all) : list,
                 .by = by,
                 .copies = copies});
  std::vector<ViewPlan> apart;
  for (const ViewPlan& plan : plans) {
    if (plan.view->saved_form == 0) {
      throw UsageError(
          fmt::format("the view {} cannot be saved: it needs the trace; those that can are {}",
                      plan.view->name, all));
    }
    std::optional<ViewPlan> with_steps = WithSteps(plan);
    if (with_steps) apart.push_back(*std::move(with_steps));
  }
  std::move(apart.begin(), apart.end(), std::back_inserter(plans));
  return plans;
}

void SummarySink::BeginInput(const parse::KernelRecords* profile) {
  runner_.BeginInput(profile);
  if (runner_.run() != nullptr) NameRank(runner_.run()->rank());
}

void SummarySink::Add(const PricedKernel& kernel) {
  const std::string_view rank = kernel.record->rank.value_or(std::string_view());
  if (rank != last_rank_) {
    NameRank(rank);
    last_rank_ = rank;
  }
  runner_.Add(kernel);
}

void SummarySink::NameRank(std::string_view rank) {
  if (texts_ != SummaryTexts::kOfRun) return;
  if (rank.find_first_not_of("0123456789") == std::string_view::npos) return;
  if (renamed_.contains(rank)) return;
  const size_t next = renamed_.size() / 2 + 1;
  // "3 (FILE)" is a second rank 3.
  const size_t number = rank.find_first_not_of("0123456789");
  const bool numbered = number > 0 && rank.substr(number).starts_with(" (");
  std::string name = numbered ? fmt::format("{} (input {})", rank.substr(0, number), next)
                              : fmt::format("input {}", next);
  renamed_.emplace(fmt::format("rank {}", rank), fmt::format("rank {}", name));
  renamed_.emplace(rank, std::move(name));
}

void SummarySink::EndInput() {
  facts_.Add(runner_.run());
  runner_.EndInput();
}

void SummarySink::EndLastInput() {
  facts_.Add(runner_.run());
  runner_.EndLastInput();
}

std::string SummarySink::Changed(std::string_view text) const {
  if (IsMarkedHost(text)) return HashedHost(salt_, text.substr(1));
  const auto renamed = renamed_.find(text);
  return renamed != renamed_.end() ? renamed->second : cutter_.Cut(text);
}

SummaryFile SummarySink::Take(std::string_view writer) {
  SummaryFile summary;
  summary.writer = writer;
  summary.facts = facts_.Texts();
  std::function<std::string(std::string_view)> change;
  if (texts_ != SummaryTexts::kWhole) {
    change = [this](std::string_view text) { return Changed(text); };
  }
  const std::vector<std::unique_ptr<Partial>> partials = runner_.TakePartials();
  for (size_t i = 0; i < plans_.size(); ++i) {
    summary.sections.push_back(
        SaveSection(*plans_[i].view, plans_[i].options, *partials[i], change));
  }
  if (TakeCalls(plans_)) summary.calls = SaveCalls(runner_.TakeCalls(), change);
  return summary;
}

bool HoldsView(const SummaryFile& summary, const ViewPlan& plan) {
  return FindSection(summary.sections, *plan.view, plan.options) != nullptr ||
         SectionOfCalls(summary, plan) != nullptr;
}

std::unique_ptr<Partial> LoadView(const SummaryFile& summary, const ViewPlan& plan,
                                  std::span<const std::string> ranks, std::string_view path) {
  const Section* const section = FindSection(summary.sections, *plan.view, plan.options);
  const Section* const other = section == nullptr ? SectionOfCalls(summary, plan) : nullptr;
  if (other != nullptr) {
    ViewOptions whole = plan.options;
    whole.by.clear();
    std::unique_ptr<Partial> partial = plan.view->make(plan.options);
    partial->Merge(*LoadPartial(*other, whole, ranks, path));
    return partial;
  }
  if (section == nullptr) {
    const auto& by = plan.options.by;
    throw Error(std::string(path),
                fmt::format("does not hold the view {}{}{}", plan.view->name,
                            by.empty() ? "" : " --by ", fmt::join(by, ",")),
                "it needs the trace");
  }
  return LoadPartial(*section, plan.options, ranks, path);
}

void AddSummary(const SummaryFile& summary, const std::vector<ViewPlan>& plans,
                std::span<const std::string> ranks, std::string_view path, ViewRunner* runner) {
  std::vector<std::unique_ptr<Partial>> partials;
  for (const ViewPlan& plan : plans) partials.push_back(LoadView(summary, plan, ranks, path));
  runner->AddPartials(std::move(partials),
                      TakeCalls(plans) ? LoadCalls(summary.calls, ranks, path) : CollectiveSet());
}

}  // namespace oplens::prof
