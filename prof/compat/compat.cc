#include "prof/compat/compat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/near_words.h"
#include "base/words.h"
#include "parse/model/trace_needs.h"
#include "prof/compat/hta/activity.h"
#include "prof/compat/hta/views.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/compat/torch/views.h"
#include "prof/table/top_rows.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kCompatWords[] = {"tb",         "hta",        "torch",
                                             "torch-1.13", "torch-2.13", "torch-legacy"};

constexpr std::string_view kIsPyTorchs =
    "with --compat torch the table is PyTorch's: leave one of them out";

/// A view by the rules of another tool; its other properties are those of our view of the name.
struct CompatView {
  std::string_view rules;  ///< A word of --compat; entries of one word are adjacent.
  std::string_view name;
  std::unique_ptr<Partial> (*make)(const ViewOptions& options);
  TraceNeeds needs = {};  ///< In addition to ours.
  std::span<const std::string_view> (*sort_words)() = nullptr;
};

constexpr TraceNeeds kTorchNeeds{TracePart::kTorchFunctions};
constexpr TraceNeeds kTbStepsNeeds{TracePart::kApiCalls, TracePart::kTorchEvents};

constexpr CompatView kCompatViews[] = {
    {"tb", "advice", MakeTbAdvice,
     kTbStepsNeeds | TraceNeeds{TracePart::kApiTimes, TracePart::kMemoryEvents}},
    {"tb", "overview", MakeTbOverview, kTbStepsNeeds},
    {"tb", "gpu", MakeTbGpu, kTbTreeNeeds},
    {"tb", "operators", MakeTbOperators, kTbTreeNeeds},
    {"tb", "modules", MakeTbModules, kTbTreeNeeds},
    {"tb", "groups", MakeTbKernels, kTbTreeNeeds},
    {"tb", "memory", MakeTbMemory},
    {"tb", "memory-events", MakeTbMemoryEvents, kTbTreeNeeds},
    {"tb", "memory-ops", MakeTbMemoryOps, kTbTreeNeeds},
    {"tb", "distributed", MakeTbDistributed, kTbStepsNeeds},
    {"tb", "collectives", MakeTbCollectives, kTbStepsNeeds},
    {"hta", "groups", MakeHtaKernels},
    {"hta", "kernel-types", MakeHtaKernelTypes},
    {"hta", "temporal", MakeHtaTemporal},
    {"hta", "idle", MakeHtaIdle, kHtaActivityNeeds},
    {"hta", "launches", MakeHtaLaunches, kHtaActivityNeeds},
    {"hta", "queue", MakeHtaQueue, kHtaActivityNeeds},
    {"hta", "bandwidth", MakeHtaBandwidth, kHtaActivityNeeds},
    {"hta", "critical-path", MakeHtaCriticalPath, kHtaCriticalPathNeeds},
    {"torch", "stacks", MakeTorchStacks<0>, kTorchNeeds},
    {"torch", "events", MakeTorchEvents<0>, kTorchNeeds, TorchSortWords},
    {"torch-1.13", "stacks", MakeTorchStacks<kTorch113>},
    {"torch-1.13", "events", MakeTorchEvents<kTorch113>, {}, Torch113SortWords},
    {"torch-2.13", "stacks", MakeTorchStacks<kTorch213>, kTorchNeeds},
    {"torch-2.13", "events", MakeTorchEvents<kTorch213>, kTorchNeeds, TorchSortWords},
    {"torch-legacy", "stacks", MakeTorchStacks<kTorch113>},
    {"torch-legacy", "events", MakeTorchLegacyEvents, {}, TorchLegacySortWords},
};

std::vector<View> MakeCompatViews() {
  std::vector<View> views;
  for (const CompatView& entry : kCompatViews) {
    for (const View& ours : Views()) {
      if (ours.name != entry.name) continue;
      View& view = views.emplace_back(ours);
      view.rules = entry.rules;
      view.make = entry.make;
      view.make_together = nullptr;
      view.needs = ours.needs | entry.needs;
      if (entry.sort_words != nullptr) view.sort_words = entry.sort_words();
      if (entry.rules.starts_with("torch")) view.refuses_where = kIsPyTorchs;
      view.calls = false;
      view.saved_form = 0;
    }
  }
  return views;
}

constexpr CompatDiffRules kCompatDiffRules[] = {
    {"tb", TbDiffTreeView, kTbDiffTables, kTbDiffKeys, MakeTbDiff},
    {"hta", HtaDiffNamesView, kHtaDiffTables, kHtaDiffKeys, MakeHtaDiff},
};

/// Adds the words of a list without duplicates. Throws UsageError for one that is not in `known`.
void ReadWords(const CompatDiffRules& rules, std::string_view option, std::string_view list,
               std::span<const std::string_view> known, std::vector<std::string>* words) {
  if (list.empty()) return;
  for (const std::string_view word : WordsOf(list)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw UsageError(fmt::format(
          "--{}: {}", option,
          NoSuchName("word", word, {known.begin(), known.end()},
                     fmt::format("with --diff --compat {} the words are", rules.word))));
    }
    if (std::find(words->begin(), words->end(), word) == words->end()) words->emplace_back(word);
  }
}

ViewPlan SideOf(const View& view) {
  ViewPlan plan;
  plan.view = &view;
  plan.places.resize(view.fields().size());
  std::iota(plan.places.begin(), plan.places.end(), size_t{0});
  return plan;
}

}  // namespace

std::span<const std::string_view> CompatWords() { return kCompatWords; }

std::span<const View> CompatViews(std::string_view word) {
  static const std::vector<View> views = MakeCompatViews();
  const auto is = [word](const View& view) { return view.rules == word; };
  const auto first = std::find_if(views.begin(), views.end(), is);
  return {first, std::find_if_not(first, views.end(), is)};
}

CompatDiffPlan PlanCompatDiff(std::string_view word, std::string_view list, std::string_view by,
                              bool one_table, std::vector<ViewPlan>* sides) {
  const auto rules =
      std::find_if(std::begin(kCompatDiffRules), std::end(kCompatDiffRules),
                   [word](const CompatDiffRules& entry) { return entry.word == word; });
  if (rules == std::end(kCompatDiffRules)) {
    throw UsageError("--compat: PyTorch's tables compare nothing: with --diff it is tb or hta");
  }
  CompatDiffPlan plan;
  plan.rules = rules;
  ReadWords(*rules, "view", list, rules->tables, &plan.tables);
  ReadWords(*rules, "by", by, rules->by, &plan.by);
  if (list.empty()) {
    plan.tables.assign(rules->tables.begin(), rules->tables.end());
    if (one_table) plan.tables.resize(1);
  }
  if (one_table && plan.tables.size() > 1) {
    throw UsageError("several views need --json or --sqlite: give one of them, or one view");
  }
  *sides = {SideOf(rules->view())};
  return plan;
}

std::vector<std::string> PrintCompatDiff(const CompatDiffPlan& plan, const DiffInput& base,
                                         const DiffInput& now, Destination* destination) {
  const std::unique_ptr<OtherDiff> diff = plan.rules->make(base, now, plan.by);
  std::vector<std::string> notes = diff->Notes();
  bool first = true;
  for (const std::string& table : plan.tables) {
    const std::unique_ptr<Sink> sink = destination->NewTable();
    sink->Words((first ? diff->Words() : std::string()) + fmt::format("\n{}\n", table));
    first = false;
    TopRows rows(std::nullopt, plan.top, sink.get());
    diff->Write(table, &rows);
    std::string sentence = rows.Sentence("rows of " + table);
    if (!sentence.empty()) notes.push_back(std::move(sentence));
  }
  return notes;
}

}  // namespace oplens::prof
