#include "prof/diff/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "prof/diff/align_places.h"
#include "prof/diff/diff.h"
#include "prof/diff/explain.h"
#include "prof/diff/main_figure.h"
#include "prof/diff/pair_rows.h"
#include "prof/diff/place_diff.h"
#include "prof/diff/side.h"
#include "prof/table/field.h"
#include "prof/table/kept_rows.h"
#include "prof/table/sink_chain.h"
#include "prof/verdicts/noise.h"
#include "prof/views/common/rank_order.h"

namespace oplens::prof {
namespace {

struct ViewRows {
  const KeptRows* plain = nullptr;    ///< As the view emits them.
  const KeptRows* by_step = nullptr;  ///< Also by rank and step; null: not supported.
};

bool IsTime(const Field& field) { return field.key == "rank" || field.key == "step"; }

bool IsFigure(const Field& field) {
  if (field.type != FieldType::kInteger && field.type != FieldType::kDecimal) return false;
  // Positions in different recordings are not comparable.
  if (field.key == "start_ns") return false;
  return !field.ratio.empty() || (field.fold != Fold::kNone && field.fold != Fold::kKey);
}

struct Values {
  std::vector<double> by_sample;  ///< If it adds up and the view has steps.
  std::optional<double> value;
};

using Keys = RowKeys;
using SideRowsByKey = std::map<Keys, std::vector<Values>>;

/// Folds the rows of one side by key.
class Folder {
 public:
  Folder(const Side& side, const std::vector<Field>& keys, const std::vector<Field>& figures)
      : side_(side), keys_(keys), figures_(figures) {}

  SideRowsByKey Fold(const ViewRows& rows) {
    if (rows.by_step != nullptr) AddSteps(*rows.by_step);
    if (rows.plain != nullptr && rows.plain != rows.by_step) {
      AddWhole(*rows.plain, rows.by_step != nullptr);
    }
    for (auto& [key, values] : found_) FillRatios(&values);
    return std::move(found_);
  }

 private:
  std::vector<Values>& RowOf(const KeptRows& rows, size_t row) {
    Keys keys;
    for (const Field& key : keys_) {
      const std::optional<size_t> column = rows.ColumnOf(key.key);
      keys.push_back(column ? rows.Printed(row, *column) : std::string());
    }
    std::vector<Values>& values = found_[std::move(keys)];
    values.resize(figures_.size());
    return values;
  }

  bool StandsForOthers(const KeptRows& rows, size_t row) const {
    for (size_t i = 0; i < rows.fields().size(); ++i) {
      const std::string_view whole = rows.fields()[i].whole;
      if (!whole.empty() && rows.Text(row, i) == whole) return true;
    }
    return false;
  }

  void AddSteps(const KeptRows& rows) {
    const std::optional<size_t> rank = rows.ColumnOf("rank");
    const std::optional<size_t> step = rows.ColumnOf("step");
    if (!step) return;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (StandsForOthers(rows, row)) continue;
      const std::optional<uint32_t> sample = side_.SampleOf(
          rank ? rows.Text(row, *rank) : std::string_view(), rows.Printed(row, *step));
      if (!sample) continue;
      std::vector<Values>& values = RowOf(rows, row);
      for (size_t i = 0; i < figures_.size(); ++i) {
        const std::optional<double> number = rows.Number(row, figures_[i].key);
        if (number) AddStep(figures_[i], *sample, *number, &values[i]);
      }
    }
    for (auto& [key, values] : found_) {
      for (Values& one : values) {
        if (!one.by_sample.empty()) one.value = MeanOf(one.by_sample);
      }
    }
  }

  void AddStep(const Field& figure, uint32_t sample, double number, Values* to) const {
    switch (figure.fold) {
      case Fold::kSum:
        to->by_sample.resize(side_.samples().size(), 0);
        to->by_sample[sample] += number;
        break;
      case Fold::kMin:
        to->value = std::min(to->value.value_or(number), number);
        break;
      case Fold::kMax:
        to->value = std::max(to->value.value_or(number), number);
        break;
      default:
        break;
    }
  }

  /// Adds rows over all steps. `has_steps`: only figures that rows by step do not have.
  void AddWhole(const KeptRows& rows, bool has_steps) {
    const auto steps = static_cast<double>(std::max<size_t>(side_.samples().size(), 1));
    std::map<std::vector<Values>*, size_t> seen;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (StandsForOthers(rows, row)) continue;
      std::vector<Values>& values = RowOf(rows, row);
      ++seen[&values];
      for (size_t i = 0; i < figures_.size(); ++i) {
        const Field& figure = figures_[i];
        const std::optional<double> number = rows.Number(row, figure.key);
        if (!number) continue;
        const bool of_steps = figure.fold == prof::Fold::kSum || figure.fold == prof::Fold::kMin ||
                              figure.fold == prof::Fold::kMax;
        if (of_steps) {
          if (has_steps) continue;
          AddWholeSum(figure, figure.fold == prof::Fold::kSum ? *number / steps : *number,
                      &values[i]);
        } else if (figure.ratio.empty()) {
          // Several rows, such as of ranks, have no single value.
          values[i].value = seen[&values] == 1 ? number : std::nullopt;
        }
      }
    }
  }

  static void AddWholeSum(const Field& figure, double number, Values* to) {
    if (!to->value) {
      to->value = number;
    } else if (figure.fold == prof::Fold::kSum) {
      *to->value += number;
    } else {
      to->value = figure.fold == prof::Fold::kMin ? std::min(*to->value, number)
                                                  : std::max(*to->value, number);
    }
  }

  std::optional<double> ValueOf(std::string_view key, const std::vector<Values>& values) const {
    for (size_t i = 0; i < figures_.size(); ++i) {
      if (figures_[i].key == key) return values[i].value;
    }
    return std::nullopt;
  }

  void FillRatios(std::vector<Values>* values) const {
    for (size_t i = 0; i < figures_.size(); ++i) {
      const FieldRatio& ratio = figures_[i].ratio;
      if (ratio.empty()) continue;
      std::optional<double> of;
      for (std::string_view parts = ratio.of; !parts.empty();) {
        const size_t end = std::min(parts.find('+'), parts.size());
        const std::optional<double> part = ValueOf(parts.substr(0, end), *values);
        if (part) of = of.value_or(0) + *part;
        parts.remove_prefix(std::min(end + 1, parts.size()));
      }
      const std::optional<double> over = ValueOf(ratio.over, *values);
      (*values)[i].by_sample.clear();
      (*values)[i].value =
          of && over && *over != 0 ? std::optional(*of * ratio.times / *over) : std::nullopt;
    }
  }

  const Side& side_;
  const std::vector<Field>& keys_;
  const std::vector<Field>& figures_;
  SideRowsByKey found_;
};

/// Fills in the last figure, a sum of others; unknown without any of them.
void FillSum(const SummedFigure& summed, const std::vector<Field>& figures, SideRowsByKey* rows) {
  for (auto& [keys, values] : *rows) {
    Values& sum = values.back();
    for (const std::string_view part : summed.parts) {
      const auto place = std::ranges::find(figures, part, &Field::key);
      if (place == figures.end()) continue;
      const Values& one = values[static_cast<size_t>(place - figures.begin())];
      if (one.value) sum.value = sum.value.value_or(0) + *one.value;
      if (one.by_sample.size() > sum.by_sample.size()) sum.by_sample.resize(one.by_sample.size());
      for (size_t i = 0; i < one.by_sample.size(); ++i) sum.by_sample[i] += one.by_sample[i];
    }
  }
}

/// The keys of rows that the other side does not have.
std::vector<Keys> AloneOf(const SideRowsByKey& side, const SideRowsByKey& other) {
  std::vector<Keys> alone;
  for (const auto& [keys, values] : side) {
    if (!other.contains(keys)) alone.push_back(keys);
  }
  return alone;
}

void JudgeRow(const Field& field, const Values* base, const Values* now, const Side& base_side,
              const Side& now_side, size_t comparisons, Figure* figure) {
  if (base != nullptr) figure->base = base->value;
  if (now != nullptr) figure->now = now->value;
  figure->adds_up = field.fold == Fold::kSum;
  const bool adds_up = figure->adds_up;
  const std::optional<double> delta = figure->delta();
  if (!delta) return;
  if (*delta == 0) {
    figure->verdict = Verdict::kSame;
    return;
  }
  const bool steps =
      (base == nullptr || !base->by_sample.empty()) && (now == nullptr || !now->by_sample.empty());
  if (adds_up && steps) {
    const auto samples = [](const Values* values, const Side& side) {
      return values != nullptr ? values->by_sample : std::vector<double>(side.samples().size(), 0);
    };
    const Noise noise = NoiseOf(samples(base, base_side), samples(now, now_side), comparisons);
    figure->band = noise.band;
    figure->verdict = noise.verdict;
  }
  if (figure->verdict == Verdict::kSame) return;
  if (base == nullptr || now == nullptr) {
    figure->change = now != nullptr ? Change::kAdded : Change::kRemoved;
  } else if (field.unit == "ns") {
    figure->change = *delta > 0 ? Change::kSlower : Change::kFaster;
  } else {
    figure->change = Change::kCount;
  }
}

/// Whether rows with these fields can be joined and compared.
bool HasKeysAndFigures(std::span<const Field> fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const Field& field) { return field.fold == Fold::kKey; }) &&
         std::any_of(fields.begin(), fields.end(), IsFigure);
}

/// A view of both runs joined by its key fields except rank and step, over which it averages. Sums
/// become means per complete step (without steps in the view, the sum over the number of steps),
/// ratios the ratio of their sums, minima and maxima those over steps. Means and quantiles are of
/// the whole run. `renamed`: RenamedPaths.
DiffTable DiffView(const Side& base, const ViewRows& base_rows, const Side& now,
                   const ViewRows& now_rows, const std::map<std::string, std::string>& renamed) {
  DiffTable table;
  const KeptRows& rows = now_rows.plain != nullptr ? *now_rows.plain : *now_rows.by_step;
  table.view = rows.name();
  for (const Field& field : rows.fields()) {
    if (field.fold == Fold::kKey && !IsTime(field)) table.keys.push_back(field);
    if (IsFigure(field)) table.figures.push_back(field);
  }
  table.shown_figures = table.figures.size();
  table.explains_total = table.view == "overview";
  const SummedFigure* const summed = SummedFigureOf(table.view);
  if (summed != nullptr) table.figures.push_back(summed->field);
  SideRowsByKey base_of = Folder(base, table.keys, table.figures).Fold(base_rows);
  SideRowsByKey now_of = Folder(now, table.keys, table.figures).Fold(now_rows);
  if (summed != nullptr) {
    FillSum(*summed, table.figures, &base_of);
    FillSum(*summed, table.figures, &now_of);
  }
  const std::map<Keys, Keys> pairs =
      PairRows(table.keys, AloneOf(base_of, now_of), AloneOf(now_of, base_of), renamed);
  std::map<Keys, std::pair<const std::vector<Values>*, const std::vector<Values>*>> joined;
  for (const auto& [keys, values] : base_of) joined[keys].first = &values;
  for (const auto& [keys, values] : now_of) joined[keys].second = &values;
  for (const auto& [now_keys, base_keys] : pairs) {
    joined[now_keys].first = joined[base_keys].first;
    joined.erase(base_keys);
  }
  const size_t comparisons = joined.size() * table.shown_figures;
  for (const auto& [keys, both] : joined) {
    DiffRow row;
    row.keys = keys;
    if (const auto pair = pairs.find(keys); pair != pairs.end()) row.base_keys = pair->second;
    row.figures.resize(table.figures.size());
    for (size_t i = 0; i < table.figures.size(); ++i) {
      JudgeRow(table.figures[i], both.first != nullptr ? &(*both.first)[i] : nullptr,
               both.second != nullptr ? &(*both.second)[i] : nullptr, base, now, comparisons,
               &row.figures[i]);
    }
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    const auto size = [](const DiffRow& row) {
      return row.figures.empty() ? 0.0 : std::abs(row.figures.front().delta().value_or(0));
    };
    return size(a) > size(b);
  });
  table.main = MainFigureOf(table);
  return table;
}

constexpr std::string_view kAlignedView = "operators";  // The view of the aligned places.

bool Takes(const View& view, std::string_view word) {
  return std::find(view.by.begin(), view.by.end(), word) != view.by.end();
}

/// Whether the view's rows have a step in any case.
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
    throw UsageError(
        fmt::format("--diff: the rows of {} have no keys and figures to join two runs by", name));
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

std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes) {
  const KeptRows& rows = side.tables->At(0);
  const size_t column = rows.ColumnOf("rank").value_or(0);
  std::set<std::string_view, RankBefore> ranks;
  for (size_t row = 0; row < rows.size(); ++row) ranks.insert(rows.Text(row, column));
  if (ranks.empty()) return {};
  if (ranks.size() > 1) {
    notes->push_back(
        fmt::format("{} has {} ranks, of which these rules compare one: {}; for another one give "
                    "its file",
                    side.name, ranks.size(), *ranks.begin()));
  }
  return *ranks.begin();
}

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
        "{} places are in gaps too large to be aligned in order: they are paired by name alone",
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
        "records hold no length of steps: the total is the time on the GPU; give the profiles "
        "themselves");
  }
  const std::map<std::string, std::string> renamed = RenamedPaths(places.table);
  for (const DiffPlan::Of& view : plan.views) {
    if (view.view == kAlignedView) {
      diff.tables.push_back(places.table);
    } else {
      diff.tables.push_back(DiffView(base_side, CompareRowsOf(view, *base.tables), now_side,
                                     CompareRowsOf(view, *now.tables), renamed));
    }
  }
  return diff;
}

}  // namespace oplens::prof
