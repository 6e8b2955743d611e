#include "prof/gate/selected_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/shown_text.h"
#include "prof/gate/scope.h"

namespace oplens::prof {
namespace {

/// The notes of a view, which say what the profile lacks.
std::string NotesOf(const Diff& diff, std::string_view view) {
  std::string text;
  for (const std::string& note : diff.notes) {
    if (note.starts_with(view) && std::string_view(note).substr(view.size()).starts_with(":")) {
      text += "; " + note;
    }
  }
  return text;
}

}  // namespace

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

/// By the keys of either run, names also as they are printed.
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

/// Rows that stand for others count where no other matches.
void SelectedRows::DropWholes() {
  const auto whole = [&](const DiffRow* row) { return IsWhole(*row); };
  if (!std::ranges::all_of(rows_, whole)) std::erase_if(rows_, whole);
}

/// A view of which the diff has a row for each of its figures: the row of that name.
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

}  // namespace oplens::prof
