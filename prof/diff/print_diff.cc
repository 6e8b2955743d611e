#include "prof/diff/print_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "base/append_format.h"
#include "base/utf8.h"
#include "base/words.h"
#include "prof/diff/explain.h"
#include "prof/diff/main_figure.h"

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
constexpr Field kOthersField = {
    "others", "Others", "", kInteger, 7, "other figures of the row that changed (--by figure)"};
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
  if (ends("_exposed_ns") || ends("_hidden_ns") || ends("host_ns") || ends("queued_ns") ||
      ends("cold_start_ns")) {
    return false;
  }
  return table.explains_total && field.unit == "ns" && field.fold == Fold::kSum;
}

bool IsKnown(const Figure& figure) { return figure.base || figure.now; }

/// Of all rows, if the main figure adds up.
Figure MainSumOf(const DiffTable& table) {
  std::vector<const DiffRow*> rows;
  for (const DiffRow& row : table.rows) rows.push_back(&row);
  return SumOf(table, *table.main, rows).figure;
}

/// Whether a row has several figures, and one of them is to stand for it.
bool IsWide(const DiffTable& table, const DiffPrint& print) {
  if (!print.wide || print.many || table.shown_figures < 2 || !table.main) return false;
  return std::any_of(table.rows.begin(), table.rows.end(), [](const DiffRow& row) {
    return std::any_of(row.keys.begin(), row.keys.end(),
                       [](const std::string& key) { return !key.empty(); });
  });
}

/// Besides the main figure and what it is the sum of.
size_t OthersChanged(const DiffTable& table, const DiffRow& row) {
  const SummedFigure* const summed = SummedFigureOf(table.view);
  const bool is_sum = summed != nullptr && table.figures[*table.main].key == summed->field.key;
  size_t changed = 0;
  for (size_t i = 0; i < table.shown_figures; ++i) {
    const bool part =
        is_sum && std::ranges::find(summed->parts, table.figures[i].key) != summed->parts.end();
    const Figure& figure = row.figures[i];
    if (i == table.main || part || !IsKnown(figure)) continue;
    if (figure.change != Change::kSame) ++changed;
  }
  return changed;
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
      : diff_(diff), table_(table), print_(print), wide_(IsWide(table, print)) {
    if (wide_) {
      main_sum_ = MainSumOf(table);
      ChooseWideRows();
    } else {
      ChooseRows();
    }
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
        if (!IsKnown(figure)) continue;
        if (figure.change == Change::kSame && !print_.all) continue;
        if (print_.wide && !print_.many && table_.explains_total && IsOverlap(i)) continue;
        if (print_.top > 0 && lines_.size() >= print_.top) return;
        lines_.push_back({&row, i});
      }
    }
  }

  /// Of a step: times that are neither a part of it nor the whole.
  bool IsOverlap(size_t figure) const {
    return table_.shown_figures > 1 && table_.figures[figure].unit == "ns" &&
           figure != table_.main && !Explains(table_, figure);
  }

  void ChooseWideRows() {
    const size_t main = *table_.main;
    for (const DiffRow& row : table_.rows) {
      const Figure& figure = row.figures[main];
      if (!IsKnown(figure) || (figure.change == Change::kSame && !print_.all)) continue;
      lines_.push_back({&row, main});
    }
    // Modules that only one run has come last: the others are compared layer by layer. A kernel or
    // an op of one run is what the other's time went to.
    const bool by_layer = table_.view == "modules";
    std::stable_sort(lines_.begin(), lines_.end(), [&](const Line& a, const Line& b) {
      const auto order = [&](const Line& line) {
        const Figure& figure = line.row->figures[main];
        const bool alone =
            by_layer && (figure.change == Change::kAdded || figure.change == Change::kRemoved);
        return std::pair(alone, -std::abs(figure.delta().value_or(0)));
      };
      return order(a) < order(b);
    });
    if (print_.top > 0 && lines_.size() > print_.top) lines_.resize(print_.top);
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

  bool is_long() const { return table_.shown_figures > 1 && !wide_; }
  const Field& only_figure() const { return table_.figures[wide_ ? *table_.main : 0]; }
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
        field.unit = only_figure().unit;
        if (!print_.many && field.unit == "ns") field.type = kInteger;
      }
      if (wide_ && field.key == "share_pct" && !table_.explains_total) {
        field.help = "100 * delta / change of all rows";
      }
      fields.push_back(field);
    }
    if (wide_) fields.push_back(kOthersField);
    RankFields(wide_ ? "path,layer,delta,base,new,share_pct,change,delta_pct,verdict"
                     : "change,delta,op,kernel,figure,delta_pct,layer,share_pct,new,base,verdict,"
                       "dir,shape",
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
    if (wide_ && !table_.explains_total) {
      cells.push_back(Decimal(ShareOfRows(figure.delta())));
    } else {
      const bool explains = Explains(table_, line.figure);
      cells.push_back(explains ? Decimal(ShareOf(diff_, figure.delta())) : Cell{});
    }
    cells.push_back(value(figure.band));
    cells.push_back(Text(WordOf(figure.change)));
    cells.push_back(Text(WordOf(figure.verdict)));
    if (wide_) cells.push_back(Integer(static_cast<int64_t>(OthersChanged(table_, *line.row))));
    return cells;
  }

  std::optional<double> ShareOfRows(const std::optional<double>& delta) const {
    const std::optional<double> all = main_sum_.adds_up ? main_sum_.delta() : std::nullopt;
    if (!all || *all == 0 || !delta) return std::nullopt;
    return 100 * *delta / *all;
  }

  const Diff& diff_;
  const DiffTable& table_;
  const DiffPrint& print_;
  bool wide_;
  Figure main_sum_;  // If wide_.
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

std::string AmountText(const std::optional<double>& amount, std::string_view unit, bool sign) {
  if (!amount) return "unknown";
  if (unit == "ns") return sign ? SignedTime(*amount) : TimeText(*amount);
  return fmt::format("{}{:.6g}{}{}", sign && *amount > 0 ? "+" : "", *amount,
                     unit.empty() ? "" : " ", unit);
}

std::string WideHead(const DiffTable& table, bool all) {
  const Field& main = table.figures[*table.main];
  size_t known = 0;
  size_t changed = 0;
  size_t others = 0;
  for (const DiffRow& row : table.rows) {
    const Figure& figure = row.figures[*table.main];
    if (IsKnown(figure)) ++known;
    if (IsKnown(figure) && figure.change != Change::kSame) ++changed;
    others += OthersChanged(table, row);
  }
  std::string text =
      fmt::format("\n{} by {}: {} of {} rows changed", table.view, main.key, changed, known);
  if (const Figure sum = MainSumOf(table); sum.adds_up) {
    AppendFormat(&text, "; all rows {} -> {}, {}", AmountText(sum.base, main.unit, false),
                 AmountText(sum.now, main.unit, false), AmountText(sum.delta(), main.unit, true));
  }
  if (changed < known && !all) text += " (--all shows the others too)";
  if (others > 0) {
    AppendFormat(&text, "\n{} other figure{} changed: --by figure has a row for each\n", others,
                 others == 1 ? "" : "s");
  } else {
    text += '\n';
  }
  return text;
}

/// How many rows are shown and why.
std::string TableHead(const DiffTable& table, const DiffPrint& print) {
  const bool all = print.all;
  if (IsWide(table, print)) return WideHead(table, all);
  size_t changed = 0;
  size_t figures = 0;
  for (const DiffRow& row : table.rows) {
    for (size_t i = 0; i < table.shown_figures; ++i) {
      if (!IsKnown(row.figures[i])) continue;
      ++figures;
      if (row.figures[i].change != Change::kSame) ++changed;
    }
  }
  return fmt::format("\n{}: {} of {} figures changed{}\n", table.view, changed, figures,
                     changed < figures && !all ? " (--all shows the others too)" : "");
}

/// `operators` by the words of --by that are its keys; other views have theirs already.
std::optional<DiffTable> GroupedAsAsked(const DiffTable& table, const DiffPrint& print) {
  if (table.view != "operators") return std::nullopt;
  std::vector<std::string> keys;
  for (const std::string& word : print.by) {
    const auto is_word = [&](const Field& key) { return key.key == word; };
    if (std::any_of(table.keys.begin(), table.keys.end(), is_word)) keys.push_back(word);
  }
  return keys.empty() ? std::nullopt : std::optional(GroupedBy(table, keys));
}

}  // namespace

std::vector<std::pair<std::string_view, std::vector<Field>>> DiffSchemas() {
  return {{"diff", {std::begin(kTotalFields), std::end(kTotalFields)}},
          {"diff_setup", {std::begin(kSetupFields), std::end(kSetupFields)}},
          {"diff_causes", {std::begin(kCauseFields), std::end(kCauseFields)}}};
}

std::vector<Field> DiffRowFields() {
  std::vector<Field> fields = {kWasField, kFigureField, kUnitField};
  fields.insert(fields.end(), std::begin(kValueFields), std::end(kValueFields));
  return fields;
}

void TakeByWords(std::string_view words, bool for_reader, DiffPrint* print) {
  print->wide = for_reader;
  for (const std::string_view word : WordsOf(words)) {
    if (word == "figure") print->wide = false;
    print->by.emplace_back(word);
  }
}

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
    const std::optional<DiffTable> grouped = GroupedAsAsked(diff.tables[i], print);
    const DiffTable& table = grouped ? *grouped : diff.tables[i];
    const std::unique_ptr<Sink> sink = destination->NewTable();
    sink->Words(Harmless((first ? DiffText(diff) : std::string()) + TableHead(table, print)));
    first = false;
    printed += TablePrinter(diff, table, print).Print(sink.get());
  }
  return printed;
}

}  // namespace oplens::prof
