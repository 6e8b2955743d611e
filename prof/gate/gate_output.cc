#include "prof/gate/gate_output.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "base/append_format.h"
#include "base/shown_text.h"
#include "base/utf8.h"

namespace oplens::prof {
namespace {

struct Scale {
  std::string_view unit;  // Of the figure.
  double from;            // Values from here on are printed in
  std::string_view word;  // this unit,
  double factor;          // which is `factor` of the figure's.
};
constexpr Scale kScales[] = {
    {"ns", 1e9, "s", 1e9},          {"ns", 1e6, "ms", 1e6},
    {"ns", 1e3, "us", 1e3},         {"B", 1073741824, "GiB", 1073741824},
    {"B", 1048576, "MiB", 1048576}, {"B", 1024, "KiB", 1024},
};

/// At most three decimals, without trailing zeros.
std::string Digits(double value) {
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

constexpr size_t kShownRows = 5;
constexpr std::string_view kAllRows = "(all)";

constexpr Field kGateOutputFields[] = {
    {"expression", "Expression", "", FieldType::kText, 24,
     "as given to --fail-if; whole-data: parts of the runs are lost", Fold::kKey},
    {"outcome", "Outcome", "", FieldType::kText, 8,
     "holds; broken: exit code 5; no-data: exit code 4"},
    {"row",
     "Row",
     "",
     FieldType::kText,
     Field::kShared,
     "(all): all matching rows together; else a row that broke it, by its keys",
     Fold::kKey,
     {},
     {},
     kAllRows},
    {"view", "View", "", FieldType::kText, 12, "view of the figure"},
    {"figure", "Figure", "", FieldType::kText, 16, "figure of the expression"},
    {"unit", "Unit", "", FieldType::kText, 5, "unit of base, new, delta and band"},
    {"base", "Base", "", FieldType::kDecimal, 16, "the figure in the base"},
    {"new", "New", "", FieldType::kDecimal, 16, "the figure in the new run"},
    {"delta", "Delta", "", FieldType::kDecimal, 16, "new - base; a missing sum counts as 0"},
    {"delta_pct", "Delta(%)", "%", FieldType::kDecimal, 9, "100 x delta / base"},
    {"band", "Band", "", FieldType::kDecimal, 16, "half the width of the noise"},
    {"verdict", "Verdict", "", FieldType::kText, 8,
     "same: within the noise; changed; unknown: too few steps to tell"},
    {"message", "Message", "", FieldType::kText, Field::kShared,
     "what was found, or what is missing"},
};

void AddFigure(const Figure& figure, std::vector<Cell>* cells) {
  cells->push_back(Decimal(figure.base));
  cells->push_back(Decimal(figure.now));
  const bool both = figure.base.has_value() || figure.now.has_value();
  cells->push_back(both ? Decimal(figure.delta()) : Cell{});
  cells->push_back(both ? Decimal(figure.delta_pct()) : Cell{});
  cells->push_back(Decimal(figure.band));
  cells->push_back(both ? Text(WordOf(figure.verdict)) : Cell{});
}

void EmitGateOutputRow(const GateItem& item, std::string_view row, const Figure& figure,
                       std::string_view message, Sink* sink) {
  std::vector<Cell> cells = {Text(item.expression), Text(WordOf(item.outcome)), Text(row),
                             Text(item.view),       Text(item.figure),          Text(item.unit)};
  AddFigure(figure, &cells);
  cells.push_back(Text(message));
  sink->Row(cells);
}

std::string GateOutputLineOf(const GateItem& item, const GateRow& row) {
  const auto side = [&](const std::optional<double>& value) {
    return value ? AmountText(*value, item.unit) : std::string("nothing");
  };
  std::string line = ShownText(row.name) + ": ";
  if (row.figure.base) line += side(row.figure.base) + " -> ";
  return line + side(row.figure.now);
}

}  // namespace

std::string AmountText(double value, std::string_view unit) {
  for (const Scale& scale : kScales) {
    if (scale.unit == unit && std::abs(value) >= scale.from) {
      return fmt::format("{:.3f} {}", value / scale.factor, scale.word);
    }
  }
  return unit.empty() ? Digits(value) : fmt::format("{} {}", Digits(value), unit);
}

std::string ChangeText(double value, std::string_view unit) {
  const std::string text = AmountText(value, unit);
  return value > 0 ? "+" + text : text;
}

std::string GateText(const GateResult& result, std::string_view tool) {
  std::string text;
  for (const GateItem& item : result.items) {
    if (item.outcome == GateOutcome::kHolds) continue;
    const std::string_view word = item.outcome == GateOutcome::kBroken ? "broken" : "no data";
    AppendFormat(&text, "{}: {}: {}: {}\n", tool, word, ShownText(item.expression),
                 LineText(item.message));
    for (size_t i = 0; i < item.rows.size() && i < kShownRows; ++i) {
      AppendFormat(&text, "{}:   {}\n", tool, GateOutputLineOf(item, item.rows[i]));
    }
    const size_t all = item.rows.size() + item.more_rows;
    if (all > kShownRows) AppendFormat(&text, "{}:   and {} more rows\n", tool, all - kShownRows);
  }
  return text;
}

std::span<const Field> GateFields() { return kGateOutputFields; }

void EmitGate(const GateResult& result, Sink* sink) {
  for (const GateItem& item : result.items) {
    EmitGateOutputRow(item, kAllRows, item.value, item.message, sink);
    for (const GateRow& row : item.rows) EmitGateOutputRow(item, row.name, row.figure, "", sink);
  }
}

}  // namespace oplens::prof
