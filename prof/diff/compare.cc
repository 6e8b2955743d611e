#include "prof/diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "prof/diff/align_places.h"
#include "prof/diff/explain.h"
#include "prof/diff/place_diff.h"
#include "prof/diff/side.h"
#include "prof/diff/view_diff.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kAlignedView = "operators";  // What the aligned places are shown as.

bool Takes(const View& view, std::string_view word) {
  return std::find(view.by.begin(), view.by.end(), word) != view.by.end();
}

/// Whether the rows of the view are by step of their own.
bool HasStep(const View& view) {
  const std::span<const Field> fields = view.fields();
  return std::any_of(fields.begin(), fields.end(), [](const Field& field) {
    return field.key == "step" && field.fold == Fold::kKey;
  });
}

size_t Add(std::string_view view, std::string_view by, DiffPlan* plan) {
  plan->plans.push_back(PlanViews({.list = view, .by = by}).front());
  return plan->plans.size() - 1;
}

bool CanBeJoined(const View& view) {
  return view.make != nullptr && HasKeysAndFigures(FieldsOf(view, {}));
}

void AddView(std::string_view name, std::string_view by, DiffPlan* plan) {
  if (std::any_of(plan->views.begin(), plan->views.end(),
                  [&](const DiffPlan::Of& one) { return one.view == name; })) {
    return;
  }
  DiffPlan::Of of;
  of.view = name;
  if (name == kAlignedView) {
    plan->views.push_back(of);
    return;
  }
  const View& view = *PlanViews({.list = name}).front().view;
  if (!CanBeJoined(view)) {
    throw UsageError(fmt::format(
        "--diff: the rows of {} have no keys and figures by which two runs could be joined", name));
  }
  std::string own;
  for (const std::string_view word : WordsOf(by)) {
    if (!word.empty() &&
        Takes(view, view.groups_kernels ? word.substr(0, word.find_first_of(":~")) : word)) {
      own += own.empty() ? std::string(word) : fmt::format(",{}", word);
    }
  }
  if (HasStep(view)) {
    of.plain = name == "overview" ? DiffPlan::kOverview : Add(name, own, plan);
    of.by_step = of.plain;
  } else {
    of.plain = Add(name, own, plan);
    std::optional<ViewPlan> with_steps = WithSteps(plan->plans.back());
    if (with_steps) {
      of.by_step = plan->plans.size();
      plan->plans.push_back(*std::move(with_steps));
    }
  }
  plan->views.push_back(std::move(of));
}

ViewRows CompareRowsOf(const DiffPlan::Of& view, const KeptTables& tables) {
  ViewRows rows;
  if (view.plain) rows.plain = &tables.At(*view.plain);
  if (view.by_step) rows.by_step = &tables.At(*view.by_step);
  return rows;
}

}  // namespace

DiffPlan PlanDiff(std::string_view list, std::string_view by) {
  DiffPlan plan;
  Add("overview", "", &plan);
  Add("places", "rank,step", &plan);
  Add("setup", "", &plan);
  for (const std::string_view name : WordsOf(list)) {
    if (name != "all") {
      AddView(name, by, &plan);
      continue;
    }
    for (const View& view : Views()) {
      if (CanBeJoined(view)) AddView(view.name, by, &plan);
    }
  }
  return plan;
}

Diff Compare(const DiffPlan& plan, const DiffInput& base, const DiffInput& now) {
  const auto side = [](const DiffInput& input) {
    return Side(input.name, input.tables->At(DiffPlan::kOverview),
                input.tables->At(DiffPlan::kPlaces), input.tables->At(DiffPlan::kSetup));
  };
  const Side base_side = side(base);
  const Side now_side = side(now);
  Alignment alignment = AlignPlaces(base_side, now_side);
  Diff diff;
  diff.base_name = base.name;
  diff.new_name = now.name;
  diff.base_steps = static_cast<int64_t>(base_side.samples().size());
  diff.new_steps = static_cast<int64_t>(now_side.samples().size());
  if (alignment.unordered > 0) {
    diff.notes.push_back(fmt::format(
        "{} places lie in gaps that are too large for their order: they are paired by name alone",
        alignment.unordered));
  }
  PlaceDiff places = DiffPlaces(base_side, now_side, std::move(alignment));
  diff.total = TotalOf(base_side, now_side);
  diff.differences = DifferencesOf(base_side, now_side, places);
  diff.causes = CausesOf(base_side, now_side, places);
  diff.verdict = VerdictOf(diff);
  const std::string late = LateSteps(base_side, now_side);
  if (!late.empty()) diff.verdict += "; " + late;
  if (!base_side.has_steps() || !now_side.has_steps()) {
    diff.notes.push_back(
        "records tell no length of steps: the total is the time on the GPU; give the profiles "
        "themselves");
  }
  for (const DiffPlan::Of& view : plan.views) {
    if (view.view == kAlignedView) {
      diff.tables.push_back(places.table);
    } else {
      diff.tables.push_back(DiffView(base_side, CompareRowsOf(view, *base.tables), now_side,
                                     CompareRowsOf(view, *now.tables)));
    }
  }
  return diff;
}

}  // namespace oplens::prof
