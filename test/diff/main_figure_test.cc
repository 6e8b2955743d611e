#include "prof/diff/main_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prof/diff/pair_rows.h"

namespace oplens::prof::main_figure_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr Field kTime = {"time_ns", "Time", "ns", FieldType::kInteger, 9, "", Fold::kSum};
constexpr Field kCalls = {"calls", "Calls", "", FieldType::kInteger, 9, "", Fold::kSum};
constexpr Field kBusy = {"busy_ns", "Busy", "ns", FieldType::kInteger, 9, "", Fold::kSum};
constexpr Field kLayer = {"layer", "Layer", "", FieldType::kText, 9, "", Fold::kKey};
constexpr Field kOp = {"op", "Op", "", FieldType::kText, 9, "", Fold::kKey};
constexpr Field kPath = {"path", "Path", "", FieldType::kText, 9, "", Fold::kKey};
constexpr Field kDevice = {"device", "Device", "", FieldType::kInteger, 9, "", Fold::kKey};

Figure FigureOf(std::optional<double> base, std::optional<double> now) {
  Figure figure;
  figure.base = base;
  figure.now = now;
  figure.change = Change::kSlower;
  return figure;
}

DiffTable TableOf(std::string view, std::vector<Field> figures, std::vector<Figure> row) {
  DiffTable table;
  table.view = std::move(view);
  table.figures = std::move(figures);
  table.shown_figures = table.figures.size();
  table.rows.push_back({{}, {}, std::move(row)});
  return table;
}

TEST(MainFigureTest, TheFirstTimeThatAnyRowHas) {
  EXPECT_EQ(MainFigureOf(TableOf("x", {kCalls, kTime}, {FigureOf(1, 2), FigureOf(1, 2)})), 1u);
  EXPECT_EQ(MainFigureOf(TableOf("x", {kTime, kBusy}, {FigureOf(0, 0), FigureOf(1, {})})), 1u);
  EXPECT_EQ(MainFigureOf(TableOf("x", {kTime, kCalls}, {FigureOf({}, {}), FigureOf(3, 3)})), 1u);
  EXPECT_EQ(MainFigureOf(TableOf("x", {kTime}, {FigureOf({}, {})})), std::nullopt);
  EXPECT_EQ(MainFigureOf(TableOf("x", {}, {})), std::nullopt);
}

TEST(MainFigureTest, OfSomeViewsAnother) {
  EXPECT_EQ(MainFigureOf(TableOf("gpu", {kTime, kBusy}, {FigureOf(1, 2), FigureOf(1, 2)})), 1u);
  const SummedFigure* const summed = SummedFigureOf("modules");
  ASSERT_NE(summed, nullptr);
  DiffTable table = TableOf("modules", {kTime, summed->field}, {FigureOf(1, 2), FigureOf(1, 2)});
  table.shown_figures = 1;
  EXPECT_EQ(MainFigureOf(table), 1u);
  table.rows[0].figures[1] = FigureOf(0, {});
  EXPECT_EQ(MainFigureOf(table), 0u) << "no time on a GPU";
  EXPECT_EQ(SummedFigureOf("gpu"), nullptr);
}

/// Rows of layer and op with a time.
DiffTable Operators(std::vector<DiffRow> rows) {
  DiffTable table;
  table.view = "operators";
  table.keys = {kLayer, kOp};
  table.figures = {kTime};
  table.shown_figures = 1;
  table.main = 0;
  table.rows = std::move(rows);
  return table;
}

std::vector<std::string> TextsOf(const DiffTable& table) {
  const auto number = [](const std::optional<double>& value) {
    return value ? std::to_string(static_cast<int64_t>(*value)) : std::string("-");
  };
  std::vector<std::string> texts;
  for (const DiffRow& row : table.rows) {
    texts.push_back(row.keys[0] + " " + (row.base_keys.empty() ? "" : "was " + row.base_keys[0]) +
                    " " + number(row.figures[0].base) + " " + number(row.figures[0].now) + " " +
                    std::string(WordOf(row.figures[0].change)));
  }
  return texts;
}

TEST(GroupedByTest, OneRowALayer) {
  const DiffTable table = Operators({{{"a", "mm"}, {}, {FigureOf(10, 20)}},
                                     {{"a", "add"}, {}, {FigureOf(5, 6)}},
                                     {{"b", "mm"}, {}, {FigureOf(100, 101)}},
                                     {{"c", "mm"}, {}, {FigureOf({}, 4)}},
                                     {{"d", "mm"}, {}, {FigureOf(3, {})}}});
  const std::vector<std::string> keys = {"layer"};
  const DiffTable grouped = GroupedBy(table, keys);
  EXPECT_THAT(TextsOf(grouped), ElementsAre("a  15 26 slower", "c  - 4 added", "d  3 - removed",
                                            "b  100 101 slower"));
  ASSERT_EQ(grouped.keys.size(), 1u);
  double all = 0;
  for (const DiffRow& row : grouped.rows) all += *row.figures[0].delta();
  EXPECT_EQ(all, 10 + 1 + 1 + 4 - 3);
}

// What is gone of a layer with another name is in that layer's row.
TEST(GroupedByTest, RenamedLayers) {
  const std::vector<std::string> keys = {"layer"};
  const DiffTable grouped = GroupedBy(Operators({{{"new", "mm"}, {"old", "mm"}, {FigureOf(10, 20)}},
                                                 {{"old", "add"}, {}, {FigureOf(5, {})}}}),
                                      keys);
  EXPECT_THAT(TextsOf(grouped), ElementsAre("new was old 15 20 slower"));
}

TEST(PairRowsTest, ModulesOfOtherNames) {
  const auto renamed = RenamedPaths(
      Operators({{{"Net_0:New_1:Fc_1", "mm"}, {"Net_0:Old_7:Linear_3", "mm"}, {FigureOf(10, 20)}},
                 {{"Net_0:New_2", "mm"}, {"Net_0:Old_7", "mm"}, {FigureOf(1, 1)}},
                 {{"Net_0:Other_1", "mm"}, {"Net_0", "mm"}, {FigureOf(9, 9)}},
                 {{"Net_0", "add"}, {}, {FigureOf(2, 2)}},
                 {{"Gone_0", "add"}, {}, {FigureOf(2, {})}}}));
  EXPECT_THAT(renamed, ElementsAre(Pair("Net_0/Old_7", "Net_0/New_1"),
                                   Pair("Net_0/Old_7/Linear_3", "Net_0/New_1/Fc_1")));
  const std::vector<RowKeys> base = {{"Net_0/Old_7"}, {"Net_0/Old_7/Linear_3"}, {"Gone_0"}};
  EXPECT_THAT(PairRows({kPath}, base, {{"Net_0/New_1"}, {"Net_0/New_1/Fc_1"}, {"More_0"}}, renamed),
              ElementsAre(Pair(RowKeys{"Net_0/New_1"}, RowKeys{"Net_0/Old_7"}),
                          Pair(RowKeys{"Net_0/New_1/Fc_1"}, RowKeys{"Net_0/Old_7/Linear_3"})));
  // Not below a parent that is another module's.
  EXPECT_THAT(PairRows({kPath}, base, {{"Net_0/New_1/Fc_1"}}, renamed), IsEmpty());
}

TEST(PairRowsTest, GpusOfOtherNumbers) {
  EXPECT_THAT(PairRows({kDevice}, {{"0"}, {"1"}}, {{"2"}, {"3"}}, {}),
              ElementsAre(Pair(RowKeys{"2"}, RowKeys{"0"}), Pair(RowKeys{"3"}, RowKeys{"1"})));
  EXPECT_THAT(PairRows({kDevice}, {{"0"}}, {{"2"}, {"3"}}, {}), IsEmpty());
  EXPECT_THAT(PairRows({kOp}, {{"0"}}, {{"2"}}, {}), IsEmpty());
}

}  // namespace
}  // namespace oplens::prof::main_figure_test
