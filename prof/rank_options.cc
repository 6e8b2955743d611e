#include "prof/rank_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/append_format.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/words.h"
#include "prof/summary_file/stamp.h"

namespace oplens::prof {
namespace {

/// Views for comparing ranks.
constexpr std::string_view kDefaultViews =
    "ranks,collectives,culprits,stragglers,imbalance,distributed,overview,operators,groups";
constexpr std::string_view kGroups = "groups";
constexpr std::string_view kGroupsBy = "op,layer";

/// Options that change the results; kFiles name files.
constexpr const char* kTexts[] = {"op",         "range",  "step",  "gpu",        "evidence",
                                  "time-range", "device", "where", "step-range", "salt"};
constexpr const char* kFlags[] = {"all-steps"};
constexpr const char* kFiles[] = {"rules", "reference", "execution-trace", "counters"};

bool Saves(const View& view) { return view.saved_form > 0; }

void RefuseUnsaved(const std::vector<ViewPlan>& plans) {
  for (const ViewPlan& plan : plans) {
    if (Saves(*plan.view)) continue;
    throw UsageError(
        fmt::format("the view {} cannot be in a summary: it needs the trace", plan.view->name));
  }
}

bool IsSame(const ViewPlan& a, const ViewPlan& b) {
  return a.view == b.view && a.options.by == b.options.by;
}

std::string AllThatSave() {
  std::string names;
  for (const View& view : Views()) {
    if (Saves(view)) AppendFormat(&names, "{}{}", names.empty() ? "" : ",", view.name);
  }
  return names;
}

}  // namespace

void AddRankOptions(cxxopts::OptionAdder add) {
  add("summary",
      "For each input, save what the views of --summary-views and --view found, as FILE.oplens "
      "beside it (for one input: in the file of -o); prof --view shows many of them as one run "
      "(docs/ranks.md)");
  add("summary-views",
      "With --summary: the views to save, separated by commas, or 'all' that can be saved "
      "(default: ranks, collectives, culprits, stragglers, imbalance, distributed, overview, "
      "operators, groups by op and layer)",
      cxxopts::value<std::string>(), "VIEWS");
  add("summary-dir", "With --summary: write the files to this folder, which must exist",
      cxxopts::value<std::string>(), "DIR");
  add("salt",
      "Salt of the hashes that replace machine names in summaries: a text that is the same for all "
      "ranks of a run (default: the full path of their folder)",
      cxxopts::value<std::string>(), "TEXT");
  add("jobs", "How many inputs to read at a time (default: as many as there are cores)",
      cxxopts::value<int>(), "N");
  add("allow-missing",
      "How many inputs may be missing or broken before the exit code is 3 (default: 0)",
      cxxopts::value<int>(), "N");
}

ManyOptions ReadManyOptions(const cxxopts::ParseResult& given) {
  constexpr int kMostJobs = 4096;
  ManyOptions many;
  many.jobs = std::max(1U, std::thread::hardware_concurrency());
  if (given.count("jobs") > 0) {
    const int jobs = given["jobs"].as<int>();
    if (jobs < 1 || jobs > kMostJobs) {
      throw UsageError(fmt::format("--jobs: give a number from 1 to {}", kMostJobs));
    }
    many.jobs = static_cast<size_t>(jobs);
  }
  if (given.count("allow-missing") > 0) {
    const int most = given["allow-missing"].as<int>();
    if (most < 0) throw UsageError("--allow-missing: the least number is 0");
    many.allow_missing = static_cast<size_t>(most);
  }
  if (given.count("salt") > 0) many.salt = given["salt"].as<std::string>();
  return many;
}

RankSummaryOptions ReadRankSummary(const cxxopts::ParseResult& given) {
  RankSummaryOptions options;
  if (given.count("summary-dir") > 0) {
    options.folder = GivenText(given, "summary-dir");
    std::error_code error;
    if (!std::filesystem::is_directory(options.folder, error)) {
      throw UsageError(
          fmt::format("--summary-dir: {} is no folder: make it first", options.folder));
    }
  }
  std::string text;
  for (const char* option : kTexts) {
    if (given.count(option) == 0) continue;
    const bool number = option == std::string_view("device");
    AppendFormat(
        &text, "{}={}\n", option,
        number ? std::to_string(given[option].as<int64_t>()) : given[option].as<std::string>());
  }
  for (const char* option : kFlags) {
    if (given.count(option) > 0) AppendFormat(&text, "{}\n", option);
  }
  for (const char* option : kFiles) {
    if (given.count(option) == 0) continue;
    const bool several = option == std::string_view("execution-trace");
    const std::vector<std::string> paths =
        several ? given[option].as<std::vector<std::string>>()
                : std::vector<std::string>{given[option].as<std::string>()};
    for (const std::string& path : paths) AppendFormat(&text, "{}={}\n", option, StampOf(path));
  }
  options.made_with = HashOf(text);
  return options;
}

std::vector<ViewPlan> PlanRankSummary(std::string_view list, std::string_view views,
                                      std::string_view by) {
  const std::string all = AllThatSave();
  if (list.empty()) list = kDefaultViews;
  if (list == "all") list = all;
  std::vector<ViewPlan> plans = PlanViews({.list = list, .option = "--summary-views"});
  for (ViewPlan& plan : plans) {
    if (plan.view->name == kGroups) plan = PlanViews({.list = kGroups, .by = kGroupsBy}).front();
  }
  if (!views.empty()) {
    for (ViewPlan& plan : PlanViews({.list = views == "all" ? all : views, .by = by})) {
      const auto same = [&](const ViewPlan& other) { return IsSame(plan, other); };
      if (std::none_of(plans.begin(), plans.end(), same)) plans.push_back(std::move(plan));
    }
  }
  RefuseUnsaved(plans);
  return plans;
}

}  // namespace oplens::prof
