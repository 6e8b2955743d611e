#include "prof/diff/print_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "base/append_format.h"
#include "base/utf8.h"
#include "prof/diff/explain.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kWasField = {"was", "Was",          "",
                             kText, Field::kShared, "keys that differ in the base: key=text"};
constexpr Field kFigureField = {"figure", "Figure", "", kText, 16, "what is compared", Fold::kKey};
constexpr Field kUnitField = {"unit", "Unit", "", kText, 5, "unit of the figure"};
constexpr Field kValueFields[] = {
    {"base", "Base", "", kDecimal, 15, "the figure in the base; per step if it adds up"},
    {"new", "New", "", kDecimal, 15, "the figure in the new run"},
    {"delta", "Delta", "", kDecimal, 15, "new - base"},
    {"delta_pct", "Delta%", "%", kDecimal, 9, "100 * delta / base"},
    {"share_pct", "Share%", "%", kDecimal, 9, "100 * delta / change of the total"},
    {"band", "Noise", "", kDecimal, 13, "largest change that the spread of the steps explains"},
    {"change", "Change", "", kText, 7,
     "added, removed, slower, faster, count, shape, kernel or same"},
    {"verdict", "Verdict", "", kText, 8, "changed, same (noise) or unknown (too few steps)"},
};
constexpr Field kTotalFields[] = {
    {"run", "Run", "", kText, 8, "base or new", Fold::kKey},
    {"name", "Name", "", kText, Field::kShared, "names of the inputs"},
    {"steps", "Steps", "", kInteger, 7, "whole steps of all ranks"},
    {"total_ns", "Total(ns)", "ns", kDecimal, 15, "mean length of a step"},
    {"band_ns", "Noise(ns)", "ns", kDecimal, 15, "noise of the change"},
    {"verdict", "Verdict", "", kText, Field::kShared, "the verdict in one line"},
};
constexpr Field kSetupFields[] = {
    {"fact", "Fact", "", kText, 16, "fact in which the runs differ", Fold::kKey},
    {"base", "Base", "", kText, Field::kShared, "its value in the base"},
    {"new", "New", "", kText, Field::kShared, "its value in the new run"},
    {"decides", "Decides", "", kText, 7, "yes: times of the two runs cannot be compared"},
};
constexpr Field kCauseFields[] = {
    {"cause", "Cause", "", kText, 24, "part of the change of the total", Fold::kKey},
    {"delta_ns", "Delta(ns)", "ns", kDecimal, 15,
     "change per step; all sum to the change of the total", Fold::kSum},
    {"share_pct", "Share%", "%", kDecimal, 9, "share of the change of the total"},
    {"verdict", "Verdict", "", kText, 8, "changed, same (noise) or unknown (too few steps)"},
    {"sentence", "Sentence", "", kText, Field::kShared, "what the cause is"},
};

std::optional<double> ShareOf(const Diff& diff, const std::optional<double>& delta) {
  const std::optional<double> total = diff.total.delta();
  if (!total || *total == 0 || !delta) return std::nullopt;
  return 100 * *delta / *total;
}

/// Whether a figure's changes are parts of the change of the total.
bool Explains(const DiffTable& table, size_t figure) {
  const Field& field = table.figures[figure];
  const auto ends = [&](std::string_view end) { return field.key.ends_with(end); };
  // These overlap other parts.
  if (ends("_exposed_ns") || ends("_hidden_ns") || ends("host_ns")) return false;
  return table.explains_total && field.unit == "ns" && field.fold == Fold::kSum;
}

std::string WasText(const DiffTable& table, const DiffRow& row) {
  std::string text;
  for (size_t i = 0; i < row.base_keys.size() && i < table.keys.size(); ++i) {
    if (row.base_keys[i] == row.keys[i]) continue;
    AppendFormat(&text, "{}{}={}", text.empty() ? "" : " ", table.keys[i].key, row.base_keys[i]);
  }
  return text;
}

class TablePrinter {
 public:
  TablePrinter(const Diff& diff, const DiffTable& table, const DiffPrint& print)
      : diff_(diff), table_(table), print_(print) {
    ChooseRows();
    ChooseKeys();
  }

  int64_t Print(Sink* sink) {
    sink->Begin(fmt::format("diff_{}", table_.view), Fields());
    for (const Line& line : lines_) sink->Row(CellsOf(line));
    sink->End();
    return static_cast<int64_t>(lines_.size());
  }

 private:
  struct Line {
    const DiffRow* row;
    size_t figure;
  };

  void ChooseRows() {
    for (const DiffRow& row : table_.rows) {
      for (size_t i = 0; i < table_.shown_figures; ++i) {
        const Figure& figure = row.figures[i];
        if (!figure.base && !figure.now) continue;
        if (figure.change == Change::kSame && !print_.all) continue;
        if (print_.top > 0 && lines_.size() >= print_.top) return;
        lines_.push_back({&row, i});
      }
    }
  }

  /// Hides key columns that are empty in all rows.
  void ChooseKeys() {
    for (size_t i = 0; i < table_.keys.size(); ++i) {
      const auto has = [i](const Line& line) { return !line.row->keys[i].empty(); };
      if (print_.many || std::any_of(lines_.begin(), lines_.end(), has)) keys_.push_back(i);
    }
    const auto differs = [](const Line& line) { return !line.row->base_keys.empty(); };
    has_was_ = print_.many || std::any_of(lines_.begin(), lines_.end(), differs);
  }

  bool is_long() const { return table_.shown_figures > 1; }
  /// Fractions of a ns are noise.
  bool Rounds(const Line& line) const {
    return !print_.many && !is_long() && table_.figures[line.figure].unit == "ns";
  }

  std::vector<Field> Fields() const {
    std::vector<Field> fields;
    for (const size_t key : keys_) fields.push_back(table_.keys[key]);
    if (has_was_) fields.push_back(kWasField);
    if (is_long()) {
      fields.push_back(kFigureField);
      fields.push_back(kUnitField);
    }
    for (Field field : kValueFields) {
      if (!is_long() && field.unit.empty() && field.type == kDecimal) {
        field.unit = table_.figures.front().unit;
        if (!print_.many && field.unit == "ns") field.type = kInteger;
      }
      fields.push_back(field);
    }
    RankFields("change,delta,op,kernel,figure,delta_pct,layer,share_pct,new,base,verdict,dir,shape",
               &fields);
    return fields;
  }

  std::vector<Cell> CellsOf(const Line& line) {
    const Figure& figure = line.row->figures[line.figure];
    std::vector<Cell> cells;
    for (const size_t key : keys_) cells.push_back(Text(line.row->keys[key]));
    was_ = WasText(table_, *line.row);
    if (has_was_) cells.push_back(Text(was_));
    if (is_long()) {
      cells.push_back(Text(table_.figures[line.figure].key));
      cells.push_back(Text(table_.figures[line.figure].unit));
    }
    const auto value = [&](const std::optional<double>& number) {
      return number && Rounds(line) ? Integer(std::llround(*number)) : Decimal(number);
    };
    cells.push_back(value(figure.base));
    cells.push_back(value(figure.now));
    cells.push_back(value(figure.delta()));
    cells.push_back(Decimal(figure.delta_pct()));
    const bool explains = Explains(table_, line.figure);
    cells.push_back(explains ? Decimal(ShareOf(diff_, figure.delta())) : Cell{});
    cells.push_back(value(figure.band));
    cells.push_back(Text(WordOf(figure.change)));
    cells.push_back(Text(WordOf(figure.verdict)));
    return cells;
  }

  const Diff& diff_;
  const DiffTable& table_;
  const DiffPrint& print_;
  std::vector<Line> lines_;
  std::vector<size_t> keys_;
  bool has_was_ = false;
  std::string was_;
};

void PrintTotal(const Diff& diff, Sink* sink) {
  sink->Begin("diff", {std::begin(kTotalFields), std::end(kTotalFields)});
  const Cell base[] = {Text("base"),
                       Text(diff.base_name),
                       Integer(diff.base_steps),
                       Decimal(diff.total.base),
                       Cell{},
                       Cell{}};
  const Cell now[] = {Text("new"),
                      Text(diff.new_name),
                      Integer(diff.new_steps),
                      Decimal(diff.total.now),
                      Decimal(diff.total.band),
                      Text(diff.verdict)};
  sink->Row(base);
  sink->Row(now);
  sink->End();
}

void PrintSetup(const Diff& diff, Sink* sink) {
  sink->Begin("diff_setup", {std::begin(kSetupFields), std::end(kSetupFields)});
  for (const Difference& one : diff.differences) {
    const Cell cells[] = {Text(one.fact), Text(one.base), Text(one.now),
                          Text(one.decides ? "yes" : "no")};
    sink->Row(cells);
  }
  sink->End();
}

void PrintCauses(const Diff& diff, Sink* sink) {
  sink->Begin("diff_causes", {std::begin(kCauseFields), std::end(kCauseFields)});
  for (const Cause& one : diff.causes) {
    const Cell cells[] = {Text(one.cause), Cell{one.delta_ns}, Decimal(ShareOf(diff, one.delta_ns)),
                          Text(WordOf(one.verdict)), Text(one.sentence)};
    sink->Row(cells);
  }
  sink->End();
}

std::string SignedTime(double duration_ns) {
  return (duration_ns > 0 ? "+" : "") + TimeText(duration_ns);
}

/// Removes control characters from lines: names come from files.
std::string Harmless(std::string_view text) {
  std::string harmless;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AppendUtf8(text.substr(0, end), Utf8Hidden::kControls, &harmless);
    if (end < text.size()) harmless += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return harmless;
}

/// How many rows are shown and why.
std::string TableHead(const DiffTable& table, bool all) {
  size_t changed = 0;
  size_t figures = 0;
  for (const DiffRow& row : table.rows) {
    for (size_t i = 0; i < table.shown_figures; ++i) {
      if (!row.figures[i].base && !row.figures[i].now) continue;
      ++figures;
      if (row.figures[i].change != Change::kSame) ++changed;
    }
  }
  return fmt::format("\n{}: {} of {} figures changed{}\n", table.view, changed, figures,
                     changed < figures && !all ? " (--all shows the others too)" : "");
}

}  // namespace

std::string DiffText(const Diff& diff) {
  std::string text;
  const auto run = [&](std::string_view word, const std::string& name, int64_t steps,
                       const std::optional<double>& total) {
    AppendFormat(&text, "{:<5} {}: {} step{}, {}\n", word, name, steps, steps == 1 ? "" : "s",
                 total ? TimeText(*total) + " each" : std::string("of unknown length"));
  };
  run("base", diff.base_name, diff.base_steps, diff.total.base);
  run("new", diff.new_name, diff.new_steps, diff.total.now);
  if (!diff.differences.empty()) text += "\nThe runs differ in\n";
  for (const Difference& one : diff.differences) {
    AppendFormat(&text, "  {:<14} {} -> {}{}\n", one.fact, one.base.empty() ? "unknown" : one.base,
                 one.now.empty() ? "unknown" : one.now, one.decides ? "  (not comparable)" : "");
  }
  if (!diff.causes.empty()) {
    AppendFormat(&text, "\nThe change of a step is {}{}, because of\n",
                 SignedTime(diff.total.delta().value_or(0)),
                 diff.total.band ? fmt::format(" (noise up to {})", TimeText(*diff.total.band))
                                 : std::string());
  }
  for (const Cause& one : diff.causes) {
    const std::optional<double> share = ShareOf(diff, one.delta_ns);
    AppendFormat(&text, "  {:>11} {:>7}  {}: {}{}\n", SignedTime(one.delta_ns),
                 share ? fmt::format("{:.0f} %", *share) : std::string(), one.cause, one.sentence,
                 one.verdict == Verdict::kSame ? " [within noise]" : "");
  }
  AppendFormat(&text, "\n{}\n", diff.verdict);
  return text;
}

int64_t PrintDiff(const Diff& diff, const DiffPrint& print, Destination* destination) {
  int64_t printed = 0;
  if (print.many) {
    PrintTotal(diff, destination->NewTable().get());
    PrintSetup(diff, destination->NewTable().get());
    PrintCauses(diff, destination->NewTable().get());
  }
  bool first = true;
  for (size_t i = 0; i < std::min(print.tables, diff.tables.size()); ++i) {
    const DiffTable& table = diff.tables[i];
    const std::unique_ptr<Sink> sink = destination->NewTable();
    sink->Words(Harmless((first ? DiffText(diff) : std::string()) + TableHead(table, print.all)));
    first = false;
    printed += TablePrinter(diff, table, print).Print(sink.get());
  }
  return printed;
}

}  // namespace oplens::prof
