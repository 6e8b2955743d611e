// The same rows in every output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/table/text_sinks.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/prof/rows.h"
#include "test/support/test_files.h"

namespace oplens::prof::sinks_test {
namespace {

using test::PlainRecord;
using testing::HasSubstr;
using testing::StartsWith;

/// The rows with these columns as a sink writes them.
std::string Written(const std::function<std::unique_ptr<Sink>(Output*)>& make,
                    std::string_view columns, const std::vector<const PricedKernel*>& rows) {
  const std::string path = (test::TestDir() / "rows.txt").string();
  Output output(path);
  const std::unique_ptr<Sink> sink = make(&output);
  const Columns<PricedKernel> selected = SelectKernelColumns(columns);
  sink->Begin("kernels", FieldsOf(selected));
  KernelTable table(selected, sink.get());
  for (const PricedKernel* row : rows) table.Add(*row);
  sink->End();
  output.Commit();
  return test::ReadFile(path);
}

std::unique_ptr<Sink> Json(Output* output) { return MakeJsonSink(output, false); }

std::unique_ptr<Sink> Csv(Output* output) { return MakeCsvSink(output); }
std::unique_ptr<Sink> CsvWithKeys(Output* output) {
  return MakeCsvSink(output, {.header_keys = true});
}
std::unique_ptr<Sink> ExactCsv(Output* output) { return MakeCsvSink(output, {.exact = true}); }

auto Width(int width) {
  return [width](Output* output) { return MakeWidthSink(output, width); };
}

class SinksTest : public testing::Test {
 protected:
  SinksTest() {
    known_.index = 1;
    known_.record = &known_record_;
    known_record_.seq_ids = {5, 6};
    known_record_.seq_markers = {"mm, seq = 5"};
    known_.mod = "torch";
    known_.op = "mm";
    known_.params = "M=2,N=3,K=4,fp32";
    known_.trace = trace_;
    known_.share.flops = 48;
    known_.tensor_core = ops::TensorCoreUse::kYes;
    unknown_.index = 2;
    unknown_.record = &unknown_record_;
    unknown_record_.short_name = "";
    unknown_record_.reasons.Add(Reason::kUntimed);
    unknown_.reasons = unknown_record_.reasons;
  }

  const std::vector<std::string_view> trace_ = {"main.py:3", "my nets/net.py:14"};
  KernelRecord known_record_ = PlainRecord();
  KernelRecord unknown_record_ = PlainRecord();
  PricedKernel known_;
  PricedKernel unknown_;
  const std::vector<const PricedKernel*> rows_ = {&known_, &unknown_};
  const char* columns_ = "idx,seq,trace,dir,op,kernel,params,sil,tc,grid,flops,reason";
};

TEST_F(SinksTest, Csv) {
  EXPECT_EQ(
      Written(Csv, columns_, rows_),
      R"csv("Idx","SeqId","Trace","Direction","Op","Kernel","Params","Sil(ns)","TC","Grid","FLOPs","Reason"
"1","5,6","main.py:3,my nets/net.py:14","fprop","mm","scale_kernel","M=2,N=3,K=4,fp32","100","1","2,1,1","48",""
"2","","","","","","","","?","2,1,1","","untimed"
)csv");
}

TEST_F(SinksTest, SpaceSeparated) {
  EXPECT_EQ(Written(MakeSpaceSink, columns_, rows_),
            R"(Idx SeqId Trace Direction Op Kernel Params Sil(ns) TC Grid FLOPs Reason
1 5,6 main.py:3,my_nets/net.py:14 fprop mm scale_kernel M=2,N=3,K=4,fp32 100 1 2,1,1 48 -
2 - - - - - - - ? 2,1,1 - untimed
)");
}

TEST_F(SinksTest, AlignedColumnsAreAsWideAsTheirContents) {
  EXPECT_EQ(Written(MakeAlignedSink, "idx,op,kernel,params,sil,trace", rows_),
            R"(Idx Op Kernel       Params           Sil(ns) Trace
  1 mm scale_kernel M=2,N=3,K=4,fp32     100 my nets/net.py:14
  2 -  -            -                      - -
)");
}

TEST_F(SinksTest, AlignedNamesAreCutWhereTheyMatterLeast) {
  const std::string outer(200, 'x');
  const std::vector<std::string_view> layers = {outer, "innermost"};
  known_.layer = layers;
  const std::string name = "first" + outer + "last";
  known_record_.short_name = name;
  const std::string text = Written(MakeAlignedSink, "layer,kernel,idx", {&known_});
  const std::string line = text.substr(text.find('\n') + 1);
  EXPECT_THAT(line, StartsWith("..." + std::string(67, 'x') + ":innermost first"));
  EXPECT_THAT(line, testing::EndsWith("last   1\n"));
  EXPECT_EQ(line.size(), 80U + 1 + 80 + 1 + 3 + 1);
}

TEST_F(SinksTest, AlignedRowsBeyondTheWindowShiftWhatDoesNotFit) {
  known_.op = "mm";
  std::vector<const PricedKernel*> rows(1500, &known_);
  PricedKernel wide = known_;
  wide.op = "convolution";
  wide.index = 123456789;
  rows.push_back(&wide);
  const std::string text = Written(MakeAlignedSink, "op,idx,kernel", rows);
  // Numbers have the width that the field declares, since more rows follow.
  EXPECT_THAT(text, StartsWith("Op     Idx Kernel\nmm       1 scale_kernel\n"));
  EXPECT_THAT(text,
              testing::EndsWith("\nmm       1 scale_kernel\nconvolution 123456789 scale_kernel\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1502);
}

TEST_F(SinksTest, AlignedTablesWithoutRowsHaveAHeader) {
  EXPECT_EQ(Written(MakeAlignedSink, "idx,op", {}), "Idx Op\n");
}

TEST_F(SinksTest, FixedWidthKeepsTheInnermostLayer) {
  const std::vector<std::string_view> layers = {"encoder", "attention"};
  known_.layer = layers;
  EXPECT_EQ(Written(Width(20), "layer,sil", {&known_}),
            "Layer     Sil(ns)\n...ention        100\n");
}

TEST_F(SinksTest, Table) {
  EXPECT_EQ(
      Written(Width(132), "idx,trace,dir,op,kernel,params,sil,tc,flops", rows_),
      R"(Idx     Trace                     Direc Op              Kernel                   Params                   Sil(ns)    TC FLOPs
      1 net.py:14                 fprop mm              scale_kernel             M=2,N=3,K=4,fp32                100 1            48
      2 -                         -     -               -                        -                                 - ?             -
)");
}

TEST_F(SinksTest, Json) {
  EXPECT_EQ(
      Written(Json, columns_, rows_),
      R"({"schema":1,"idx":1,"seq":[5,6],"trace":["main.py:3","my nets/net.py:14"],"dir":"fprop","op":"mm","kernel":"scale_kernel","params":"M=2,N=3,K=4,fp32","sil":100,"tc":1,"grid":[2,1,1],"flops":48,"reason":[]}
{"schema":1,"idx":2,"seq":[],"trace":[],"dir":null,"op":null,"kernel":null,"params":null,"sil":null,"tc":null,"grid":[2,1,1],"flops":null,"reason":["untimed"]}
)");
}

std::unique_ptr<Sink> MarkdownOfAll(Output* output) { return MakeMarkdownSink(output, 0); }
std::unique_ptr<Sink> MarkdownOfOne(Output* output) { return MakeMarkdownSink(output, 1); }

TEST_F(SinksTest, Markdown) {
  EXPECT_EQ(Written(MarkdownOfAll, "idx,op,kernel,params,trace,reason", rows_),
            R"(| Idx | Op | Kernel | Params | Trace | Reason |
| ---: | :--- | :--- | :--- | :--- | :--- |
| 1 | mm | `scale_kernel` | `M=2,N=3,K=4,fp32` | `my nets/net.py:14` | - |
| 2 | - | - | - | - | `untimed` |
)");
}

TEST_F(SinksTest, MarkdownCellsHoldWhateverANameIs) {
  known_.op = "a|b";
  known_record_.short_name = "k`</td>|\n# [x](http://y)";
  EXPECT_EQ(Written(MarkdownOfAll, "op,kernel", {&known_}),
            "| Op | Kernel |\n| :--- | :--- |\n| `a\\|b` | ``k`</td>\\|_#_[x](http://y)`` |\n");
}

TEST_F(SinksTest, LongMarkdownSaysHowToGetTheRest) {
  EXPECT_EQ(Written(MarkdownOfOne, "idx", {&known_, &unknown_, &unknown_}),
            "| Idx |\n| ---: |\n| 1 |\n\n2 more rows: `--top N` shows N, `--csv` all\n");
}

TEST_F(SinksTest, CsvKeepsQuotesNewlinesAndCommas) {
  known_.op = "a\"b\"\"\n,\r";
  EXPECT_EQ(Written(Csv, "op,idx", {&known_}), "\"Op\",\"Idx\"\n\"a\"\"b\"\"\"\"\n,\r\",\"1\"\n");
}

TEST_F(SinksTest, SpaceSeparatedFieldsHoldNoBlanks) {
  known_.op = std::string_view("a b\tc\nd\0e\x7f", 10);
  known_record_.short_name = "k k";
  EXPECT_EQ(Written(MakeSpaceSink, "op,kernel", {&known_}), "Op Kernel\na_b_c_d_e_ k_k\n");
}

TEST_F(SinksTest, JsonKeepsBlanksAndReplacesBrokenUtf8) {
  known_record_.short_name = "my kernel \xff";
  known_record_.range = {"r\"1\n"};
  known_record_.range_cut = 3;
  const std::string text = Written(Json, "kernel,range", {&known_});
  const auto object = nlohmann::json::parse(text);
  EXPECT_EQ(object["kernel"], "my kernel \xef\xbf\xbd");
  EXPECT_EQ(object["range"], nlohmann::json::array({"r\"1\n"}));
  EXPECT_EQ(object["rangeCut"], 3);
}

TEST_F(SinksTest, TableCutsAtCharactersAndKeepsControlCharactersOff) {
  known_.op =
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";  // 17 times a-umlaut.
  known_.mod = "\x1b[31mred\n";
  const std::string text = Written(Width(31), "op,mod", {&known_});
  EXPECT_THAT(text,
              HasSubstr("\n\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                        "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 _[31mred_\n"));
}

TEST_F(SinksTest, NoOutputHoldsBrokenUtf8) {
  known_.op = "\x80\x80";
  known_.mod = "a\xc3\"\xe2\x82";
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_THAT(Written(Width(31), "op,mod", {&known_}),
              HasSubstr("\n" + bad + bad + std::string(14, ' ') + "a" + bad + "\"" + bad + "\n"));
  EXPECT_THAT(Written(MakeSpaceSink, "op,mod", {&known_}),
              HasSubstr("\n" + bad + bad + " a" + bad + "\"" + bad + "\n"));
  EXPECT_THAT(Written(Csv, "op,mod", {&known_}),
              HasSubstr("\n\"" + bad + bad + "\",\"a" + bad + "\"\"" + bad + "\"\n"));
  const std::string json = Written(Json, "op,mod", {&known_});
  EXPECT_EQ(nlohmann::json::parse(json)["op"], bad + bad);
  EXPECT_EQ(nlohmann::json::parse(json)["mod"], "a" + bad + "\"" + bad);
}

TEST_F(SinksTest, BlanksAndControlsBeyondAscii) {
  // U+0085, U+00A0, U+2003, U+2028, U+202F, U+205F, U+3000 and a letter.
  known_.op =
      "\xc2\x85\xc2\xa0\xe2\x80\x83\xe2\x80\xa8\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80\xc3\xa9";
  EXPECT_THAT(Written(MakeSpaceSink, "op", {&known_}), HasSubstr("\n_______\xc3\xa9\n"));
  const std::string table = Written(Width(15), "op", {&known_});
  EXPECT_THAT(table, HasSubstr("\n_\xc2\xa0\xe2\x80\x83_\xe2\x80\xaf")) << "no control character";
}

TEST_F(SinksTest, TooWideTableIsRefused) {
  EXPECT_NO_THROW(RefuseWidth(10000));
  for (int width : {10001, INT32_MAX, 9, 0, -5, INT32_MIN}) {
    EXPECT_THROW(RefuseWidth(width), UsageError);
    EXPECT_THROW(Written(Width(width), "kernel", {&known_}), UsageError);
  }
}

TEST_F(SinksTest, TableNeverCutsANumber) {
  known_.share.flops = INT64_MAX;
  const std::string text = Written(Width(28), "flops,op", {&known_});
  EXPECT_THAT(text, HasSubstr("\n9223372036854775807 mm\n"));
}

TEST_F(SinksTest, TableLinesFillTheWidth) {
  known_record_.short_name = "a_kernel_name_that_is_longer_than_every_place_that_it_could_ever_get";
  known_.params = known_record_.short_name;
  for (int width : {74, 75, 76, 100, 131}) {
    const std::string text = Written(Width(width), "kernel,op,mod,dir,sub,idx,params", {&known_});
    size_t longest = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      longest = std::max(longest, end - begin);
      begin = end + 1;
    }
    EXPECT_LE(longest, static_cast<size_t>(width));
    EXPECT_GE(longest + 1, static_cast<size_t>(width)) << "the shared columns take what is left";
  }
}

TEST_F(SinksTest, CsvHoldsNothingThatASpreadsheetOrATerminalObeys) {
  const std::pair<std::string, std::string> cases[] = {
      {"=HYPERLINK(1)", "'=HYPERLINK(1)"},
      {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
      {"-1+2", "'-1+2"},
      {"@SUM(A1)", "'@SUM(A1)"},
      {"\t=1", "'\t=1"},
      {"\uFF1D1", "'\uFF1D1"},
      {"a\x1B[31mb\x7F", "a_[31mb_"},
      {"c\u009B2J", "c_2J"},
      {"=\x1B", "'=_"},
      {"aten::mm", "aten::mm"},
      {"a=b", "a=b"},
      {"-", "-"},
      {"\u00E9\tx\ny", "\u00E9\tx\ny"},
      {"cut \xC2", "cut \uFFFD"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    known_.op = text;
    EXPECT_EQ(Written(Csv, "op,idx", {&known_}), "\"Op\",\"Idx\"\n\"" + expected + "\",\"1\"\n");
    if (text.starts_with("cut")) continue;
    EXPECT_EQ(Written(ExactCsv, "op,idx", {&known_}), "\"Op\",\"Idx\"\n\"" + text + "\",\"1\"\n");
  }
}

TEST_F(SinksTest, CsvWithKeysInItsHeader) {
  const std::string keys = Written(CsvWithKeys, "sil,pct_math,op", {&known_});
  const std::string titles = Written(Csv, "sil,pct_math,op", {&known_});
  EXPECT_THAT(keys, StartsWith("\"sil\",\"pct_math\",\"op\"\n"));
  EXPECT_THAT(titles, StartsWith("\"Sil(ns)\",\"%Math\",\"Op\"\n"));
  EXPECT_EQ(keys.substr(keys.find('\n')), titles.substr(titles.find('\n')));
}

/// What MakeWidthSink writes of these columns, ranked as prof ranks them, and says.
std::string Narrow(std::string_view columns, int width, const PricedKernel& row,
                   std::vector<std::string>* notes) {
  const std::string path = (test::TestDir() / "narrow.txt").string();
  Output output(path);
  const std::unique_ptr<Sink> sink = MakeWidthSink(&output, width, notes);
  const Columns<PricedKernel> selected = SelectKernelColumns(columns);
  std::vector<Field> fields = FieldsOf(selected);
  RankFields(kImportantColumns, &fields);
  sink->Begin("kernels", fields);
  KernelTable table(selected, sink.get());
  table.Add(row);
  sink->End();
  output.Commit();
  return test::ReadFile(path);
}

TEST_F(SinksTest, InATooNarrowTableColumnsGiveWay) {
  std::vector<std::string> notes;
  // kernel 6, op 15, sil 10, two separators: 33.
  EXPECT_EQ(Narrow("op,kernel,sil", 33, known_, &notes),
            "Op              Kernel Sil(ns)\n"
            "mm              scale_        100\n");
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_EQ(Narrow("op,kernel,sil", 32, known_, &notes),
            "Op         Kernel     Sil(ns)\n"
            "mm         scale_kern        100\n");
  EXPECT_THAT(notes, testing::IsEmpty()) << "op shrinks, and kernel gets what that gives";
  EXPECT_EQ(Narrow("op,kernel,sil", 20, known_, &notes),
            "Kernel    Sil(ns)\n"
            "scale_ker        100\n");
  EXPECT_THAT(notes, testing::ElementsAre("-w 20 has no room for the columns op: choose with -c, "
                                          "or give -w 33"));
  EXPECT_EQ(Narrow("sub,kernel,sil", 10, known_, nullptr), "Kernel\nscale_kern\n");
}

TEST_F(SinksTest, ATableOfAnyWidthKeepsItsWidth) {
  for (int width = 10; width < 400; width += 7) {
    std::vector<std::string> notes;
    const std::string text = Narrow("all", width, unknown_, &notes);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
    }
    EXPECT_EQ(notes.size(), 1u);
  }
}

}  // namespace
}  // namespace oplens::prof::sinks_test
