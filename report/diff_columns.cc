#include "report/diff_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace oplens::report {
namespace {

using prof::Field;
using prof::FieldType;
using prof::Fold;

/// So many keys stand before what changed, the others behind it: who looks for the change of an op
/// need not scroll past its shapes and kernels.
constexpr size_t kKeysInFront = 2;

bool IsSame(const prof::DiffRow& row) {
  return row.figures.empty() || row.figures.front().change == prof::Change::kSame;
}

size_t ShownFigures(const prof::DiffTable& table) {
  return std::min(table.shown_figures, table.figures.size());
}

}  // namespace

DiffColumns::DiffColumns(const prof::DiffTable& table, std::optional<double> total_delta,
                         const PathCutter* cutter)
    : cutter_(cutter), total_delta_(total_delta) {
  renames_ = std::ranges::any_of(table.rows,
                                 [](const prof::DiffRow& row) { return !row.base_keys.empty(); });
  shares_ = table.explains_total && total_delta && *total_delta != 0;
  const size_t front = std::min(kKeysInFront, table.keys.size());
  DeclareKeys(std::span(table.keys).first(front));
  DeclareFigures(table, 0, std::min<size_t>(1, ShownFigures(table)));
  DeclareKeys(std::span(table.keys).subspan(front));
  DeclareFigures(table, 1, ShownFigures(table));
  for (const bool same : {false, true}) {
    for (const prof::DiffRow& row : table.rows) {
      if (IsSame(row) == same) AddRow(table, row);
    }
  }
}

std::string_view DiffColumns::Keep(std::string text) {
  return *texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

void DiffColumns::Declare(Field field) {
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kDecimal;
  columns_.emplace_back(number, cutter_);
  fields_.push_back(field);
}

void DiffColumns::DeclareKeys(std::span<const Field> keys) {
  for (Field field : keys) {
    if (field.type != FieldType::kName) field.type = FieldType::kText;  // As the diff has them.
    Declare(field);
  }
}

void DiffColumns::DeclareFigures(const prof::DiffTable& table, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const Field& figure = table.figures[i];
    const bool adds_up = figure.fold == Fold::kSum;
    if (i == 0) {
      Declare(
          {"class", "Class", "", FieldType::kText, 8,
           "added, removed, slower, faster, count (calls), shape, kernel (other kernels for the "
           "same work) or same",
           Fold::kNone});
    }
    const auto declare = [&](std::string_view key, std::string_view header, std::string_view unit,
                             std::string_view help, Fold fold) {
      Declare({Keep(fmt::format("{}_{}", figure.key, key)),
               Keep(i == 0 ? std::string(header) : fmt::format("{} {}", figure.header, header)),
               unit, FieldType::kDecimal, 12, Keep(fmt::format("{}; {}", help, figure.help)),
               fold});
    };
    const Fold side = adds_up || figure.fold == Fold::kMin || figure.fold == Fold::kMax
                          ? figure.fold
                          : Fold::kNone;
    declare("base", "Base", figure.unit, "in the base", side);
    declare("new", "New", figure.unit, "in the new run", side);
    const Fold change = adds_up ? Fold::kSum : Fold::kNone;
    declare("delta", "Delta", figure.unit, "new - base", change);
    if (i > 0) continue;
    // Of rows together it would leave out those that the base lacks: it is of each row alone.
    declare("delta_pct", "Delta %", "%", "100 x delta / base", Fold::kNone);
    if (shares_) {
      Declare({"share_pct", "Share", "%", FieldType::kDecimal, 8,
               "100 x delta / change of the total: what the row explains of it", Fold::kSum});
    }
    declare("band", "Noise", figure.unit, "half the width of what the spread of the steps explains",
            Fold::kNone);
    Declare({"verdict", "Verdict", "", FieldType::kText, 8,
             "changed; same: within the noise; unknown: too few steps to tell", Fold::kNone});
    if (renames_) {
      Declare(
          {"was", "Was", "", FieldType::kText, 20, "the keys of the row in the base", Fold::kNone});
    }
  }
}

void DiffColumns::AddText(std::string_view text) {
  Column& column = columns_[next_++];
  if (text.empty()) {
    column.AddUnknown();
  } else {
    column.AddText(text);
  }
}

void DiffColumns::AddNumber(const std::optional<double>& value) {
  Column& column = columns_[next_++];
  if (value) {
    column.AddDecimal(*value);
  } else {
    column.AddUnknown();
  }
}

void DiffColumns::AddFigure(const prof::DiffRow& row, size_t place) {
  const prof::Figure figure = place < row.figures.size() ? row.figures[place] : prof::Figure();
  if (place == 0) AddText(WordOf(figure.change));
  const std::optional<double> delta = figure.delta();
  AddNumber(figure.base);
  AddNumber(figure.now);
  AddNumber(delta);
  if (place > 0) return;
  AddNumber(figure.delta_pct());
  if (shares_) {
    AddNumber(delta ? std::optional<double>(100 * *delta / *total_delta_) : std::nullopt);
  }
  AddNumber(figure.band);
  AddText(WordOf(figure.verdict));
  if (renames_) AddText(fmt::format("{}", fmt::join(row.base_keys, " ")));
}

void DiffColumns::AddRow(const prof::DiffTable& table, const prof::DiffRow& row) {
  next_ = 0;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    if (i == kKeysInFront && ShownFigures(table) > 0) AddFigure(row, 0);
    AddText(i < row.keys.size() ? std::string_view(row.keys[i]) : std::string_view());
  }
  const size_t begin = table.keys.size() > kKeysInFront ? 1 : 0;
  for (size_t i = begin; i < ShownFigures(table); ++i) AddFigure(row, i);
  ++rows_;
}

}  // namespace oplens::report
