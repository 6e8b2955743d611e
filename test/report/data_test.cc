// Bytes, columns and paths of a page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/path_cutter.h"
#include "report/data/column.h"
#include "report/data/pack.h"
#include "test/report/read_page.h"

namespace oplens::report::data_test {
namespace {

using nlohmann::json;

std::string Base64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, &text);
  return text;
}

TEST(PackTest, Base64OfRfc4648) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xFF\xFE\xFD"), "//79");
}

TEST(PackTest, EveryLengthReadsBack) {
  std::mt19937 random(7);
  for (const size_t length : {0u, 1u, 2u, 3u, 4u, 100u, 65535u, 65536u, 200000u}) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(random()));
    EXPECT_EQ(test::FromBase64(Base64(bytes)), bytes);
    EXPECT_EQ(Base64(bytes).size(), Base64Length(length));
    EXPECT_EQ(test::Inflate(Deflate(bytes)), bytes);
    EXPECT_EQ(Deflate(bytes), Deflate(bytes));
    Deflater pieces;
    for (size_t i = 0; i < bytes.size(); i += 1 + bytes.size() / 7) {
      pieces.Add(std::string_view(bytes).substr(i, 1 + bytes.size() / 7));
    }
    EXPECT_EQ(pieces.Finish(), Deflate(bytes));
  }
  const std::string zeros(3'000'000, '\0');
  EXPECT_LT(Deflate(zeros).size(), 4000u);
  EXPECT_EQ(test::Inflate(Deflate(zeros)), zeros);
}

TEST(PackTest, PlanesHaveTheLeastByteFirst) {
  const std::vector<uint64_t> values = {0x01020304, 0xAABBCCDD};
  std::string planes;
  AppendPlanes(values, 4, &planes);
  EXPECT_EQ(planes, "\x04\xDD\x03\xCC\x02\xBB\x01\xAA");
}

json Written(const Column& column, size_t rows = SIZE_MAX) {
  std::string text;
  column.Write(rows, &text);
  return json::parse(text);
}

const PathCutter kKeep;

TEST(ColumnTest, NumbersStandAsTheyAre) {
  Column column(true, &kKeep);
  column.AddInteger(1);
  column.AddUnknown();
  column.AddDecimal(0.1);
  column.AddInteger(int64_t{1} << 53);
  column.AddInteger((int64_t{1} << 53) + 1);
  column.AddInteger(INT64_MIN);
  column.AddDecimal(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Written(column), json::parse(R"({"v": [1, null, 0.1, 9007199254740992,
      "9007199254740993", "-9223372036854775808", null]})"));
  EXPECT_EQ(Written(column, 2), json::parse(R"({"v": [1, null]})"));
  EXPECT_EQ(Written(column, 0), json::parse(R"({"v": []})"));
}

TEST(ColumnTest, DecimalsHaveTenDigits) {
  const auto shown = [](double value) {
    std::string text;
    AppendJsonDecimal(value, &text);
    return text;
  };
  EXPECT_EQ(shown(100.0 / 3), "33.33333333");
  EXPECT_EQ(shown(-2e-7 / 3), "-6.666666667e-08");
  EXPECT_EQ(shown(0), "0");
  EXPECT_EQ(shown(123456789012345.5), "1.23456789e+14");
  // Whole ones stay whole.
  EXPECT_EQ(shown(123456789012345), "123456789012345");
  EXPECT_EQ(shown(-9007199254740992.0), "-9007199254740992");
  EXPECT_EQ(shown(1e300), "1e+300");
}

TEST(ColumnTest, TextsStandOnce) {
  Column column(false, &kKeep);
  for (const char* text : {"mm", "addmm", "mm"}) column.AddText(text);
  column.AddUnknown();
  column.AddText("relu");
  column.AddText("");
  EXPECT_EQ(Written(column),
            json::parse(R"({"d": ["mm", "addmm", "relu", ""], "i": [0, 1, 0, -1, 2, 3]})"));
  EXPECT_EQ(Written(column, 4), json::parse(R"({"d": ["mm", "addmm"], "i": [0, 1, 0, -1]})"));
  EXPECT_EQ(Written(column, 0), json::parse(R"({"d": [], "i": []})"));
}

TEST(ColumnTest, ATextIsNoNumberOfTheSameLetters) {
  Column column(false, &kKeep);
  column.AddText("1");
  column.AddInteger(1);
  column.AddJson("[1,2]");
  column.AddInteger(1);
  EXPECT_EQ(Written(column), json::parse(R"({"d": ["1", 1, [1, 2]], "i": [0, 1, 2, 1]})"));
}

TEST(ColumnTest, ATextAmongNumbersHoldsNoComma) {
  Column column(true, &kKeep);
  column.AddText("a,b");
  column.AddInteger(2);
  column.AddInteger(3);
  EXPECT_EQ(Written(column, 2), json::parse(R"({"v": ["a,b", 2]})"));
}

TEST(ColumnTest, WhatIsNoUtf8IsReplacedAndOnce) {
  Column column(false, &kKeep);
  column.AddText("a\xFF");
  column.AddText("a\xFE");
  column.AddText(std::string_view("\0\"\\\n</script>", 13));
  const json written = Written(column);
  EXPECT_EQ(written["i"], json::parse("[0, 0, 1]"));
  EXPECT_EQ(written["d"][0], "a\xEF\xBF\xBD");
  EXPECT_EQ(written["d"][1], std::string("\0\"\\\n</script>", 13));
}

TEST(ColumnTest, PathsAreCutInTextsAndLists) {
  const PathCutter cutter("/data/run");
  Column column(false, &cutter);
  column.AddText("/data/run/a.py:3");
  column.AddText("a.py:3");
  const std::string_view files[] = {"/data/run/a.py:3", "/opt/lib/site-packages/torch/nn.py:5"};
  column.AddTexts(files);
  EXPECT_EQ(Written(column),
            json::parse(R"({"d": ["a.py:3", ["a.py:3", "torch/nn.py:5"]], "i": [0, 0, 1]})"));
}

TEST(PathCutterTest, CutsBelowPackagesWorkingFolderAndHomes) {
  const PathCutter cutter("/data/run");
  const auto cut = [&](std::string_view text) { return cutter.Cut(text); };
  EXPECT_EQ(cut("/usr/lib/python3/dist-packages/torch/nn.py(3): forward"),
            "torch/nn.py(3): forward");
  EXPECT_EQ(cut("/x/site-packages/y/site-packages/z.py"), "z.py");
  EXPECT_EQ(cut("/data/run/train.py:7"), "train.py:7");
  EXPECT_EQ(cut("/data/runner/train.py:7"), "/data/runner/train.py:7");
  EXPECT_EQ(cut("/home/someone/net/train.py:7,/root/x.py:1"), "net/train.py:7,x.py:1");
  EXPECT_EQ(cut("C:\\Users\\me\\net\\a.py:1"), "net\\a.py:1");
  EXPECT_EQ(cut("D:\\venv\\Lib\\site-packages\\torch\\a.py"), "torch\\a.py");
  EXPECT_EQ(cut("cannot open '/data/run/a.sql': gone"), "cannot open 'a.sql': gone");
  // No paths, and no absolute ones.
  for (const char* text : {"", "/", "a/b", "aten::mm", "void f<int>(float const*)", "x/home/me/y",
                           "site-packages/a", "/etc/passwd", "//", "\\"}) {
    EXPECT_EQ(cut(text), text);
  }
}

TEST(PathCutterTest, KeepsEverythingUnlessAsked) {
  EXPECT_EQ(PathCutter().Cut("/home/me/a.py"), "/home/me/a.py");
  EXPECT_FALSE(PathCutter().MayCut("/home/me/a.py"));
  // The root is no folder to cut.
  EXPECT_EQ(PathCutter("/").Cut("/etc/x"), "/etc/x");
}

}  // namespace
}  // namespace oplens::report::data_test
