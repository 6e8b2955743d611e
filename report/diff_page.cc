#include "report/diff_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/path_cutter.h"
#include "prof/diff/diff.h"
#include "report/data/column.h"
#include "report/data/pack.h"
#include "report/field_json.h"
#include "report/page.h"
#include "report/page_shell.h"
#include "report/page_tables.h"

namespace oplens::report {
namespace {

using prof::DiffRow;
using prof::Field;
using prof::FieldType;
using prof::Figure;
using prof::Fold;

/// Keys shown before the changes; the others follow them, so that a reader looking for the change
/// of an op need not scroll past its shapes and kernels.
constexpr size_t kKeysInFront = 2;

bool IsSame(const DiffRow& row) {
  return row.figures.empty() || row.figures.front().change == prof::Change::kSame;
}

/// A table of a diff as page columns: its keys, `class`, then KEY_base, KEY_new and KEY_delta for
/// each printed figure. The first figure also has KEY_delta_pct, `share_pct` if the table explains
/// the change of the total, KEY_band, `verdict`, and `was` if a row has other keys in the base.
/// Rows without a change come last.
class DiffColumns {
 public:
  /// `total_delta`: in ns. `table` and `cutter` must outlive this object.
  DiffColumns(const prof::DiffTable& table, std::optional<double> total_delta,
              const PathCutter* cutter)
      : cutter_(cutter) {
    const size_t front = std::min(kKeysInFront, table.keys.size());
    const size_t figures = std::min(table.shown_figures, table.figures.size());
    AddKeys(table, 0, front);
    if (figures > 0) AddFirstFigure(table, total_delta);
    AddKeys(table, front, table.keys.size());
    for (size_t i = 1; i < figures; ++i) AddSides(table.figures[i], i);
    for (const bool same : {false, true}) {
      for (const DiffRow& row : table.rows) {
        if (IsSame(row) != same) continue;
        for (size_t i = 0; i < columns_.size(); ++i) cells_[i](row, &columns_[i]);
        ++rows_;
      }
    }
  }

  const std::vector<Field>& fields() const { return fields_; }
  const std::vector<Column>& columns() const { return columns_; }
  size_t rows() const { return rows_; }

 private:
  using Number = std::optional<double>;

  void Add(const Field& field, std::function<void(const DiffRow&, Column*)> add_cell) {
    columns_.emplace_back(IsNumber(field), cutter_);
    fields_.push_back(field);
    cells_.push_back(std::move(add_cell));
  }

  template <typename TextOf>
  void AddTexts(const Field& field, TextOf text_of) {
    Add(field, [text_of](const DiffRow& row, Column* column) {
      const auto text = text_of(row);
      if (text.empty()) return column->AddUnknown();
      column->AddText(text);
    });
  }

  /// Adds a column of the figure at `place`; the first figure's headers omit its name.
  template <typename NumberOf>
  void AddNumbers(const Field& figure, size_t place, std::string_view key, std::string_view header,
                  std::string_view unit, std::string_view help, Fold fold, NumberOf number_of) {
    Add({Keep(fmt::format("{}_{}", figure.key, key)),
         Keep(place == 0 ? std::string(header) : fmt::format("{} {}", figure.header, header)), unit,
         FieldType::kDecimal, 12, Keep(fmt::format("{}; {}", help, figure.help)), fold},
        [=](const DiffRow& row, Column* column) {
          const Number number = number_of(FigureAt(row, place));
          if (!number) return column->AddUnknown();
          column->AddDecimal(*number);
        });
  }

  static Figure FigureAt(const DiffRow& row, size_t place) {
    return place < row.figures.size() ? row.figures[place] : Figure();
  }

  void AddKeys(const prof::DiffTable& table, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Field field = table.keys[i];
      if (field.type != FieldType::kName) field.type = FieldType::kText;  // As the diff has them.
      AddTexts(field, [i](const DiffRow& row) {
        return i < row.keys.size() ? std::string_view(row.keys[i]) : std::string_view();
      });
    }
  }

  void AddSides(const Field& figure, size_t place) {
    const bool adds_up = figure.fold == Fold::kSum;
    const bool folds = adds_up || figure.fold == Fold::kMin || figure.fold == Fold::kMax;
    const Fold side = folds ? figure.fold : Fold::kNone;
    AddNumbers(figure, place, "base", "Base", figure.unit, "in the base", side,
               [](const Figure& of) { return of.base; });
    AddNumbers(figure, place, "new", "New", figure.unit, "in the new run", side,
               [](const Figure& of) { return of.now; });
    AddNumbers(figure, place, "delta", "Delta", figure.unit, "new - base",
               adds_up ? Fold::kSum : Fold::kNone, [](const Figure& of) { return of.delta(); });
  }

  void AddFirstFigure(const prof::DiffTable& table, const Number& total_delta) {
    const Field& figure = table.figures.front();
    AddTexts({"class", "Class", "", FieldType::kText, 8,
              "added, removed, slower, faster, count (calls), shape, kernel (other kernels for the "
              "same work) or same",
              Fold::kNone},
             [](const DiffRow& row) { return WordOf(FigureAt(row, 0).change); });
    AddSides(figure, 0);
    // Not folded: that would leave out rows missing in the base.
    AddNumbers(figure, 0, "delta_pct", "Delta %", "%", "100 x delta / base", Fold::kNone,
               [](const Figure& of) { return of.delta_pct(); });
    if (table.explains_total && total_delta && *total_delta != 0) {
      Add({"share_pct", "Share", "%", FieldType::kDecimal, 8,
           "100 x delta / change of the total: what the row explains of it", Fold::kSum},
          [total = *total_delta](const DiffRow& row, Column* column) {
            const Number delta = FigureAt(row, 0).delta();
            if (!delta) return column->AddUnknown();
            column->AddDecimal(100 * *delta / total);
          });
    }
    AddNumbers(figure, 0, "band", "Noise", figure.unit,
               "half the width of what the spread of the steps explains", Fold::kNone,
               [](const Figure& of) { return of.band; });
    AddTexts({"verdict", "Verdict", "", FieldType::kText, 8,
              "changed; same: within the noise; unknown: too few steps to tell", Fold::kNone},
             [](const DiffRow& row) { return WordOf(FigureAt(row, 0).verdict); });
    if (std::ranges::all_of(table.rows, &std::vector<std::string>::empty, &DiffRow::base_keys)) {
      return;
    }
    AddTexts(
        {"was", "Was", "", FieldType::kText, 20, "the keys of the row in the base", Fold::kNone},
        [](const DiffRow& row) { return fmt::format("{}", fmt::join(row.base_keys, " ")); });
  }

  /// Keeps a text as long as this object lives.
  std::string_view Keep(std::string text) {
    return *texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
  }

  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<Field> fields_;
  std::vector<Column> columns_;
  std::vector<std::function<void(const DiffRow&, Column*)>> cells_;
  const PathCutter* cutter_;
  size_t rows_ = 0;
};

using DiffPageJson = nlohmann::ordered_json;

constexpr int kDiffPageSchema = 1;
constexpr std::string_view kBlock = "diff";

DiffPageJson NumberOf(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? DiffPageJson(*value) : DiffPageJson(nullptr);
}

DiffPageJson FigureOf(const prof::Figure& figure) {
  return {{"base", NumberOf(figure.base)},     {"new", NumberOf(figure.now)},
          {"delta", NumberOf(figure.delta())}, {"delta_pct", NumberOf(figure.delta_pct())},
          {"band", NumberOf(figure.band)},     {"verdict", WordOf(figure.verdict)},
          {"class", WordOf(figure.change)}};
}

struct PackedTable {
  DiffColumns columns;
  std::string packed;
  size_t rows = 0;
};

std::string_view TailOf(std::string_view path, size_t parts) {
  while (path.ends_with('/')) path.remove_suffix(1);
  size_t begin = path.size();
  for (; parts > 0; --parts) {
    const size_t slash = begin == 0 ? path.npos : path.rfind('/', begin - 1);
    if (slash == path.npos) return path;
    begin = slash;
  }
  return path.substr(begin + 1);
}

/// The shortest path tails that distinguish the two inputs.
std::pair<std::string, std::string> ShownNames(std::string_view base, std::string_view now) {
  const auto parts = static_cast<size_t>(std::count(base.begin(), base.end(), '/'));
  size_t count = 1;
  while (count <= parts && TailOf(base, count) == TailOf(now, count)) ++count;
  if (base == now) count = 1;
  return {std::string(TailOf(base, count)), std::string(TailOf(now, count))};
}

/// Packs as many leading rows as fit into `most_bytes`.
void Pack(size_t most_bytes, PackedTable* table) {
  table->rows = table->columns.rows();
  while (true) {
    std::string json;
    WriteColumns(table->columns.columns(), table->rows, &json);
    table->packed = Deflate(json);
    const size_t bytes = Base64Length(table->packed.size());
    if (bytes <= most_bytes || table->rows == 0) return;
    const double fits = 0.9 * static_cast<double>(most_bytes) / static_cast<double>(bytes);
    table->rows = static_cast<size_t>(fits * static_cast<double>(table->rows));
  }
}

/// Ids of tables, apart from those of the blocks of a timeline.
std::string TableId(size_t place) { return fmt::format("d{}", place); }

bool HasTwoRuns(const Timeline& timeline) {
  return !timeline.ranks.empty() && timeline.ranks.front().run != timeline.ranks.back().run;
}

/// The timelines of two runs as data blocks.
class TimelineBlocks {
 public:
  /// `cutter` must outlive this object. Throws UsageError if they do not fit into `limit_bytes`.
  TimelineBlocks(Timeline timeline, const DiffPagePlan& plan, size_t limit_bytes,
                 const PathCutter& cutter)
      : tables_(none_, limit_bytes, &cutter) {
    content_.program = plan.program;
    content_.plans = &none_;
    content_.tables = &tables_;
    content_.timeline = std::move(timeline);
    content_.host = plan.host;
    content_.limit_bytes = limit_bytes;
    KeepWhatFits(limit_bytes, &content_.timeline);
    page_.emplace(content_, shell_, cutter);
  }

  size_t size() const { return page_->blocks_size(); }
  const std::vector<std::string>& left_out() const { return page_->left_out(); }
  void Write(Output* output) const { page_->WriteBlocks(output); }

 private:
  TablePlans none_;
  PageTables tables_;
  PageContent content_;
  PageShell shell_;
  std::optional<Page> page_;
};

class DiffPage {
 public:
  DiffPage(const prof::Diff& diff, Timeline timeline, const DiffPagePlan& plan)
      : diff_(diff),
        plan_(plan),
        cutter_(plan.folder.empty() ? PathCutter() : PathCutter(plan.folder)),
        shell_(SplitPage(EmbeddedPage())),
        names_(ShownNames(diff.base_name, diff.new_name)),
        title_(EscapedForHtml(cutter_.Cut(Title()))) {
    for (const prof::DiffTable& table : diff.tables) {
      tables_.push_back({DiffColumns(table, diff.total.delta(), &cutter_), {}, 0});
    }
    PackTables();
    AddTimelines(std::move(timeline));
  }

  DiffPageResult Write(Output* output) {
    const std::string json = Summary();
    DiffPageResult result{Bytes(json), LeftOut()};
    if (timelines_) {
      result.page_bytes += timelines_->size();
      const std::vector<std::string>& more = timelines_->left_out();
      result.left_out.insert(result.left_out.end(), more.begin(), more.end());
    }
    if (plan_.limit_bytes > 0 && result.page_bytes > plan_.limit_bytes) {
      throw UsageError(fmt::format("--report-limit: the page takes {} bytes: give more than that",
                                   result.page_bytes));
    }
    output->Write(shell_.head);
    output->Write(title_);
    output->Write(shell_.middle);
    WriteJsonBlock(kBlock, json, output);
    for (size_t i = 0; i < tables_.size(); ++i) WriteChunk(TableId(i), tables_[i].packed, output);
    if (timelines_) timelines_->Write(output);
    output->Write(shell_.tail);
    return result;
  }

 private:
  std::string Title() const {
    return plan_.title.empty() ? fmt::format("{} -> {}", names_.first, names_.second) : plan_.title;
  }

  size_t Bytes(const std::string& json) const {
    size_t bytes = shell_.size() + title_.size() + JsonBlockBytes(kBlock, json);
    for (size_t i = 0; i < tables_.size(); ++i) bytes += ChunkBytes(TableId(i), tables_[i].packed);
    return bytes;
  }

  /// Shares the limit equally; what a small table does not need goes to the others.
  void PackTables() {
    constexpr size_t kRoomOfTable = 200;  // Besides its bytes.
    const size_t taken = Bytes(Summary()) + kRoomOfTable * tables_.size();
    size_t left = plan_.limit_bytes == 0      ? SIZE_MAX
                  : plan_.limit_bytes > taken ? plan_.limit_bytes - taken
                                              : 0;
    size_t to_go = tables_.size();
    for (PackedTable& table : tables_) {
      Pack(left / to_go--, &table);
      left -= std::min(left, Base64Length(table.packed.size()));
    }
  }

  /// Those of both runs, in the room that the tables leave.
  void AddTimelines(Timeline timeline) {
    constexpr size_t kNoLimit = 1'000'000'000'000;
    constexpr size_t kRoomOfSentences = 1000;  // What the timelines leave out.
    if (!HasTwoRuns(timeline)) return;
    const size_t taken = Bytes(Summary()) + kRoomOfSentences;
    const size_t limit = plan_.limit_bytes == 0 ? kNoLimit : plan_.limit_bytes;
    try {
      timelines_.emplace(std::move(timeline), plan_, limit - std::min(limit, taken), cutter_);
    } catch (const UsageError&) {
      timelines_fit_ = false;
    }
  }

  std::vector<std::string> LeftOut() const {
    std::vector<std::string> sentences;
    if (!timelines_fit_) {
      sentences.push_back(
          fmt::format("the timelines: the page would be larger than {} bytes (--report-limit)",
                      plan_.limit_bytes));
    }
    for (size_t i = 0; i < tables_.size(); ++i) {
      const size_t all = tables_[i].columns.rows();
      if (tables_[i].rows == all) continue;
      sentences.push_back(
          fmt::format("{} of {} rows of {}: the page would be larger than {} bytes "
                      "(--report-limit)",
                      all - tables_[i].rows, all, diff_.tables[i].view, plan_.limit_bytes));
    }
    return sentences;
  }

  DiffPageJson TableOf(size_t place) const {
    const PackedTable& table = tables_[place];
    DiffPageJson fields = DiffPageJson::array();
    for (const prof::Field& field : table.columns.fields()) fields.push_back(FieldJson(field));
    return {{"view", diff_.tables[place].view},
            {"explains_total", diff_.tables[place].explains_total},
            {"fields", std::move(fields)},
            {"rows", table.rows},
            {"left_out", table.columns.rows() - table.rows},
            {"table", TableId(place)}};
  }

  std::string Summary() const {
    DiffPageJson json;
    json["schema"] = kDiffPageSchema;
    json["program"] = plan_.program;
    json["title"] = cutter_.Cut(Title());
    json["base"] = cutter_.Cut(names_.first);
    json["new"] = cutter_.Cut(names_.second);
    json["base_steps"] = diff_.base_steps;
    json["new_steps"] = diff_.new_steps;
    json["total"] = FigureOf(diff_.total);
    json["verdict"] = diff_.verdict;
    json["differences"] = DiffPageJson::array();
    for (const prof::Difference& one : diff_.differences) {
      json["differences"].push_back({{"fact", one.fact},
                                     {"base", cutter_.Cut(one.base)},
                                     {"new", cutter_.Cut(one.now)},
                                     {"decides", one.decides}});
    }
    json["causes"] = DiffPageJson::array();
    for (const prof::Cause& cause : diff_.causes) {
      json["causes"].push_back({{"cause", cause.cause},
                                {"delta_ns", NumberOf(cause.delta_ns)},
                                {"sentence", cutter_.Cut(cause.sentence)},
                                {"verdict", WordOf(cause.verdict)}});
    }
    json["tables"] = DiffPageJson::array();
    for (size_t i = 0; i < tables_.size(); ++i) json["tables"].push_back(TableOf(i));
    json["notes"] = DiffPageJson::array();
    for (const std::string& note : diff_.notes) json["notes"].push_back(cutter_.Cut(note));
    json["left_out"] = LeftOut();
    return SafeJson(json.dump(-1, ' ', false, DiffPageJson::error_handler_t::replace));
  }

  const prof::Diff& diff_;
  const DiffPagePlan& plan_;
  PathCutter cutter_;
  PageShell shell_;
  std::pair<std::string, std::string> names_;
  std::string title_;
  std::vector<PackedTable> tables_;
  std::optional<TimelineBlocks> timelines_;
  bool timelines_fit_ = true;
};

}  // namespace

DiffPageResult WriteDiffPage(const prof::Diff& diff, Timeline timeline, const DiffPagePlan& plan,
                             Output* output) {
  return DiffPage(diff, std::move(timeline), plan).Write(output);
}

}  // namespace oplens::report
