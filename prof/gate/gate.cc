#include "prof/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/shown_text.h"
#include "prof/diff/diff.h"
#include "prof/gate/expression.h"
#include "prof/gate/gate_output.h"

namespace oplens::prof {
namespace {

inline constexpr size_t kMostGateRows = 50;

/// The rows of a view that an expression selects, and its figure.
///
/// A row matches by its keys in either run, names also as printed. Rows that stand for others
/// (Field::whole) count only if no other row matches. If a view's diff has a row per figure, the
/// figure's name selects the row.
class SelectedRows {
 public:
  /// All must outlive this object.
  SelectedRows(const GateExpression& expression, const DiffTable& table, const Diff& diff)
      : expression_(expression), table_(table), diff_(diff) {}

  /// Call once, before the others. Returns what is missing; "" if nothing is.
  std::string Select();

  const std::vector<const DiffRow*>& rows() const { return rows_; }
  size_t figure() const { return figure_; }
  /// Indices of the expression's keys in the table.
  const std::vector<size_t>& key_places() const { return key_places_; }
  /// "layer=decoder.0 op=mm": the known keys; all, or those of the expression.
  std::string NameOf(const DiffRow& row, bool all_keys) const;

 private:
  std::string PlaceKeys();
  bool Matches(const DiffRow& row) const;
  bool IsWhole(const DiffRow& row) const;
  void DropWholes();
  bool SelectByName();
  std::string NothingMatches() const;

  const GateExpression& expression_;
  const DiffTable& table_;
  const Diff& diff_;
  std::vector<size_t> key_places_;
  size_t figure_ = 0;
  std::vector<const DiffRow*> rows_;
};

/// The notes of a view, which say what is missing in the profile.
std::string NotesOf(const Diff& diff, std::string_view view) {
  std::string text;
  for (const std::string& note : diff.notes) {
    if (note.starts_with(view) && std::string_view(note).substr(view.size()).starts_with(":")) {
      text += "; " + note;
    }
  }
  return text;
}

std::string SelectedRows::PlaceKeys() {
  for (const GateExpression::Key& key : expression_.keys) {
    const auto at = std::ranges::find(table_.keys, key.key, &Field::key);
    if (at == table_.keys.end()) {
      return fmt::format("the diff of {} has no key '{}'", table_.view, key.key);
    }
    key_places_.push_back(static_cast<size_t>(at - table_.keys.begin()));
  }
  return {};
}

/// By the keys of either run, names also as printed.
bool SelectedRows::Matches(const DiffRow& row) const {
  for (size_t i = 0; i < key_places_.size(); ++i) {
    const size_t place = key_places_[i];
    const auto in = [&](const std::vector<std::string>& keys) {
      if (place >= keys.size()) return false;
      if (expression_.keys[i].Matches(keys[place])) return true;
      if (table_.keys[place].type != FieldType::kName) return false;
      std::string printed = keys[place];
      std::ranges::replace(printed, ' ', '_');
      return expression_.keys[i].Matches(printed);
    };
    if (!in(row.keys) && !in(row.base_keys)) return false;
  }
  return true;
}

bool SelectedRows::IsWhole(const DiffRow& row) const {
  for (size_t i = 0; i < row.keys.size() && i < table_.keys.size(); ++i) {
    if (!table_.keys[i].whole.empty() && row.keys[i] == table_.keys[i].whole) return true;
  }
  return false;
}

void SelectedRows::DropWholes() {
  const auto whole = [&](const DiffRow* row) { return IsWhole(*row); };
  if (!std::ranges::all_of(rows_, whole)) std::erase_if(rows_, whole);
}

/// Selects by name in a view with a row per figure.
bool SelectedRows::SelectByName() {
  if (!expression_.keys.empty()) return false;
  for (const DiffRow& row : table_.rows) {
    const bool named = !row.keys.empty() && !row.figures.empty() &&
                       (row.keys.front() == expression_.figure ||
                        row.keys.front() == WithoutUnit(expression_.figure));
    if (named) rows_.push_back(&row);
  }
  return !rows_.empty();
}

std::string SelectedRows::NothingMatches() const {
  constexpr size_t kShown = 3;
  const size_t place = key_places_.empty() ? 0 : key_places_.front();
  std::vector<std::string> known;
  for (const DiffRow& row : table_.rows) {
    if (place >= row.keys.size() || row.keys[place].empty()) continue;
    std::string shown = ShownText(row.keys[place]);
    if (std::ranges::find(known, shown) == known.end()) known.push_back(std::move(shown));
    if (known.size() == kShown) break;
  }
  std::string text = fmt::format("no row of {} matches", table_.view);
  for (size_t i = 0; i < known.size(); ++i) {
    text += (i == 0 ? fmt::format("; values of {}: ", table_.keys[place].key) : ", ") + known[i];
  }
  return known.size() == kShown ? text + ", ..." : text;
}

std::string SelectedRows::Select() {
  if (table_.rows.empty() || table_.figures.empty()) {
    return fmt::format("{} has no rows{}", table_.view, NotesOf(diff_, table_.view));
  }
  if (std::string missing = PlaceKeys(); !missing.empty()) return missing;
  const std::optional<size_t> figure = table_.FigureOf(expression_.figure);
  if (!figure) {
    if (SelectByName()) return {};
    return fmt::format("the diff of {} has no figure '{}'", table_.view, expression_.figure);
  }
  figure_ = *figure;
  for (const DiffRow& row : table_.rows) {
    if (figure_ < row.figures.size() && Matches(row)) rows_.push_back(&row);
  }
  DropWholes();
  return rows_.empty() ? NothingMatches() : std::string();
}

std::string SelectedRows::NameOf(const DiffRow& row, bool all_keys) const {
  std::string name;
  const auto add = [&](size_t place) {
    if (place >= row.keys.size() || row.keys[place].empty()) return;
    name +=
        fmt::format("{}{}={}", name.empty() ? "" : " ", table_.keys[place].key, row.keys[place]);
  };
  if (all_keys || key_places_.empty()) {
    for (size_t i = 0; i < table_.keys.size(); ++i) add(i);
  } else {
    std::ranges::for_each(key_places_, add);
  }
  return name.empty() ? "(unknown)" : name;
}

using Rows = std::vector<const DiffRow*>;

struct Measured {
  std::optional<double> value;
  std::string missing;  ///< Why there is none.
};

/// Without rows, sums are 0.
bool AddsUp(const Field& field) { return field.fold == Fold::kSum; }

bool HasBase(const Diff& diff) { return !diff.base_name.empty(); }

/// The change of a figure, 0 within the noise; in percent of the base if requested.
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

/// Groups rows with equal values of the named keys; without named keys, each row is a group.
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

/// Adds groups, most significant for the expression first; the sort is stable.
void RowsJudge::AddRows(std::vector<Group> groups, bool all_keys, GateItem* item) const {
  const bool largest =
      expression_.relation == Relation::kMore || expression_.relation == Relation::kMoreOrEqual;
  const auto weight = [&](const Group& group) {
    const double value = expression_.change
                             ? group.figure.now.value_or(0) - group.figure.base.value_or(0)
                             : group.figure.now.value_or(std::numeric_limits<double>::lowest());
    return largest ? -value : value;
  };
  // If some rows go in the direction that breaks it, the others are irrelevant.
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

/// Judges one expression.
///
/// A threshold without a sign is compared with the new run's value, one with a sign with the
/// change, which is 0 if its verdict is kSame; if the verdict is kUnknown the change counts as
/// measured, and the message says so. Without data the result is kNoData.
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

/// --require-comparable: the runs have no deciding difference.
GateItem CheckComparable(const Diff& diff) {
  GateItem item;
  item.expression = "--require-comparable";
  item.message = "the runs can be compared";
  std::string differences;
  for (const Difference& difference : diff.differences) {
    if (!difference.decides) continue;
    const auto side = [](const std::string& text) {
      return text.empty() ? std::string("unknown") : ShownText(text);
    };
    differences +=
        fmt::format("{}{}: {} -> {}", differences.empty() ? "" : "; ", ShownText(difference.fact),
                    side(difference.base), side(difference.now));
  }
  if (differences.empty()) return item;
  item.outcome = GateOutcome::kNoData;
  item.message = "the runs cannot be compared: " + differences;
  return item;
}

/// Data of the runs is lost: their figures cover the rest.
GateItem LostData(const Diff& diff) {
  GateItem item;
  item.expression = kWholeData;
  item.outcome = GateOutcome::kNoData;
  item.message = fmt::format("neither pass nor fail would mean anything: {}", diff.lost);
  return item;
}

}  // namespace

std::string_view WordOf(GateOutcome outcome) {
  constexpr std::string_view kWords[] = {"holds", "no-data", "broken"};
  return kWords[static_cast<size_t>(outcome)];
}

int GateResult::exit_code() const {
  const auto any = [&](GateOutcome outcome) {
    return std::ranges::find(items, outcome, &GateItem::outcome) != items.end();
  };
  if (any(GateOutcome::kNoData)) return kExitNoData;
  return any(GateOutcome::kBroken) ? kExitBroken : 0;
}

Gate Gate::Parse(std::span<const std::string> expressions, bool require_comparable,
                 std::span<const GateScope> scopes) {
  Gate gate;
  gate.require_comparable_ = require_comparable;
  for (const std::string& text : expressions) {
    gate.expressions_.push_back(ParseGateExpression(text, scopes));
  }
  return gate;
}

bool Gate::needs_base() const {
  return require_comparable_ || std::ranges::any_of(expressions_, &GateExpression::change);
}

std::vector<std::string> Gate::views() const {
  std::vector<std::string> views;
  for (const GateExpression& expression : expressions_) {
    if (expression.IsTotal()) continue;
    if (std::ranges::find(views, expression.view) == views.end()) views.push_back(expression.view);
  }
  return views;
}

GateResult Gate::Check(const Diff& diff) const {
  GateResult result;
  result.name = diff.base_name.empty() ? diff.new_name : diff.base_name + " -> " + diff.new_name;
  if (!diff.lost.empty()) result.items.push_back(LostData(diff));
  if (require_comparable_) result.items.push_back(CheckComparable(diff));
  for (const GateExpression& expression : expressions_) {
    result.items.push_back(Evaluate(expression, diff));
  }
  return result;
}

}  // namespace oplens::prof
