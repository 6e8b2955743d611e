// Tables for a terminal: widths, what gives way, what is cut.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "prof/table/display_width.h"
#include "prof/table/layout.h"
#include "prof/table/text_sinks.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/support/test_files.h"

namespace oplens::prof::screen_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kFamily =
    "\U0001f468\u200d\U0001f469\u200d\U0001f467";  // One emoji of three, joined.

std::string CutText(std::string_view text, size_t width, Cut cut) {
  std::string out = "|";
  const size_t taken = AppendCut(text, width, cut, &out);
  EXPECT_EQ(taken, DisplayWidth(out) - 1) << out;
  EXPECT_LE(taken, width);
  return out.substr(1);
}

TEST(DisplayWidthTest, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\u00e4\u00f6"), 2u);
  EXPECT_EQ(DisplayWidth("a\u0308o\u0308"), 2u) << "accents of their own";
  EXPECT_EQ(DisplayWidth("\u6838\u51fd\u6570"), 6u) << "wide";
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2u);
  EXPECT_EQ(DisplayWidth("\ufffd"), 1u);
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2u) << "what is no UTF-8 is not to crash it";
}

TEST(AppendCutTest, KeepsWhatFits) {
  EXPECT_EQ(CutText("volta_sgemm", 11, Cut::kMiddle), "volta_sgemm");
  EXPECT_EQ(CutText("", 0, Cut::kLeft), "");
}

TEST(AppendCutTest, CutsWhereItIsTold) {
  constexpr std::string_view kText = "abcdefghijklmnop";
  EXPECT_EQ(CutText(kText, 10, Cut::kRight), "abcdefg...");
  EXPECT_EQ(CutText(kText, 10, Cut::kLeft), "...jklmnop");
  EXPECT_EQ(CutText(kText, 10, Cut::kMiddle), "abcd...nop");
  EXPECT_EQ(CutText(kText, 7, Cut::kRight), "abcdefg") << "too narrow for dots";
  EXPECT_EQ(CutText(kText, 7, Cut::kLeft), "...mnop") << "innermost names stay";
  EXPECT_EQ(CutText(kText, 4, Cut::kLeft), "mnop");
  EXPECT_EQ(CutText(kText, 7, Cut::kMiddle), "abcdefg");
  EXPECT_EQ(CutText(kText, 0, Cut::kLeft), "");
}

TEST(AppendCutTest, PartsNothingThatIsDrawnAsOne) {
  EXPECT_EQ(CutText("\u6838\u51fd\u6570\u6838\u51fd\u6570", 9, Cut::kRight),
            "\u6838\u51fd\u6570...");
  EXPECT_EQ(CutText("\u6838\u51fd\u6570\u6838\u51fd\u6570", 8, Cut::kRight), "\u6838\u51fd...")
      << "half a character is left free";
  EXPECT_EQ(CutText("abcdefga\u0308xxxx", 11, Cut::kRight), "abcdefga\u0308...");
  EXPECT_EQ(CutText("xxxxxxxa\u0308bcdefg", 10, Cut::kLeft), "...a\u0308bcdefg");
  EXPECT_EQ(CutText("xxxxxxxa\u0308bcdefg", 9, Cut::kLeft), "...bcdefg");
  const std::string cut = CutText("abc" + std::string(kFamily) + "def", 5, Cut::kRight);
  EXPECT_EQ(cut, "abc") << "the family is not taken apart";
}

RC_GTEST_PROP(AppendCutTest, NeverTooWideAlwaysValid, (const std::string& bytes, uint8_t width)) {
  std::string text;
  AppendUtf8(bytes, Utf8Hidden::kControls, &text);
  for (const Cut cut : {Cut::kRight, Cut::kMiddle, Cut::kLeft}) {
    std::string out;
    const size_t taken = AppendCut(text, width, cut, &out);
    RC_ASSERT(taken <= width);
    RC_ASSERT(taken == DisplayWidth(out));
    std::string again;
    AppendUtf8(out, Utf8Hidden::kNothing, &again);
    RC_ASSERT(again == out);
  }
}

TEST(LayOutTest, GivesEachWhatItWishesWhereThereIsRoom) {
  const ColumnWidths rooms[] = {{2, 5, 0}, {3, 8, 1}, {4, 4, 2}};
  EXPECT_THAT(LayOut(rooms, 100), ElementsAre(5, 8, 4));
  EXPECT_THAT(LayOut(rooms, 19), ElementsAre(5, 8, 4));
  EXPECT_THAT(LayOut(rooms, 18), ElementsAre(5, 7, 4)) << "the widest shrinks first";
  EXPECT_THAT(LayOut(rooms, 11), ElementsAre(2, 3, 4));
  EXPECT_THAT(LayOut(rooms, 10), ElementsAre(5, 4, 0)) << "the last in rank gives way";
  EXPECT_THAT(LayOut(rooms, 5), ElementsAre(5, 0, 0));
  EXPECT_THAT(LayOut(rooms, 1), ElementsAre(1, 0, 0)) << "the first stays";
  EXPECT_THAT(LayOut({}, 10), ElementsAre());
}

TEST(LayOutTest, RanksDecideWhoGoes) {
  const ColumnWidths rooms[] = {{4, 4, 2}, {4, 4, 0}, {4, 4, 1}};
  EXPECT_THAT(LayOut(rooms, 9), ElementsAre(0, 4, 4));
  EXPECT_THAT(LayOut(rooms, 8), ElementsAre(0, 4, 0));
}

RC_GTEST_PROP(LayOutTest, FitsAndGrows, (const std::vector<uint8_t>& widths, uint8_t total)) {
  std::vector<ColumnWidths> rooms;
  for (size_t i = 0; i < widths.size(); ++i) {
    const size_t wish = size_t{1} + widths[i] % 60;
    rooms.push_back({std::min<size_t>(wish, 10), wish, static_cast<int>(widths[i] % 7)});
  }
  const std::vector<size_t> narrow = LayOut(rooms, total);
  const std::vector<size_t> wide = LayOut(rooms, size_t{total} + 1);
  size_t taken = 0;
  for (size_t i = 0; i < rooms.size(); ++i) {
    taken += narrow[i] == 0 ? 0 : narrow[i] + (taken == 0 ? 0 : 1);
    RC_ASSERT(narrow[i] <= rooms[i].wish);
    RC_ASSERT(narrow[i] == 0 || wide[i] > 0);
  }
  RC_ASSERT(taken <= std::max<size_t>(total, 1));
}

// A table of a path, a kernel, a number and a text.
constexpr Field kFields[] = {
    {"file", "File", "", FieldType::kFileList, 25, "", Fold::kNone, ","},
    {"kernel", "Kernel", "", FieldType::kName, Field::kShared, "", Fold::kKey},
    {"ns", "Time(ns)", "ns", FieldType::kInteger, 10, "", Fold::kSum},
    {"op", "Op", "", FieldType::kText, 15, "", Fold::kKey},
    {"layer", "Layer", "", FieldType::kTextList, 10, "", Fold::kNone, ":"},
};

struct MadeRow {
  std::string_view file;
  std::string_view kernel;
  std::optional<int64_t> ns;
  std::string_view op;
  std::vector<std::string_view> layer;
};

std::string Shown(const Screen& screen, const std::vector<MadeRow>& rows,
                  std::string_view important = "kernel,ns,op") {
  const std::string path = (test::TestDir() / "screen.txt").string();
  Output output(path);
  const std::unique_ptr<Sink> sink = MakeScreenSink(&output, screen);
  std::vector<Field> fields(std::begin(kFields), std::end(kFields));
  RankFields(important, &fields);
  sink->Begin("made", fields);
  for (const MadeRow& row : rows) {
    const std::string_view files[] = {"main.py:1", row.file};
    sink->Row(std::vector<Cell>{{Cell::Texts{files}},
                                Text(row.kernel),
                                Integer(row.ns),
                                Text(row.op),
                                {Cell::Texts{row.layer}}});
  }
  sink->End();
  output.Commit();
  return test::ReadFile(path);
}

const std::vector<MadeRow> kRows = {
    {"/home/me/nets/attention.py:14",
     "volta_sgemm_128x64_relu_interior_nn_v1",
     123456,
     "linear",
     {"model", "encoder", "attention"}},
    {"net.py:2", "fill", std::nullopt, "", {}},
};

TEST(ScreenTest, ColumnsAreAsWideAsWhatIsInThem) {
  EXPECT_EQ(
      Shown({300, 40, false}, kRows),
      R"(File                          Kernel                                 Time(ns) Op     Layer
/home/me/nets/attention.py:14 volta_sgemm_128x64_relu_interior_nn_v1   123456 linear model:encoder:attention
net.py:2                      fill                                          - -      -
)");
}

TEST(ScreenTest, TextsAreCutWhereTheySayLeast) {
  EXPECT_EQ(Shown({80, 40, false}, kRows),
            R"(File                Kernel                   Time(ns) Op     Layer
.../attention.py:14 volta_sgemm...rior_nn_v1   123456 linear ...ncoder:attention
net.py:2            fill                            - -      -
)");
}

TEST(ScreenTest, TheLeastImportantColumnsGiveWay) {
  EXPECT_EQ(Shown({40, 40, false}, kRows),
            "File        Kernel       Time(ns) Op\n"
            "...on.py:14 volta...n_v1   123456 linear\n"
            "net.py:2    fill                - -\n"
            "1 column for a wider line: layer; -c\n"
            "chooses, -w 200 | less -S shows more\n");
  EXPECT_THAT(Shown({32, 40, false}, kRows, "layer,file,op"),
              StartsWith("File         Op     Layer\n"
                         "...ion.py:14 linear ...attention\n"));
  EXPECT_EQ(
      Shown({12, 40, false}, {kRows[0]}),
      "Kernel\nvolta...n_v1\n4 columns\nfor a wider\nline: file,\nns, op,\nlayer; -c\nchooses, "
      "-w\n200 | less\n-S shows\nmore\n");
}

TEST(ScreenTest, NoDigitIsLeftOut) {
  const MadeRow row = {"", "", INT64_MAX, "", {}};
  EXPECT_THAT(Shown({10, 40, false}, {row}, "ns"), HasSubstr("\n9223372036854775807\n"));
}

TEST(ScreenTest, OfManyRowsItShowsFew) {
  const std::vector<MadeRow> rows(100, kRows[1]);
  const std::string text = Shown({100, 40, false}, rows);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 42);
  EXPECT_THAT(text,
              HasSubstr("\n60 more rows: --top N shows N, -w 200 | less -S or -o FILE all\n"));
  const std::string all = Shown({100, 0, false}, rows);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 101);
  EXPECT_THAT(Shown({100, 40, false}, {rows.begin(), rows.begin() + 40}),
              Not(HasSubstr("more row")));
  EXPECT_THAT(Shown({100, 40, false}, {rows.begin(), rows.begin() + 41}),
              HasSubstr("\n1 more row: "));
  EXPECT_EQ(Shown({100, 40, false}, {}), "File Kernel Time(ns) Op Layer\n");
}

/// A text without its escape sequences for colours.
std::string WithoutColours(std::string text) {
  for (size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

TEST(ScreenTest, ColoursAddNothingElse) {
  for (const size_t columns : {12U, 40U, 80U, 300U}) {
    const std::string plain = Shown({columns, 1, false}, kRows);
    const std::string coloured = Shown({columns, 1, true}, kRows);
    EXPECT_EQ(WithoutColours(coloured), plain);
    EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  }
  const std::string coloured = Shown({300, 40, true}, kRows);
  EXPECT_THAT(coloured, HasSubstr("\x1b[1mFile\x1b[0m")) << "the header";
  EXPECT_THAT(coloured, HasSubstr("\x1b[36mlinear\x1b[0m")) << "the op";
}

TEST(ScreenTest, NoTextMovesTheCursorOrTheColumns) {
  const std::vector<MadeRow> rows = {
      {"a\x1b[31m\n.py:1", "\u6838\u51fd\u6570 \"a,b\" \U0001f600", 5, "bad\xff\xc3", {"x"}},
      {"b.py:1", "fill", 6, "mm", {"y"}}};
  EXPECT_EQ(Shown({100, 40, false}, rows),
            "File         Kernel          Time(ns) Op    Layer\n"
            "a_[31m_.py:1 \u6838\u51fd\u6570_\"a,b\"_\U0001f600        5 bad\ufffd\ufffd x\n"
            "b.py:1       fill                   6 mm    y\n");
}

}  // namespace
}  // namespace oplens::prof::screen_test
