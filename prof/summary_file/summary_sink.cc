#include "prof/summary_file/summary_sink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "parse/model/kernel_record.h"
#include "prof/summary_file/hashed_host.h"
#include "prof/views/host_mark.h"

namespace oplens::prof {
namespace {

/// The names of all that save.
std::string AllThatSave() {
  std::string list;
  for (const View& view : Views()) {
    if (view.saved_form == 0) continue;
    if (!list.empty()) list += ',';
    list += view.name;
  }
  return list;
}

}  // namespace

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

std::unique_ptr<Partial> LoadView(const SummaryFile& summary, const ViewPlan& plan,
                                  std::span<const std::string> ranks, std::string_view path) {
  const Section* const section = FindSection(summary.sections, *plan.view, plan.options);
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
