#include "prof/table/sink_chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "base/words.h"
#include "prof/table/row_kind.h"

namespace oplens::prof {
namespace {

/// Folds a cell into those before it; a value that cannot be folded makes the result unknown.
void FoldInto(Fold fold, const Cell& cell, Cell* into) {
  if (IsUnknown(cell)) return;
  if (IsUnknown(*into)) {
    *into = cell;
    return;
  }
  const auto* a = std::get_if<int64_t>(&into->value);
  const auto* b = std::get_if<int64_t>(&cell.value);
  if (fold == Fold::kMin || fold == Fold::kMax) {
    if (CellBefore(cell, *into) == (fold == Fold::kMin)) *into = cell;
  } else if (a != nullptr && b != nullptr) {
    const auto sum = (Checked(*a) + Checked(*b)).Value();
    *into = sum ? Cell{*sum} : Cell{static_cast<double>(*a) + static_cast<double>(*b)};
  } else {
    const auto number = [](const Cell& of) {
      const auto* integer = std::get_if<int64_t>(&of.value);
      const auto* decimal = std::get_if<double>(&of.value);
      return integer != nullptr ? static_cast<double>(*integer) : decimal != nullptr ? *decimal : 0;
    };
    *into = Cell{number(*into) + number(cell)};
  }
}

}  // namespace

void SelectingSink::Begin(std::string_view table, std::vector<Field> fields) {
  std::vector<Field> selected;
  for (const size_t place : places_) selected.push_back(fields[place]);
  sink_->Begin(table, std::move(selected));
}

void SelectingSink::Row(std::span<const Cell> cells) {
  for (size_t i = 0; i < places_.size(); ++i) cells_[i] = cells[places_[i]];
  sink_->Row(cells_);
}

RowOrder ParseOrder(std::string_view text, std::span<const Field> fields) {
  std::string_view key = Trim(text);
  std::optional<bool> ascending;
  if (key.ends_with(":asc")) ascending = true;
  if (key.ends_with(":desc")) ascending = false;
  if (ascending) key = key.substr(0, key.rfind(':'));
  const bool turned = !ascending && key.starts_with('-');
  if (turned) key.remove_prefix(1);
  const size_t place = FindField("--sort", key, fields);
  const bool is_key = fields[place].fold == Fold::kKey;
  return {place, ascending.value_or(is_key != turned)};
}

bool StandsForOthers(std::span<const Field> fields, std::span<const Cell> row) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto* text = std::get_if<std::string_view>(&row[i].value);
    if (!fields[i].whole.empty() && text != nullptr && *text == fields[i].whole) return true;
  }
  return false;
}

void SortingSink::Begin(std::string_view table, std::vector<Field> fields) {
  fields_ = fields;
  sink_->Begin(table, std::move(fields));
}

void SortingSink::Row(std::span<const Cell> cells) {
  Cells& row = rows_.emplace_back(cells.begin(), cells.end());
  for (size_t i = 0; i < row.size(); ++i) {
    // Lists become text, since their items belong to the caller.
    const bool number = std::holds_alternative<int64_t>(row[i].value) ||
                        std::holds_alternative<double>(row[i].value);
    if (number || IsUnknown(row[i]) || std::holds_alternative<Dim3>(row[i].value)) continue;
    std::string scratch;
    texts_.push_back(std::make_unique<std::string>(CellText(fields_[i], row[i], &scratch)));
    row[i] = Cell{std::string_view(*texts_.back())};
  }
}

void SortingSink::Sort() {
  if (!order_) return;
  const size_t place = order_->field;
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Cells& a, const Cells& b) {
    const bool unknown_a = IsUnknown(a[place]);
    const bool unknown_b = IsUnknown(b[place]);
    if (unknown_a || unknown_b) return !unknown_a && unknown_b;
    return order_->ascending ? CellBefore(a[place], b[place]) : CellBefore(b[place], a[place]);
  });
}

SortingSink::Cells SortingSink::Folded(size_t first) {
  Cells cells(fields_.size());
  bool named = false;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Fold fold = fields_[i].fold;
    const bool shown = shown_.empty() || std::ranges::count(shown_, i) > 0;
    if (fold == Fold::kKey && shown && !named && fields_[i].type != FieldType::kInteger) {
      more_ = fmt::format("({} more)", rows_.size() - first);
      cells[i] = Cell{std::string_view(more_)};
      named = true;
    }
    if (fields_[i].key == kRowKindField.key) cells[i] = Text(RowKindWord(RowKind::kRest));
    if (fold != Fold::kSum && fold != Fold::kMin && fold != Fold::kMax) continue;
    for (size_t row = first; row < rows_.size(); ++row) {
      if (!StandsForOthers(fields_, rows_[row])) FoldInto(fold, rows_[row][i], &cells[i]);
    }
  }
  return cells;
}

void SortingSink::End() {
  Sort();
  const size_t shown = top_ == 0 ? rows_.size() : std::min(top_, rows_.size());
  for (size_t i = 0; i < shown; ++i) sink_->Row(rows_[i]);
  if (shown < rows_.size()) sink_->Row(Folded(shown));
  sink_->End();
}

}  // namespace oplens::prof
