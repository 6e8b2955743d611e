#include "prof/gate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "prof/gate/amount.h"
#include "prof/gate/selected_rows.h"

namespace oplens::prof {
namespace {

using Rows = std::vector<const DiffRow*>;

/// What is compared with the threshold.
struct Measured {
  std::optional<double> value;
  std::string missing;  ///< Why there is none.
};

/// Of what adds up nothing is 0.
bool AddsUp(const Field& field) { return field.fold == Fold::kSum; }

bool HasBase(const Diff& diff) { return !diff.base_name.empty(); }

/// The change of a figure, 0 within the noise; percent of the base where that is asked.
Measured MeasureChange(const GateExpression& expression, const Figure& figure, bool adds_up) {
  std::optional<double> base = figure.base;
  std::optional<double> now = figure.now;
  if (adds_up && (base || now)) {
    base = base.value_or(0);
    now = now.value_or(0);
  }
  if (!base && !now) return {std::nullopt, "neither run has a value of it"};
  if (!base) return {std::nullopt, "the base has no value of it"};
  if (!now) return {std::nullopt, "the new run has no value of it"};
  const double change = figure.verdict == Verdict::kSame ? 0 : *now - *base;
  if (!expression.of_base || change == 0) return {change, {}};
  if (*base == 0) return {std::copysign(std::numeric_limits<double>::infinity(), change), {}};
  return {100 * change / std::abs(*base), {}};
}

Measured MeasureSide(const GateExpression& expression, const Figure& figure, bool adds_up,
                     const Diff& diff) {
  Measured measured;
  if (!expression.change) {
    measured.value = figure.now;
    if (!figure.now) measured.missing = "the new run has no value of it";
  } else if (!HasBase(diff)) {
    measured.missing = "a change needs a base: give two runs with --diff";
  } else {
    measured = MeasureChange(expression, figure, adds_up);
  }
  if (measured.value && std::isnan(*measured.value)) return {std::nullopt, "it is no number"};
  return measured;
}

/// "12.000 ms -> 14.000 ms, +2.000 ms (+16.7 %)", with what is known of the noise.
std::string EvaluateTextOf(const GateExpression& expression, const Figure& figure) {
  const std::string_view unit = expression.unit;
  const auto side = [&](const std::optional<double>& value) {
    return value ? AmountText(*value, unit) : std::string("nothing");
  };
  if (!expression.change) return side(figure.now);
  const double base = figure.base.value_or(0);
  const double change = figure.now.value_or(0) - base;
  std::string text =
      fmt::format("{} -> {}, {}", side(figure.base), side(figure.now), ChangeText(change, unit));
  if (base != 0) text += fmt::format(" ({:+.1f} % of the base)", 100 * change / std::abs(base));
  if (figure.verdict == Verdict::kSame) text += "; that is within the noise";
  if (figure.verdict == Verdict::kUnknown) text += "; too few steps to tell it from noise";
  return text;
}

/// Judges the rows of one view.
class RowsJudge {
 public:
  RowsJudge(const GateExpression& expression, const DiffTable& table, const Diff& diff,
            const SelectedRows& selected)
      : expression_(expression), table_(table), diff_(diff), selected_(selected) {}

  void Judge(GateItem* item) const;

 private:
  struct Group {
    Rows rows;
    Figure figure;
    Measured measured;
  };

  Group Grouped(Rows rows) const;
  std::vector<Group> Groups() const;
  void JudgeSum(GateItem* item) const;
  void JudgeAny(GateItem* item) const;
  void AddRows(std::vector<Group> groups, bool all_keys, GateItem* item) const;

  const GateExpression& expression_;
  const DiffTable& table_;
  const Diff& diff_;
  const SelectedRows& selected_;
};

RowsJudge::Group RowsJudge::Grouped(Rows rows) const {
  Group group{.rows = std::move(rows), .figure = {}, .measured = {}};
  const size_t figure = selected_.figure();
  group.figure = group.rows.size() == 1 ? group.rows.front()->figures[figure]
                                        : SumOf(table_, figure, group.rows).figure;
  group.measured = MeasureSide(expression_, group.figure, AddsUp(table_.figures[figure]), diff_);
  return group;
}

/// Rows with equal values of the keys that are named; each row where none is.
std::vector<RowsJudge::Group> RowsJudge::Groups() const {
  std::map<std::vector<std::string_view>, Rows> by_keys;
  for (const DiffRow* row : selected_.rows()) {
    std::vector<std::string_view> values;
    for (const size_t place : selected_.key_places()) {
      values.emplace_back(place < row->keys.size() ? std::string_view(row->keys[place])
                                                   : std::string_view());
    }
    if (values.empty()) values.assign(row->keys.begin(), row->keys.end());
    by_keys[std::move(values)].push_back(row);
  }
  std::vector<Group> groups;
  for (auto& [values, rows] : by_keys) groups.push_back(Grouped(std::move(rows)));
  return groups;
}

/// Those that count most for the expression first, equal ones as they come.
void RowsJudge::AddRows(std::vector<Group> groups, bool all_keys, GateItem* item) const {
  const bool largest =
      expression_.relation == Relation::kMore || expression_.relation == Relation::kMoreOrEqual;
  const auto weight = [&](const Group& group) {
    const double value = expression_.change
                             ? group.figure.now.value_or(0) - group.figure.base.value_or(0)
                             : group.figure.now.value_or(std::numeric_limits<double>::lowest());
    return largest ? -value : value;
  };
  // Where some rows go the way that breaks it, the others are no news.
  const auto other_way = [&](const Group& group) {
    return expression_.change && weight(group) >= 0;
  };
  if (!std::ranges::all_of(groups, other_way)) std::erase_if(groups, other_way);
  std::ranges::stable_sort(groups, {}, weight);
  for (const Group& group : groups) {
    if (item->rows.size() == kMostGateRows) {
      ++item->more_rows;
    } else {
      item->rows.push_back({selected_.NameOf(*group.rows.front(), all_keys), group.figure});
    }
  }
}

void RowsJudge::JudgeSum(GateItem* item) const {
  Group sum = Grouped(selected_.rows());
  item->value = sum.figure;
  if (!sum.measured.value) {
    item->outcome = GateOutcome::kNoData;
    item->message = sum.measured.missing;
    if (selected_.rows().size() > 1 && !sum.figure.base && !sum.figure.now) {
      item->message = fmt::format(
          "of the {} rows of {} that match {} cannot be had together: name one by its keys, or say "
          "'any'",
          selected_.rows().size(), table_.view, expression_.figure);
    }
    return;
  }
  item->message = EvaluateTextOf(expression_, sum.figure);
  if (!expression_.Breaks(*sum.measured.value)) return;
  item->outcome = GateOutcome::kBroken;
  std::vector<Group> groups;
  for (const DiffRow* row : selected_.rows()) groups.push_back(Grouped({row}));
  AddRows(std::move(groups), true, item);
}

void RowsJudge::JudgeAny(GateItem* item) const {
  std::vector<Group> groups = Groups();
  const size_t all = groups.size();
  std::string missing;
  std::erase_if(groups, [&](const Group& group) {
    if (group.measured.value) return false;
    missing = group.measured.missing;
    return true;
  });
  if (groups.empty()) {
    item->outcome = GateOutcome::kNoData;
    item->message = missing;
    return;
  }
  const size_t unknown = all - groups.size();
  std::erase_if(groups,
                [&](const Group& group) { return !expression_.Breaks(*group.measured.value); });
  item->message = fmt::format("{} of {} rows", groups.size(), all);
  if (unknown > 0) item->message += fmt::format("; {} have no value", unknown);
  if (groups.empty()) return;
  item->outcome = GateOutcome::kBroken;
  AddRows(std::move(groups), selected_.key_places().empty(), item);
  item->value = item->rows.front().figure;
  item->message += fmt::format("; the first: {}", EvaluateTextOf(expression_, item->value));
}

void RowsJudge::Judge(GateItem* item) const {
  if (expression_.any) {
    JudgeAny(item);
  } else {
    JudgeSum(item);
  }
}

void JudgeTotal(const GateExpression& expression, const Diff& diff, GateItem* item) {
  item->value = diff.total;
  const Measured measured = MeasureSide(expression, diff.total, false, diff);
  if (!measured.value) {
    item->outcome = GateOutcome::kNoData;
    item->message = measured.missing;
    return;
  }
  item->message = EvaluateTextOf(expression, diff.total);
  if (expression.Breaks(*measured.value)) item->outcome = GateOutcome::kBroken;
}

}  // namespace

GateItem Evaluate(const GateExpression& expression, const Diff& diff) {
  GateItem item;
  item.expression = expression.text;
  item.view = expression.view;
  item.figure = expression.figure;
  item.unit = expression.unit;
  if (expression.IsTotal()) {
    JudgeTotal(expression, diff, &item);
    return item;
  }
  const DiffTable* table = diff.TableOf(expression.view);
  if (table == nullptr) {
    item.outcome = GateOutcome::kNoData;
    item.message = fmt::format("the diff does not hold {}", expression.view);
    return item;
  }
  SelectedRows selected(expression, *table, diff);
  item.message = selected.Select();
  if (!item.message.empty()) {
    item.outcome = GateOutcome::kNoData;
  } else {
    RowsJudge(expression, *table, diff, selected).Judge(&item);
  }
  return item;
}

}  // namespace oplens::prof
