// Answers stay within their tokens, and say what is missing.

#include "mcp/answers/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mcp/answers/tokens.h"

namespace oplens::test::answer_test {
namespace {

using mcp::Answer;
using mcp::AnswerRows;
using mcp::BoundedAnswer;
using mcp::SafeText;
using mcp::TokensOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

TEST(TokensTest, FollowTheRule) {
  const std::pair<const char*, size_t> cases[] = {
      {"", 0},          {"a", 1},    {"abcd", 1},     {"abcde", 2},
      {"camelCase", 3}, {"ABC", 1},  {"a b", 2},      {"a 1", 3},
      {"a  b", 3},      {"2024", 4}, {"\n", 1},       {"a\tb", 3},
      {"::", 1},        {"\":{", 2}, {"\xc3\xa4", 2}, {"\xf0\x9f\x98\x80", 4},
      {"x=1", 3},       {" ", 0},    {"   ", 1},
  };
  for (const auto& [text, tokens] : cases) EXPECT_EQ(TokensOf(text), tokens) << text;
}

constexpr prof::Field kFields[] = {
    {"op", "Op", "", prof::FieldType::kText, 8, "", prof::Fold::kKey},
    {"ns", "Ns", "ns", prof::FieldType::kInteger, 8, "", prof::Fold::kSum},
    {"pct", "Pct", "%", prof::FieldType::kDecimal, 8, ""},
};

AnswerRows RowsOf(int count, size_t skip = 0) {
  AnswerRows rows(skip);
  rows.Begin({std::begin(kFields), std::end(kFields)});
  for (int i = 1; i <= count; ++i) {
    const std::string op = "op" + std::to_string(i);
    const prof::Cell cells[] = {prof::Text(op), prof::Integer(i), prof::Decimal(i / 3.0)};
    rows.Add(cells);
  }
  return rows;
}

Answer SomeAnswer() {
  Answer answer;
  answer.title = "rows";
  answer.notes = {"first", "second"};
  answer.evidence = {"oplens view x f", "f", "sha256:0", "recorded", "op for 90 %"};
  answer.next = {"view", {{"path", "f"}, {"name", "idle"}}, "why"};
  return answer;
}

size_t DumpTokens(const BoundedAnswer& bounded) { return TokensOf(bounded.structured.dump()); }

TEST(BoundTest, WhatFitsIsWhole) {
  const BoundedAnswer bounded = mcp::Bound(SomeAnswer(), RowsOf(3), 1500);
  EXPECT_EQ(bounded.structured["rows"].size(), 3U);
  EXPECT_FALSE(bounded.structured.contains("more"));
  EXPECT_EQ(bounded.structured["next"]["tool"], "view");
  EXPECT_EQ(bounded.structured["evidence"]["share"], "op for 90 %");
  EXPECT_THAT(bounded.text, HasSubstr("op|ns|pct\nop1|1|0.333333\n"));
}

TEST(BoundTest, RowsAreDroppedFromTheEndAndSummed) {
  for (const size_t most : {300U, 500U, 1000U, 1500U}) {
    const BoundedAnswer bounded = mcp::Bound(SomeAnswer(), RowsOf(2000), most);
    EXPECT_LE(TokensOf(bounded.text), most);
    EXPECT_LE(DumpTokens(bounded), most);
    const auto shown = static_cast<int64_t>(bounded.structured["rows"].size());
    EXPECT_GT(shown, 5);
    EXPECT_EQ(bounded.structured["more"]["rows"], 2000 - shown);
    EXPECT_EQ(bounded.structured["more"]["skip"], shown);
    EXPECT_EQ(bounded.structured["more"]["sums"]["ns"], 2000 * 2001 / 2 - shown * (shown + 1) / 2);
    // A share of rows that are not shown cannot be summed.
    EXPECT_FALSE(bounded.structured["more"]["sums"].contains("pct"));
    EXPECT_THAT(bounded.text, HasSubstr("(skip=" + std::to_string(shown) + ")"));
  }
}

TEST(BoundTest, SkippingGoesOnWhereTheAnswerEnded) {
  size_t skip = 0;
  int64_t seen = 0;
  int calls = 0;
  while (++calls < 100) {
    const BoundedAnswer bounded = mcp::Bound(SomeAnswer(), RowsOf(500, skip), 400);
    for (const Json& row : bounded.structured["rows"]) EXPECT_EQ(row[1], ++seen);
    if (!bounded.structured.contains("more")) break;
    skip = bounded.structured["more"]["skip"].get<size_t>();
  }
  EXPECT_EQ(seen, 500);
}

TEST(BoundTest, NotesGoBeforeTheLastRow) {
  Answer answer = SomeAnswer();
  answer.notes.assign(20, std::string(200, 'x'));
  const BoundedAnswer bounded = mcp::Bound(answer, RowsOf(10), 300);
  EXPECT_LE(TokensOf(bounded.text), 300U);
  EXPECT_GE(bounded.structured["rows"].size(), 1U);
  EXPECT_LT(bounded.structured["notes"].size(), 20U);
}

TEST(BoundTest, ColumnsThatAreUnknownThroughoutAreNamed) {
  AnswerRows rows;
  rows.Begin({std::begin(kFields), std::end(kFields)});
  const prof::Cell cells[] = {prof::Text("a"), prof::Integer(7), prof::Cell{}};
  rows.Add(cells);
  EXPECT_THAT(rows.DropUnknown(), ElementsAre("pct"));
  EXPECT_THAT(rows.columns(), ElementsAre("op", "ns"));
  EXPECT_EQ(rows.rows().front().size(), 2U);
}

TEST(BoundTest, NumbersStayExactWhereTheyAreWhole) {
  EXPECT_EQ(mcp::RoundedCell(Json(123456789012.0)).dump(), "123456789012");
  EXPECT_EQ(mcp::RoundedCell(Json(12.3456789)).dump(), "12.3457");
  EXPECT_EQ(mcp::RoundedCell(Json(int64_t{9007199254740993})).dump(), "9007199254740993");
  EXPECT_TRUE(mcp::RoundedCell(Json(std::numeric_limits<double>::infinity())).is_null());
}

TEST(SafeTextTest, ControlCharactersAreShownAsEscapes) {
  EXPECT_EQ(SafeText("a\nb\x1b[0m", 80), "a\\u000ab\\u001b[0m");
  EXPECT_EQ(SafeText("\xe2\x80\xae"
                     "abc",
                     80),
            "\\u202eabc");
  EXPECT_EQ(SafeText("a\xff", 80), "a\xef\xbf\xbd");
  EXPECT_EQ(SafeText("kernel", 80), "kernel");
}

TEST(SafeTextTest, LongNamesLoseTheirMiddle) {
  const std::string shown = SafeText(std::string(100, 'a') + std::string(100, 'b'), 20);
  EXPECT_LE(shown.size(), 20U);
  EXPECT_THAT(shown, HasSubstr("..."));
  EXPECT_EQ(shown.front(), 'a');
  EXPECT_EQ(shown.back(), 'b');
}

}  // namespace
}  // namespace oplens::test::answer_test
