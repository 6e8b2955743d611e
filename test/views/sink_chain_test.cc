#include "prof/table/sink_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace oplens::prof::sink_chain_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Field> kFields = {
    {"name", "Name", "", FieldType::kText, 5, "key", Fold::kKey},
    {"ns", "Ns", "ns", FieldType::kInteger, 5, "sum", Fold::kSum},
    {"least", "Least", "ns", FieldType::kInteger, 5, "min", Fold::kMin},
    {"most", "Most", "ns", FieldType::kInteger, 5, "max", Fold::kMax},
    {"pct", "Pct", "%", FieldType::kDecimal, 5, "a share"},
};

class Lines : public Sink {
 public:
  void Begin(std::string_view, std::vector<Field> fields) override { fields_ = std::move(fields); }
  void Row(std::span<const Cell> cells) override {
    std::string line;
    std::string scratch;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ' ';
      const std::string_view text = CellText(fields_[i], cells[i], &scratch);
      line += text.empty() ? "-" : text;
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;

 private:
  std::vector<Field> fields_;
};

void Fill(Sink* sink) {
  sink->Begin("table", kFields);
  for (const auto& [name, ns] : {std::pair{"b", 10}, {"a", 30}, {"d", 20}, {"c", 10}}) {
    const std::string owned = name;  // Cells need not outlive the call.
    sink->Row(
        std::vector<Cell>{Text(owned), Integer(ns), Integer(ns), Integer(ns), Decimal(ns / 2.0)});
  }
  sink->Row(std::vector<Cell>(kFields.size()));
  sink->End();
}

std::vector<std::string> Sorted(std::string_view order, size_t top = 0) {
  Lines lines;
  SortingSink sorted(ParseOrder(order, kFields), top, &lines);
  Fill(&sorted);
  return lines.lines;
}

TEST(SortingSinkTest, FiguresLargestFirstKeysInOrderUnknownLast) {
  EXPECT_THAT(Sorted("ns"), ElementsAre("a 30 30 30 15.000", "d 20 20 20 10.000",
                                        "b 10 10 10 5.000", "c 10 10 10 5.000", "- - - - -"));
  EXPECT_EQ(Sorted("name").front(), "a 30 30 30 15.000");
  EXPECT_EQ(Sorted("-name").front(), "d 20 20 20 10.000");
  EXPECT_EQ(Sorted("-name").back(), "- - - - -");
  EXPECT_EQ(Sorted("pct:asc").front(), "b 10 10 10 5.000");
}

TEST(SortingSinkTest, TheRestIsFoldedByItsFields) {
  EXPECT_THAT(Sorted("ns", 1), ElementsAre("a 30 30 30 15.000", "(4 more) 40 10 20 -"));
  EXPECT_EQ(Sorted("ns", 5).size(), 5u);
}

TEST(SortingSinkTest, AKeyThatIsShownNamesTheRest) {
  std::vector<Field> fields = kFields;
  fields[0].type = FieldType::kText;
  fields[1] = fields[0];
  for (const auto& [shown, expected] :
       std::vector<std::pair<std::vector<size_t>, std::string>>{{{}, "(1 more) - 2 2 -"},
                                                                {{0, 1, 2}, "(1 more) - 2 2 -"},
                                                                {{2, 1}, "- (1 more) 2 2 -"},
                                                                {{2}, "- - 2 2 -"}}) {
    Lines lines;
    SortingSink sorted(std::nullopt, 1, &lines, shown);
    sorted.Begin("table", fields);
    for (int i = 1; i <= 2; ++i) {
      sorted.Row(std::vector<Cell>{Text("a"), Text("b"), Integer(i), Integer(i), Decimal(i)});
    }
    sorted.End();
    EXPECT_EQ(lines.lines.back(), expected);
  }
}

TEST(SortingSinkTest, RowsThatStandForOthersAreNotAddedToThem) {
  std::vector<Field> fields = kFields;
  fields[0].whole = "(all)";
  Lines lines;
  SortingSink sorted(std::nullopt, 1, &lines);
  sorted.Begin("table", fields);
  for (const auto& [name, ns] : {std::pair{"(all)", 60}, {"a", 30}, {"(all)", 90}, {"b", 20}}) {
    sorted.Row(
        std::vector<Cell>{Text(name), Integer(ns), Integer(ns), Integer(ns), Decimal(ns / 2.0)});
  }
  sorted.End();
  EXPECT_THAT(lines.lines, ElementsAre("(all) 60 60 60 30.000", "(3 more) 50 20 30 -"));
}

TEST(SortingSinkTest, SumsThatDoNotFitBecomeDecimals) {
  Lines lines;
  SortingSink sorted(std::nullopt, 1, &lines);
  sorted.Begin("table", kFields);
  for (int i = 0; i < 4; ++i) {
    sorted.Row(std::vector<Cell>{Text("x"), Integer(INT64_MAX), Cell{}, Cell{}, Cell{}});
  }
  sorted.End();
  EXPECT_EQ(lines.lines.back(), "(3 more) 27670116110564327424.000 - - -");
}

TEST(SelectingSinkTest, FieldsInTheOrderAskedFor) {
  Lines lines;
  SelectingSink selecting(SelectFields("ns,name", kFields), &lines);
  Fill(&selecting);
  EXPECT_EQ(lines.lines.front(), "10 b");
  EXPECT_EQ(lines.lines.back(), "- -");
}

TEST(ParseOrderTest, NamesTheWrongWord) {
  try {
    ParseOrder("size", kFields);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'size'; the columns are name,ns,least"));
  }
}

}  // namespace
}  // namespace oplens::prof::sink_chain_test
