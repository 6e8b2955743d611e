#include "prof/price_all.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.h"
#include "prof/input/line_records.h"
#include "prof/table/text_sinks.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/kernels/summary.h"
#include "prof/views/recording/column_check.h"
#include "test/prof/rows.h"
#include "test/support/test_files.h"

namespace oplens::prof::price_all_test {
namespace {

using test::Line;
using test::MmText;
using test::PlainRecord;
using test::ReadFile;
using test::TestDir;
using test::WriteFile;
using testing::HasSubstr;
using testing::Not;

struct Printed {
  std::string text;
  std::string error;  // Of an Error.
  Diagnostics diagnostics;
};

Printed Print(const std::string& input, const char* columns = "idx,op,kernel,flops",
              OpChoice op_choice = OpChoice::kInner) {
  const auto dir = TestDir();
  WriteFile(dir / "net.dict", input);
  LineRecords lines((dir / "net.dict").string());
  Printed printed;
  Output output((dir / "net.txt").string());
  const std::unique_ptr<Sink> sink = MakeSpaceSink(&output);
  const auto selected = SelectKernelColumns(columns);
  KernelTable table(selected, sink.get());
  try {
    sink->Begin("kernels", FieldsOf(selected));
    PriceAll(&lines, {.op_choice = op_choice}, &table, &printed.diagnostics);
    output.Commit();
    printed.text = ReadFile(dir / "net.txt");
  } catch (const Error& error) {
    printed.error = error.what();
  }
  return printed;
}

// A forward kernel of mm of 2 x 3 and 3 x 4: 48 FLOPs.
KernelRecord MmRecord() {
  static const std::string kText = MmText(2, 3, 4);
  KernelRecord record = PlainRecord();
  record.markers = {kText};
  record.mod = {"torch"};
  record.op = {"mm"};
  record.long_name = "volta_sgemm_32x128_tn";
  return record;
}

TEST(PriceAllTest, OneRowARecord) {
  const Printed printed = Print(Line(MmRecord()) + Line(PlainRecord()));
  EXPECT_EQ(printed.text,
            "Idx Op Kernel FLOPs\n"
            "1 mm scale_kernel 48\n"
            "2 mul scale_kernel -\n");
  EXPECT_THAT(printed.diagnostics.Render("prof"),
              HasSubstr("prof: FLOPs are known for 1 of 2 kernels\n"));
  EXPECT_EQ(printed.diagnostics.CountOf(Reason::kNoMarker), 1);
}

TEST(PriceAllTest, UtilisationNeedsAPeak) {
  KernelRecord record = MmRecord();
  record.start_ns = 1000;
  record.end_ns = 1100;
  const auto dir = TestDir();
  WriteFile(dir / "net.dict", Line(record));
  for (const bool has_peak : {false, true}) {
    LineRecords lines((dir / "net.dict").string());
    ColumnCheck kernels(SelectKernelColumns("idx"));
    Diagnostics diagnostics;
    PriceOptions options;
    // 48 FLOP in 100 ns; the peak is 4 FLOP a ns.
    static int asked = 0;
    static bool has_product = false;
    asked = 0;
    has_product = false;
    if (has_peak) {
      options.peak_of = [](const PricedKernel& row) {
        ++asked;
        has_product = row.share.flops_mma.has_value();
        return 4e9;
      };
    }
    PriceAll(&lines, options, &kernels, &diagnostics);
    const std::string said = diagnostics.Render("prof");
    EXPECT_EQ(said.find("model FLOPs utilisation 12.0 %") != std::string::npos, has_product)
        << said;
    EXPECT_EQ(asked, has_peak ? 1 : 0);
  }
}

TEST(PriceAllTest, FilterAndStepsAreOfTheWholeInput) {
  KernelRecord inside = MmRecord();
  inside.range = {"epoch 1"};
  KernelRecord outside = MmRecord();
  const auto dir = TestDir();
  WriteFile(dir / "net.dict", Line(outside) + Line(inside) + Line(outside) + Line(inside));
  LineRecords lines((dir / "net.dict").string());
  const SummaryPlan plan = PlanSummary("step,op");
  Summary summary(&plan);
  Diagnostics diagnostics;
  RangeFilter filter("epoch");
  StepFinder steps("epoch");
  PriceAll(&lines, {.filter = &filter, .steps = &steps}, &summary, &diagnostics);
  Output output((dir / "net.txt").string());
  const auto sink = MakeSpaceSink(&output);
  SelectingSink selected(SelectFields("step,op,count,flops,perstep", plan.fields), sink.get());
  selected.Begin("summary", plan.fields);
  summary.Write(ParseOrder("total", plan.fields), 0, &selected);
  output.Commit();
  EXPECT_EQ(ReadFile(dir / "net.txt"),
            "Step Op Count FLOPs PerStep(ns)\n"
            "1 mm 2 96 200.000\n");
  EXPECT_THAT(diagnostics.Render("prof"), HasSubstr("FLOPs are known for 2 of 2 kernels"));
}

TEST(PriceAllTest, KernelsInOpenRangesAreNotCountedAsRanges) {
  KernelRecord record = MmRecord();
  record.reasons.Add(Reason::kOpenRange);
  const Printed printed = Print(Line(record) + Line(record));
  EXPECT_EQ(printed.diagnostics.CountOf(Reason::kOpenRange), 0);
}

TEST(PriceAllTest, AnEmptyFileIsNoInput) {
  for (const char* input : {"", "\n", "  \n\t\r\n"}) {
    EXPECT_THAT(Print(input).error, HasSubstr("net.dict: is empty")) << input;
  }
}

TEST(PriceAllTest, BadLinesAreSkippedAndCounted) {
  const std::string good = Line(PlainRecord());
  const std::string truncated = good.substr(0, good.size() / 2);
  const Printed printed = Print("Error: no such table: StringTable\n" + good + "\n" +
                                std::string("\0\0\0\n", 4) + good + "{}\n" + truncated);
  EXPECT_EQ(printed.text,
            "Idx Op Kernel FLOPs\n"
            "2 mul scale_kernel -\n"
            "4 mul scale_kernel -\n")
      << "idx counts the bad lines, but not the blank one";
  EXPECT_EQ(printed.diagnostics.CountOf(Reason::kBadLine), 4);
  const std::string said = printed.diagnostics.Render("prof");
  EXPECT_THAT(said, HasSubstr("line 1: "));
  EXPECT_THAT(said, HasSubstr("line 4: "));
  EXPECT_THAT(said, Not(HasSubstr("line 7: "))) << "three examples are enough";
}

TEST(PriceAllTest, InputWithoutAnyRecordIsRefused) {
  const Printed printed = Print("hello\nworld\n");
  EXPECT_THAT(printed.error, HasSubstr("net.dict: holds no kernel record (line 1: "));
  EXPECT_THAT(printed.error, HasSubstr("; give a profile"));
  EXPECT_EQ(std::count(printed.error.begin(), printed.error.end(), '\n'), 0);
}

struct KindCase {
  std::string content;
  std::string said;
};

TEST(PriceAllTest, SaysWhatAWrongFileIs) {
  const KindCase kCases[] = {
      {std::string("SQLite format 3\0\x10\n", 18), "holds no kernel record"},  // Read as lines.
      {"\x1f\x8b\x08", "gzip"},
      {"PK\x03\x04", "zip archive"},
      {"\x80\x04\x95", "pickle"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {"{\"kShortName\": \"k\"}\n", "the key 'kDuration' is missing"},
      {"[1, 2]\n", "give a profile"},
      {"<?xml version=\"1.0\"?>\n", "XML"},
      {"\"Idx\",\"Op\"\n", "is a table (CSV), such as prof writes"},
      {std::string("\xff\xfe{\0'\0", 6), "UTF-16"},
  };
  for (const KindCase& c : kCases) EXPECT_THAT(Print(c.content).error, HasSubstr(c.said));
}

TEST(PriceAllTest, HugeTextsAndDeepNesting) {
  KernelRecord record = MmRecord();
  const std::string huge(1000000, 'x');
  record.long_name = huge;
  record.markers.insert(record.markers.begin(), huge);
  record.mod = {"a", "b"};
  record.op = {"a", "mm"};
  const Printed printed =
      Print(Line(record) + std::string(1000000, '[') + "\n" + std::string(100000, '{') + "\n");
  EXPECT_EQ(printed.text, "Idx Op Kernel FLOPs\n1 mm scale_kernel 48\n");
  EXPECT_EQ(printed.diagnostics.CountOf(Reason::kBadLine), 2);
}

TEST(PriceAllTest, ExamplesAreShortAndHarmless) {
  KernelRecord record = PlainRecord();
  const std::string op = "\x1b[2J\n" + std::string(1000, 'x');
  record.op = {op};
  record.direction = Direction::kBackward;
  const std::string said = Print(Line(record)).diagnostics.Render("prof");
  EXPECT_LT(said.size(), 700u);
  EXPECT_THAT(said, HasSubstr("?[2J?xxx"));
}

TEST(PriceAllTest, ExtremeIntegers) {
  KernelRecord record = MmRecord();
  record.duration_ns = INT64_MAX;
  record.thread_id = INT64_MIN;
  record.device_id = INT64_MIN;
  record.stream_id = INT64_MAX;
  record.grid = {INT64_MAX, INT64_MAX, INT64_MIN};
  record.seq_ids = {INT64_MIN, INT64_MAX};
  record.marker_starts_ns = {INT64_MIN};
  record.range_cut = INT64_MAX;
  const Printed printed = Print(Line(record) + Line(record), "idx,sil,tid,grid,flops");
  EXPECT_THAT(printed.text, HasSubstr("\n1 9223372036854775807 -9223372036854775808 "));
}

// Two gradients of one product: what prof prints for a backward node adds up.
TEST(PriceAllTest, BackwardKernelsShareTheWorkOfTheirForwardOp) {
  KernelRecord forward = MmRecord();
  forward.seq_ids = {5};
  forward.seq_markers = {"mm, seq = 5"};
  KernelRecord backward = PlainRecord();
  backward.direction = Direction::kBackward;
  backward.seq_ids = {5};
  backward.seq_markers = {"mm, seq = 0", "MmBackward, seq = 5"};
  backward.thread_id = 9;
  backward.long_name = "volta_sgemm_32x128_nt";
  KernelRecord second = backward;
  second.long_name = "volta_sgemm_32x128_nn";
  const Printed printed = Print(Line(forward) + Line(backward) + Line(second), "dir,op,flops");
  EXPECT_EQ(printed.text, "Direction Op FLOPs\nfprop mm 48\nbprop mm 48\nbprop mm 48\n");
}

// Y[1024,5121] = A[1024,515] B[515,5121], and its gradients: 16 bytes are 4 fp32 elements.
TEST(PriceAllTest, AdviceNamesDimensionsAsParamsDoes) {
  const std::string text = MmText(1024, 515, 5121);
  KernelRecord forward = MmRecord();
  forward.markers = {text};
  forward.long_name = "ampere_sgemm_128x128_nn";
  forward.device_name = "NVIDIA A100-SXM4-40GB";
  forward.seq_ids = {5};
  forward.seq_markers = {"mm, seq = 5"};
  KernelRecord dgrad = forward;
  dgrad.markers.clear();
  dgrad.direction = Direction::kBackward;
  dgrad.seq_markers = {"MmBackward0, seq = 5"};
  dgrad.grid = {5, 8, 1};
  dgrad.long_name = "ampere_sgemm_128x128_nt";
  KernelRecord wgrad = dgrad;
  wgrad.grid = {41, 5, 1};
  wgrad.long_name = "ampere_sgemm_128x128_tn";
  const std::string printed =
      Print(Line(forward) + Line(dgrad) + Line(wgrad), "grad,params,tc_why").text;
  EXPECT_THAT(printed, HasSubstr("\n- M=5121,N=1024,K=515,fp32 "));
  EXPECT_THAT(printed, HasSubstr("M=5121:_pad_to_5124;_K=515:_pad_to_516\n"));
  EXPECT_THAT(printed, HasSubstr("\ndgrad M=515,N=1024,K=5121,fp32 "));
  EXPECT_THAT(printed, HasSubstr("M=515:_pad_to_516;_K=5121:_pad_to_5124\n"));
  EXPECT_THAT(printed, HasSubstr("\nwgrad M=5121,N=515,K=1024,fp32 "));
  EXPECT_THAT(printed, HasSubstr("M=5121:_pad_to_5124;_N=515:_pad_to_516\n"));
}

TEST(PriceAllTest, OuterChoiceGivesTheCostOfTheOutermost) {
  KernelRecord record = MmRecord();
  const std::string outer = MmText(10, 10, 10);
  record.markers.insert(record.markers.begin(), outer);
  record.mod = {"torch", "torch"};
  record.op = {"mm", "mm"};
  EXPECT_THAT(Print(Line(record), "flops").text, HasSubstr("\n48\n"));
  EXPECT_THAT(Print(Line(record), "flops", OpChoice::kOuter).text, HasSubstr("\n2000\n"));
}

// 12,582,912 bytes on an A100 need 8,092 ns at 1555 GB/s; its L2 cache holds them.
TEST(PriceAllTest, WhatIsAboveARoofSaysWhy) {
  const std::string text =
      "{'mod': 'torch', 'op': 'relu', 'args': [{'name': '', 'type': 'tensor', 'shape': (1024, "
      "1536), 'dtype': 'float32'}]}";
  KernelRecord record = PlainRecord();
  record.markers = {text};
  record.op = {"relu"};
  record.mod = {"torch"};
  record.device_name = "NVIDIA A100-SXM4-40GB";
  const auto print = [&](int64_t start_ns, int64_t duration_ns) {
    record.start_ns = start_ns;
    record.duration_ns = duration_ns;
    record.end_ns = start_ns + duration_ns;
    return Print(Line(record), "bytes,reason");
  };
  EXPECT_THAT(print(5000, 9000).text, HasSubstr("\n12582912 -\n"));
  EXPECT_THAT(print(5000, 8000).text, HasSubstr("\n12582912 clock\n"));
  EXPECT_THAT(print(5001, 8000).text, HasSubstr("\n12582912 cache\n"));
  const Printed printed = print(5000, 6000);
  EXPECT_THAT(printed.text, HasSubstr("\n12582912 cache\n"));
  EXPECT_THAT(
      printed.diagnostics.Render("prof"),
      HasSubstr("prof: 1 kernels above the DRAM bandwidth: the L2 cache may have had a part "
                "of their bytes [cache], e.g. relu\n"));
  EXPECT_FALSE(printed.diagnostics.Damaged());
  EXPECT_THAT(print(5001, 900).text, HasSubstr("\n12582912 -\n")) << "no cache is so fast";
}

// The product between the transforms of a Winograd convolution: 302 % of 15.7 TFLOP/s.
TEST(PriceAllTest, AConvolutionInFewerFlopsSaysSo) {
  const std::string text =
      "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': ["
      "{'name': '', 'type': 'tensor', 'shape': (32, 128, 28, 28), 'dtype': 'float32'}, "
      "{'name': '', 'type': 'tensor', 'shape': (128, 128, 3, 3), 'dtype': 'float32'}, "
      "{'name': 'padding', 'type': 'int', 'value': 1}]}";
  KernelRecord record = PlainRecord();
  record.markers = {text};
  record.marker_starts_ns = {1};
  record.op = {"conv2d"};
  record.mod = {"torch.nn.functional"};
  record.device_name = "Tesla V100-SXM2-16GB";
  record.duration_ns = 156'000;
  record.long_name = "volta_sgemm_32x128_nn";
  KernelRecord transform = record;
  transform.long_name = "void cudnn::winograd_nonfused::winogradForwardData4x4<float>(P)";
  EXPECT_THAT(Print(Line(transform) + Line(record), "flops,pct_math,reason").text,
              HasSubstr("\n0 0.000 -\n7398752256 302.089 winograd\n"));
  EXPECT_THAT(Print(Line(record), "flops,pct_math,reason").text,
              HasSubstr("\n7398752256 302.089 -\n"));
}

// Distinct texts without end must neither pile up nor leave a row without its own: names of 18 MB
// pass a cache that forgets after 2.
TEST(PriceAllTest, DistinctTextsWithoutEnd) {
  KernelRecord record = MmRecord();
  std::string input;
  const std::string filler(6000, 'f');
  for (int i = 1; i <= 3000; ++i) {
    const std::string text = MmText(i, 1, 1);
    const std::string name = fmt::format("kernel_{}_{}", i, filler);
    record.markers = {text};
    record.long_name = name;
    input += Line(record);
  }
  const Printed printed = Print(input, "idx,flops");
  for (int i : {1, 2, 500, 1500, 2999, 3000}) {
    EXPECT_THAT(printed.text, HasSubstr(fmt::format("\n{} {}\n", i, 2 * i)));
  }
}

}  // namespace
}  // namespace oplens::prof::price_all_test
