#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/where/quantity.h"
#include "prof/where/read_where.h"
#include "prof/where/row_filter.h"

namespace oplens::prof::where_test {
namespace {

using testing::HasSubstr;
using enum FieldType;

const std::vector<Field> kFields = {
    {"name", "Name", "", kText, 5, ""},
    {"kernel", "Kernel", "", kName, 5, ""},
    {"ns", "Ns", "ns", kInteger, 5, ""},
    {"size", "Size", "B", kInteger, 5, ""},
    {"pct", "Pct", "%", kDecimal, 5, ""},
    {"tc", "TC", "", kText, 2, "", Fold::kKey, "", "?"},
    {"layer", "Layer", "", kTextList, 5, "", Fold::kNone, ":"},
    {"seq", "Seq", "", kIntegerList, 5, "", Fold::kNone, ","},
    {"grid", "Grid", "blocks", kExtent, 5, "", Fold::kNone, ","},
    {"reason", "Reason", "", kTextList, 5, "", Fold::kNone, ","},
};
const std::vector<std::string_view> kLayers = {"net", "net.block.3"};
const std::vector<int64_t> kSequence = {7, 12};

std::vector<Cell> KnownRow() {
  ReasonSet reasons;
  reasons.Add(Reason::kNoLaunchCall);
  return {Text("mm"),
          Text("void gemm<a, b>"),
          Integer(12'000),
          Integer(3 << 20),
          Decimal(12.5),
          Integer(1),
          {Cell::Texts{kLayers, 0}},
          {std::span<const int64_t>(kSequence)},
          {Dim3{4, 2, 1}},
          {reasons}};
}

std::shared_ptr<const Condition> Read(std::string_view text) {
  return ReadWhere(text, std::vector<WhereScope>{{"row", "rows", kFields}}).front();
}

bool Holds(std::string_view text, const std::vector<Cell>& row = KnownRow()) {
  return Read(text)->Keeps(GivenCells(row));
}

std::string ErrorOf(std::string_view text,
                    std::vector<WhereScope> scopes = {{"row", "rows", kFields}}) {
  try {
    ReadWhere(text, scopes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(WhereTest, ComparesByTheTypeOfTheField) {
  for (const char* text : {"name=mm",
                           "name = mm",
                           "name==mm",
                           "name='mm'",
                           "name!=add",
                           "name~^m",
                           "name!~x",
                           "kernel='void gemm<a, b>'",
                           "kernel='void_gemm<a,_b>'",
                           "kernel~gemm",
                           "ns=12us",
                           "ns>=12000",
                           "ns<12.5us",
                           "ns>0.011ms",
                           "ns<1s",
                           "ns!=1",
                           "ns=12k",
                           "size=3MiB",
                           "size>3MB",
                           "size<1GiB",
                           "pct=12.5%",
                           "pct>12",
                           "tc=1",
                           "tc!=0",
                           "layer=net",
                           "layer=net.block.3",
                           "layer=net:net.block.3",
                           "layer~^net\\.block\\.(\\d+)$",
                           "layer~net:net",
                           "layer!=other",
                           "layer!~^block",
                           "seq=12",
                           "seq>10",
                           "seq=7,12",
                           "grid=8",
                           "grid=4,2,1",
                           "grid>7",
                           "grid~^4",
                           "reason=no-launch and reason~launch",
                           "row.ns>1",
                           "ns!=unknown",
                           "NOT ns<1 AND name=mm"}) {
    EXPECT_TRUE(Holds(text)) << text;
  }
  for (const char* text :
       {"name=m", "name=MM", "kernel=gemm", "ns>12us", "ns<=11.999us", "size>3MiB", "pct<12.5",
        "tc=0", "layer=block", "layer~^block", "layer!=net", "seq=712", "seq<7", "grid=4",
        "grid=4,2", "ns=unknown", "name<3", "reason=unknown", "not name=mm"}) {
    EXPECT_FALSE(Holds(text)) << text;
  }
}

TEST(WhereTest, AndBindsTighterThanOr) {
  EXPECT_TRUE(Holds("name=mm or name=x and ns<1"));
  EXPECT_FALSE(Holds("(name=mm or name=x) and ns<1"));
  EXPECT_TRUE(Holds("not name=x and not ns<1"));
  EXPECT_FALSE(Holds("not (name=mm or ns<1)"));
  EXPECT_TRUE(Holds("((name=mm))and(kernel~(gemm|conv))"));
}

TEST(WhereTest, WhatIsUnknownMatchesNothingElse) {
  std::vector<Cell> row(kFields.size());
  row[6] = {Cell::Texts{}};               // An empty list,
  row[7] = {std::span<const int64_t>()};  // another,
  row[9] = {ReasonSet()};                 // and no reason.
  row[4] = {std::numeric_limits<double>::quiet_NaN()};
  for (const Field& field : kFields) {
    const std::string key(field.key);
    if (key != "pct") {
      EXPECT_TRUE(Holds(key + "=unknown", row)) << key;
      EXPECT_FALSE(Holds(key + "!=unknown", row)) << key;
    }
    for (const char* test : {"=1", "!=1", "<1", ">=1"}) {
      EXPECT_FALSE(Holds(key + test, row)) << key << test;
      EXPECT_FALSE(Holds("not " + key + test, row)) << key << test;
    }
  }
  EXPECT_TRUE(Holds("tc=?", row));
  EXPECT_FALSE(Holds("name='unknown'", row));
  EXPECT_TRUE(Holds("ns>1 or name=unknown", row)) << "one is enough";
  EXPECT_FALSE(Holds("ns>1 and name=unknown", row));
}

TEST(WhereTest, ErrorsShowThePlace) {
  EXPECT_EQ(ErrorOf("name=mm and ns>10 us"),
            "--where: 'and', 'or' or the end is expected\n"
            "  name=mm and ns>10 us\n"
            "                    ^");
  for (const auto& [text, what] : std::vector<std::pair<const char*, const char*>>{
           {"", "a comparison is expected"},
           {"ns", "one of = != <"},
           {"ns>1 or or ns<2", "a comparison is expected"},
           {"colour=1", "no column 'colour'"},
           {"row.colour=1", "no column 'colour'"},
           {"name=", "a value is expected"},
           {"name=''", "=unknown"},
           {"name='x", "never closed"},
           {"name=mm&&ns>1", "quotes"},
           {"(name=mm", "')' is expected"},
           {"name=mm)", "closes nothing"},
           {"name~(", "is no pattern"},
           {"name<x", "is no number"},
           {"ns~1", "is a number"},
           {"ns=x", "is a number"},
           {"ns='1'", "without quotes"},
           {"ns>1MB", "no unit"},
           {"pct>1us", "no unit"},
           {"ns>inf", "is no number"},
           {"ns>-inf", "is no number"},
           {"ns>nan", "is no number"},
           {"and", "a comparison is expected"},
           {"name=a name=b", "'and', 'or'"}}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr(what)) << text;
    EXPECT_THAT(ErrorOf(text), HasSubstr("^")) << text;
  }
  EXPECT_THAT(ErrorOf(std::string(100'000, 'a')), HasSubstr("longer than"));
  EXPECT_THAT(ErrorOf(std::string(1000, '(')), HasSubstr("nested deeper"));
  std::string nots;
  for (int i = 0; i < 1000; ++i) nots += "not ";
  EXPECT_THAT(ErrorOf(nots), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf("name=\x01\xff("), testing::Not(HasSubstr("\x01")));
}

TEST(WhereTest, ScopesAreAskedOneAfterTheOther) {
  const std::vector<Field> groups = {{"name", "Name", "", kText, 5, ""},
                                     {"count", "Count", "", kInteger, 5, ""},
                                     {"pct", "Pct", "%", kDecimal, 5, ""}};
  const std::vector<WhereScope> scopes = {{"row", "rows", kFields},
                                          {"group", "groups", groups, {"pct"}}};
  auto read = ReadWhere("ns>1 and count>2", scopes);
  ASSERT_TRUE(read[0] != nullptr && read[1] != nullptr);
  EXPECT_EQ(read[0]->Fields(), std::vector<size_t>{2});
  EXPECT_EQ(read[1]->Fields(), std::vector<size_t>{1});
  read = ReadWhere("name=x and (row.pct>1 and (ns>1 or ns<1))", scopes);
  EXPECT_TRUE(read[0] != nullptr && read[1] == nullptr);
  read = ReadWhere("pct>1 and group.name=x", scopes);
  EXPECT_TRUE(read[0] == nullptr && read[1] != nullptr);
  EXPECT_THAT(ErrorOf("ns>1 or count>2", scopes), HasSubstr("only 'and' can join them"));
  EXPECT_THAT(ErrorOf("not (ns>1 and count>2)", scopes), HasSubstr("only 'and' can join them"));
}

TEST(QuantityTest, IsExactWhereItIsWhole) {
  const auto read = [](std::string_view text, std::string_view unit) {
    std::string wrong;
    const auto quantity = ReadQuantity(text, unit, &wrong);
    EXPECT_TRUE(quantity.has_value()) << wrong;
    return quantity && quantity->whole ? *quantity->whole : -1;
  };
  EXPECT_EQ(read("9223372036854775807", ""), INT64_MAX);
  EXPECT_EQ(read("9007199254740993", ""), 9007199254740993) << "2^53 + 1";
  EXPECT_EQ(read("2.3us", "ns"), 2300);
  EXPECT_EQ(read("4.35us", "ns"), 4350);
  EXPECT_EQ(read("1e3", ""), 1000);
  EXPECT_EQ(read("1.5T", "FLOP"), 1'500'000'000'000);
  EXPECT_EQ(read("64KiB", "B"), 65536);
  EXPECT_EQ(read("0.1", "%"), -1);
  EXPECT_EQ(read("9223372036854775807T", ""), -1);
}

/// A text of words that conditions are made of.
rc::Gen<std::string> HostileText() {
  const auto word = rc::gen::element<std::string>(
      "name", "ns", "layer", "grid", "=", "~", "<", ">=", "!", "(", ")", "and", "or", "not", " ",
      "\"", "'", "\\", "10us", "1e999", "-", "[", "*", "\xff", std::string(1, '\0'), "row.", "?");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(word),
                      [](const std::vector<std::string>& words) {
                        std::string text;
                        for (const std::string& part : words) text += part;
                        return text;
                      });
}

RC_GTEST_PROP(WhereProperty, AnyTextIsReadOrRefused, ()) {
  const std::string text = *HostileText();
  const std::string error = ErrorOf(text);
  if (error.empty()) {
    RC_ASSERT(Read(text) != nullptr);
    Holds(text);
    Holds(text, std::vector<Cell>(kFields.size()));
  } else {
    RC_ASSERT(error.find('^') != std::string::npos);
  }
}

RC_GTEST_PROP(WhereProperty, AnyBytesAreReadOrRefused, (const std::string& text)) {
  if (ErrorOf(text).empty()) Holds(text);
}

/// Of a row either X holds, or "not X", or neither, where a cell that X names is unknown.
RC_GTEST_PROP(WhereProperty, NotIsTheRestButForTheUnknown, ()) {
  const auto comparison =
      rc::gen::element<std::string>("name=mm", "name~m", "ns>10us", "ns!=12000", "layer=net",
                                    "layer!~block", "grid>7", "tc=1", "seq<8", "pct<=12.5");
  std::string text = *comparison;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    text = "(" + text + ")" + *rc::gen::element<std::string>(" and ", " or ", " and not ") +
           *comparison;
  }
  std::vector<Cell> row = KnownRow();
  const bool known = Holds(text, row);
  RC_ASSERT(known != Holds("not (" + text + ")", row));
  for (Cell& cell : row) {
    if (*rc::gen::arbitrary<bool>()) cell = {};
  }
  RC_ASSERT(!(Holds(text, row) && Holds("not (" + text + ")", row)));
  // What holds without knowing something also holds of the row where it is known.
  if (Holds(text, row)) RC_ASSERT(known);
}

}  // namespace
}  // namespace oplens::prof::where_test
