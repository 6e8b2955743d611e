#include "prof/table/top_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace oplens::prof::top_rows_test {
namespace {

using testing::ElementsAre;

const std::vector<Field> kFields = {
    {"n", "N", "", FieldType::kInteger, 5, ""},
    {"list", "List", "", FieldType::kTextList, 5, "", Fold::kNone, ":"},
    {"numbers", "Numbers", "", FieldType::kIntegerList, 5, "", Fold::kNone, ","},
    {"text", "Text", "", FieldType::kText, 5, ""},
};

class Lines : public Sink {
 public:
  void Begin(std::string_view, std::vector<Field>) override {}
  void Row(std::span<const Cell> cells) override {
    std::string line;
    std::string scratch;
    for (size_t i = 0; i < cells.size(); ++i) {
      line += i > 0 ? " " : "";
      line += CellText(kFields[i], cells[i], &scratch);
    }
    lines.push_back(line);
  }
  std::vector<std::string> lines;
};

/// Rows of texts that are gone once they were taken.
std::vector<std::string> Top(const std::vector<std::optional<int64_t>>& numbers,
                             std::optional<RowOrder> order, size_t top,
                             std::string* sentence = nullptr) {
  Lines lines;
  TopRows rows(order, top, &lines);
  rows.Begin("table", kFields);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string text = "row-with-a-long-name-" + std::to_string(i);
    const std::vector<std::string_view> texts = {text, "b"};
    const std::vector<int64_t> integers = {static_cast<int64_t>(i), 2};
    rows.Row(std::vector<Cell>{Integer(numbers[i]),
                               {Cell::Texts{texts, 1}},
                               {std::span<const int64_t>(integers)},
                               Text(text)});
  }
  rows.End();
  if (sentence != nullptr) *sentence = rows.Sentence("rows");
  return lines.lines;
}

TEST(TopRowsTest, KeepsTheBest) {
  std::string sentence;
  EXPECT_THAT(Top({3, std::nullopt, 9, 5}, RowOrder{0, false}, 2, &sentence),
              ElementsAre("9 row-with-a-long-name-2:b:... 1 more 2,2 row-with-a-long-name-2",
                          "5 row-with-a-long-name-3:b:... 1 more 3,2 row-with-a-long-name-3"));
  EXPECT_EQ(sentence, "shown are the first 2 of 4 rows: --top 2");
  EXPECT_EQ(Top({3, std::nullopt, 9, 5}, RowOrder{0, true}, 0).back().substr(0, 1), " ");
  EXPECT_EQ(Top({3, 4, 5}, std::nullopt, 2, &sentence).size(), 2u);
  EXPECT_EQ(Top({3, 4}, std::nullopt, 2, &sentence).size(), 2u);
  EXPECT_EQ(sentence, "");
  EXPECT_TRUE(Top({}, RowOrder{0, false}, 2).empty());
}

RC_GTEST_PROP(TopRowsProperty, TheFirstOfAllInOrder,
              (const std::vector<int8_t>& some, uint8_t top, bool ascending, bool by_list)) {
  std::vector<std::optional<int64_t>> numbers;
  for (const int8_t number : some) {
    numbers.push_back(number < 0 ? std::nullopt : std::optional<int64_t>(number));
  }
  const RowOrder order{by_list ? 1U : 0U, ascending};
  std::vector<std::string> all = Top(numbers, order, 0);
  RC_ASSERT(all.size() == numbers.size());
  const std::vector<std::string> first = Top(numbers, order, top);
  if (top > 0) all.resize(std::min<size_t>(all.size(), top));
  RC_ASSERT(first == all);
}

}  // namespace
}  // namespace oplens::prof::top_rows_test
