#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/price/kernel_facts.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/prof/rows.h"

namespace oplens::prof::columns_test {
namespace {

using test::PlainRecord;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Keys(const Columns<PricedKernel>& columns) {
  std::vector<std::string> keys;
  for (const KernelColumn* column : columns) keys.emplace_back(column->key);
  return keys;
}

TEST(SelectColumnsTest, OrderIsTheUsers) {
  EXPECT_THAT(Keys(SelectKernelColumns("sil,idx")), ElementsAre("sil", "idx"));
  EXPECT_THAT(Keys(SelectKernelColumns(" sil , idx ")), ElementsAre("sil", "idx"));
  EXPECT_THAT(Keys(SelectKernelColumns(kDefaultColumns)),
              ElementsAre("idx", "dir", "sub", "mod", "op", "kernel", "params", "sil"));
}

TEST(SelectColumnsTest, EachOnce) {
  EXPECT_THAT(Keys(SelectKernelColumns("sil,idx,sil,idx")), ElementsAre("sil", "idx"));
  EXPECT_EQ(SelectKernelColumns("all,idx,all").size(), KernelColumns().size());
  EXPECT_EQ(Keys(SelectKernelColumns("sil,all")).front(), "sil");
  EXPECT_EQ(SelectKernelColumns("sil,all").size(), KernelColumns().size());
}

TEST(SelectColumnsTest, All) {
  EXPECT_THAT(
      Keys(SelectKernelColumns("all")),
      ElementsAre("idx", "seq", "altseq", "tid", "layer", "trace", "dir", "sub", "mod", "op",
                  "kernel", "params", "sil", "tc", "device", "stream", "grid", "block", "flops",
                  "bytes", "path", "range", "rank", "pid", "phase", "grad", "grad_conf", "inst",
                  "role", "share", "flops_kind", "flops_bound", "flops_mma", "flops_vec",
                  "aux_bytes", "ai", "tflops", "gbps", "pct_math", "pct_dram", "bound", "bound_why",
                  "tc_elig", "tc_why", "theoretical_occupancy_pct", "waves", "start", "end", "step",
                  "shape", "dtype", "corr", "name_full", "launch_delay", "api", "family",
                  "name_facts", "variant", "evidence", "confidence", "sizes_evidence",
                  "layer_evidence", "flops_low", "flops_high", "bytes_low", "bytes_high",
                  "measured_flops", "core_flops", "measured_bytes", "l2_bytes", "tensor_insts",
                  "achieved_occupancy_pct", "flops_ratio", "bytes_ratio", "flops_by", "bytes_by",
                  "m", "n", "k", "batch", "layout", "conv_n", "conv_c", "conv_h", "conv_w",
                  "conv_k", "conv_r", "conv_s", "conv_g", "conv_stride", "heads", "sq", "sk",
                  "head_dim", "causal", "reason"));
  EXPECT_EQ(SelectKernelColumns("all").size(), KernelColumns().size());
}

TEST(SelectColumnsTest, TakesAliases) {
  EXPECT_THAT(Keys(SelectKernelColumns("time,stack")), ElementsAre("sil", "trace"));
  EXPECT_THAT(Keys(SelectKernelColumns("time,sil")), ElementsAre("sil")) << "each once";
}

TEST(SelectColumnsTest, TakesHeaders) {
  EXPECT_THAT(Keys(SelectKernelColumns("Idx,Sil(ns),LaunchDelay,occupancy")),
              ElementsAre("idx", "sil", "launch_delay", "theoretical_occupancy_pct"));
}

TEST(SelectColumnsTest, AsksBackForANearWord) {
  const auto refused = [](const char* list) -> std::string {
    try {
      SelectKernelColumns(list);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refused("idx,tim"), "-c: there is no column 'tim': time?");
  EXPECT_EQ(refused("module"), "-c: there is no column 'module': layer or mod?");
  EXPECT_EQ(refused("kernell"), "-c: there is no column 'kernell': kernel?");
  EXPECT_EQ(refused("Idxx"), "-c: there is no column 'Idxx': idx?");
}

TEST(SelectColumnsTest, NamesTheWrongWordAndTheRightOnes) {
  for (const char* list : {"idx,zebra", "zebra", "", "idx,", "?"}) {
    try {
      SelectKernelColumns(list);
      ADD_FAILURE() << list;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("idx,seq,altseq")) << list;
      EXPECT_THAT(error.what(), HasSubstr("reason,all")) << list;
    }
  }
}

TEST(ColumnsTest, TheTableIsWhole) {
  std::set<std::string_view> keys;
  std::set<std::string_view> headers;
  for (const KernelColumn& column : KernelColumns()) {
    EXPECT_TRUE(keys.insert(column.key).second) << column.key;
    EXPECT_TRUE(headers.insert(column.header).second) << column.header;
    EXPECT_FALSE(column.help.empty()) << column.key;
    EXPECT_EQ(column.header.find(' '), std::string_view::npos) << "one word in every output";
    EXPECT_NE(column.get, nullptr);
  }
}

// The text of one column of a row.
std::string TextOf(std::string_view key, const PricedKernel& row) {
  const KernelColumn& column = *SelectKernelColumns(key).front();
  std::string scratch;
  return std::string(CellText(column, column.get(row), &scratch));
}

class CellTextTest : public testing::Test {
 protected:
  CellTextTest() { row_.record = &record_; }
  KernelRecord record_ = PlainRecord();
  PricedKernel row_;
};

TEST_F(CellTextTest, Numbers) {
  row_.index = 12;
  EXPECT_EQ(TextOf("idx", row_), "12");
  EXPECT_EQ(TextOf("tid", row_), "7");
  EXPECT_EQ(TextOf("sil", row_), "100");
  EXPECT_EQ(TextOf("stream", row_), "3");
  record_.device_id = INT64_MIN;
  EXPECT_EQ(TextOf("device", row_), "-9223372036854775808");
  EXPECT_EQ(TextOf("grid", row_), "2,1,1");
  EXPECT_EQ(TextOf("block", row_), "64,1,1");
  EXPECT_EQ(TextOf("flops", row_), "");
  row_.share.flops = 0;
  EXPECT_EQ(TextOf("flops", row_), "0") << "computed";
  row_.share.bytes = INT64_MAX;
  EXPECT_EQ(TextOf("bytes", row_), "9223372036854775807");
}

TEST_F(CellTextTest, ExtentsThatTheProfileLacks) {
  record_.grid = record_.block = {-1, -1, -1};
  EXPECT_EQ(TextOf("grid", row_), "");
  EXPECT_EQ(TextOf("block", row_), "");
  record_.block = {0, 0, 0};
  EXPECT_EQ(TextOf("block", row_), "0,0,0");
}

TEST_F(CellTextTest, Lists) {
  EXPECT_EQ(TextOf("seq", row_), "");
  record_.seq_ids = {1, -2, 3};
  EXPECT_EQ(TextOf("seq", row_), "1,-2,3");
  record_.alt_seq_ids = {4};
  EXPECT_EQ(TextOf("altseq", row_), "4");
  EXPECT_EQ(TextOf("layer", row_), "");
  const std::vector<std::string_view> texts = {"a", "", "b c"};
  row_.layer = texts;
  EXPECT_EQ(TextOf("layer", row_), "a::b c");
  row_.trace = texts;
  EXPECT_EQ(TextOf("trace", row_), "a,,b c");
  row_.path = texts;
  EXPECT_EQ(TextOf("path", row_), "a >  > b c");
  record_.range = texts;
  EXPECT_EQ(TextOf("range", row_), "a >  > b c");
  record_.range_cut = 4;
  EXPECT_EQ(TextOf("range", row_), "a >  > b c > ... 4 more");
  EXPECT_EQ(TextOf("rank", row_), "");
  EXPECT_EQ(TextOf("pid", row_), "");
  record_.rank = "3";
  record_.process_id = 4242;
  EXPECT_EQ(TextOf("rank", row_), "3");
  EXPECT_EQ(TextOf("pid", row_), "4242");
  EXPECT_EQ(TextOf("reason", row_), "");
  row_.reasons.Add(Reason::kUnknownOp);
  EXPECT_EQ(TextOf("reason", row_), "no-cost-model");
  row_.reasons.Add(Reason::kNoLaunchCall);
  EXPECT_EQ(TextOf("reason", row_), "no-launch,no-cost-model");
}

TEST_F(CellTextTest, SizesOfTheProduct) {
  constexpr std::string_view kKeys[] = {"m",      "n",      "k",           "batch", "layout",
                                        "conv_n", "conv_c", "conv_stride", "heads", "causal"};
  for (const std::string_view key : kKeys) EXPECT_EQ(TextOf(key, row_), "") << key;
  ops::PricedOp op;
  row_.price = &op;
  for (const std::string_view key : kKeys) EXPECT_EQ(TextOf(key, row_), "") << key;
  op.product.emplace();
  op.product->batch = 8;
  op.product->extents = {{"M", 5}, {"N", 6}, {"K", 0}};
  row_.extents = op.product->extents;
  row_.op_layout = "TN";
  EXPECT_EQ(TextOf("m", row_), "5");
  EXPECT_EQ(TextOf("n", row_), "6");
  EXPECT_EQ(TextOf("k", row_), "0") << "known";
  EXPECT_EQ(TextOf("batch", row_), "8");
  EXPECT_EQ(TextOf("layout", row_), "TN");
  EXPECT_EQ(TextOf("conv_n", row_), "");
  op.product->kind = ops::MatrixProduct::Kind::kConvolution;
  op.product->sizes = {{"conv_n", 4}, {"conv_c", 3}};
  op.product->stride = {2, 1};
  EXPECT_EQ(TextOf("conv_c", row_), "3");
  EXPECT_EQ(TextOf("conv_stride", row_), "2x1");
  EXPECT_EQ(TextOf("m", row_), "");
  EXPECT_EQ(TextOf("layout", row_), "");
  op.product->kind = ops::MatrixProduct::Kind::kAttention;
  op.product->sizes = {{"heads", 12}, {"causal", 0}};
  EXPECT_EQ(TextOf("heads", row_), "12");
  EXPECT_EQ(TextOf("causal", row_), "0");
  EXPECT_EQ(TextOf("batch", row_), "");
}

TEST_F(CellTextTest, Evidence) {
  row_.op = "";
  EXPECT_EQ(TextOf("evidence", row_), "");
  EXPECT_EQ(TextOf("confidence", row_), "");
  row_.op = "mm";
  EXPECT_EQ(TextOf("evidence", row_), "range");
  EXPECT_EQ(TextOf("confidence", row_), "");
  record_.evidence = Evidence::kRepetition;
  record_.confidence = Confidence::kMedium;
  EXPECT_EQ(TextOf("evidence", row_), "repetition");
  EXPECT_EQ(TextOf("confidence", row_), "medium");
}

TEST_F(CellTextTest, Names) {
  record_.short_name = "my kernel  name";
  EXPECT_EQ(TextOf("kernel", row_), "my_kernel__name");
  record_.short_name = "";
  EXPECT_EQ(TextOf("kernel", row_), "");
  EXPECT_EQ(TextOf("op", row_), "");
  row_.op = "mm";
  row_.mod = "torch";
  row_.params = "M=1";
  EXPECT_EQ(TextOf("op", row_), "mm");
  EXPECT_EQ(TextOf("mod", row_), "torch");
  EXPECT_EQ(TextOf("params", row_), "M=1");
}

TEST_F(CellTextTest, TimesOfTheFile) {
  record_.start_ns = 1'000'000'000'000'000'000;
  record_.end_ns = 1'000'000'000'000'000'100;
  EXPECT_EQ(TextOf("start", row_), "1000000000000000000");
  EXPECT_EQ(TextOf("end", row_), "1000000000000000100");
  record_.reasons.Add(Reason::kBadTimes);
  EXPECT_EQ(TextOf("start", row_), "1000000000000000000") << "as the file has it";
  record_.reasons.Add(Reason::kUntimed);
  EXPECT_EQ(TextOf("start", row_), "") << "it only fills a place";
  EXPECT_EQ(TextOf("end", row_), "");
  record_.reasons.Clear();
  record_.start_ns = record_.end_ns = std::nullopt;
  EXPECT_EQ(TextOf("start", row_), "") << "a record of PyProf's";
  EXPECT_EQ(TextOf("end", row_), "");
}

TEST_F(CellTextTest, LaunchDelay) {
  record_.start_ns = 500;
  record_.end_ns = 600;
  EXPECT_EQ(TextOf("launch_delay", row_), "") << "no launch";
  record_.launch_end_ns = 420;
  EXPECT_EQ(TextOf("launch_delay", row_), "80");
  record_.launch_end_ns = 510;
  EXPECT_EQ(TextOf("launch_delay", row_), "0") << "it began before the call returned";
  record_.launch_end_ns = INT64_MIN;
  EXPECT_EQ(TextOf("launch_delay", row_), "") << "it does not fit";
  record_.launch_end_ns = 420;
  record_.reasons.Add(Reason::kUntimed);
  EXPECT_EQ(TextOf("launch_delay", row_), "");
  record_.reasons.Clear();
  record_.start_ns = std::nullopt;
  EXPECT_EQ(TextOf("launch_delay", row_), "");
}

TEST_F(CellTextTest, WhatIsOfTheLaunchAndTheOp) {
  record_.correlation_id = std::nullopt;
  record_.launch_api = std::nullopt;
  record_.step = std::nullopt;
  record_.long_name = {};
  for (const char* key : {"step", "shape", "dtype", "corr", "name_full", "api"}) {
    EXPECT_EQ(TextOf(key, row_), "") << key;
  }
  record_.correlation_id = 4711;
  record_.launch_api = "cudaLaunchKernel";
  record_.step = 3;
  record_.long_name = "void scale<float>(float*, float)";
  row_.shapes = "(2,3);(3,4)";
  row_.dtype = "fp16";
  EXPECT_EQ(TextOf("corr", row_), "4711");
  EXPECT_EQ(TextOf("api", row_), "cudaLaunchKernel");
  EXPECT_EQ(TextOf("step", row_), "3");
  EXPECT_EQ(TextOf("name_full", row_), "void scale<float>(float*, float)") << "blanks stay";
  EXPECT_EQ(TextOf("shape", row_), "(2,3);(3,4)");
  EXPECT_EQ(TextOf("dtype", row_), "fp16");
}

TEST_F(CellTextTest, TensorCores) {
  EXPECT_EQ(TextOf("tc", row_), "?");
  row_.figures.reset();
  row_.tensor_core = ops::TensorCoreUse::kYes;
  EXPECT_EQ(TextOf("tc", row_), "1");
  row_.figures.reset();
  row_.tensor_core = ops::TensorCoreUse::kNo;
  EXPECT_EQ(TextOf("tc", row_), "0");
}

TEST_F(CellTextTest, WhatNamesTell) {
  EXPECT_EQ(TextOf("family", row_), "");
  EXPECT_EQ(TextOf("name_facts", row_), "");
  Epochs epochs;
  KernelFactsCache names(&epochs, nullptr);
  row_.facts = names.Of("volta_h884gemm_64x128_ldg8_nt");
  EXPECT_EQ(TextOf("family", row_), "gemm");
  EXPECT_EQ(TextOf("name_facts", row_), "A=fp16,B=fp16,D=fp16,tile=64x128x?,layout=nt");
  EXPECT_EQ(TextOf("variant", row_), "");
  row_.facts =
      names.Of("void reduce_kernel<512, 1, ReduceOp<float, MeanOps<float, float> > >(int)");
  EXPECT_EQ(TextOf("variant", row_), "MeanOps");
  row_.facts = names.Of("main_69_gpu");
  EXPECT_EQ(TextOf("family", row_), "other");
  EXPECT_EQ(TextOf("name_facts", row_), "");
}

TEST_F(CellTextTest, DirectionNeedsEvidence) {
  EXPECT_EQ(TextOf("dir", row_), "") << "nothing says that it is forward";
  record_.seq_markers = {"mm, seq = 1"};
  EXPECT_EQ(TextOf("dir", row_), "fprop");
  record_.seq_markers.clear();
  record_.markers = {"{}"};
  EXPECT_EQ(TextOf("dir", row_), "fprop");
  record_.direction = Direction::kBackward;
  EXPECT_EQ(TextOf("dir", row_), "bprop");
  record_.direction = Direction::kUnknown;
  EXPECT_EQ(TextOf("dir", row_), "");
}

TEST_F(CellTextTest, ValuesThatOnlyFillAPlaceAreUnknown) {
  record_.reasons.Add(Reason::kNoLaunchCall);
  EXPECT_EQ(TextOf("tid", row_), "");
  EXPECT_EQ(TextOf("sil", row_), "100");
  record_.reasons.Add(Reason::kUntimed);
  EXPECT_EQ(TextOf("sil", row_), "");
  record_.reasons.Clear();
  record_.reasons.Add(Reason::kBadTimes);
  EXPECT_EQ(TextOf("sil", row_), "");
  EXPECT_EQ(TextOf("sub", row_), "") << "a kernel without a sequence id has no number in it";
  record_.alt_seq_ids = {0};
  EXPECT_EQ(TextOf("sub", row_), "0");
}

}  // namespace
}  // namespace oplens::prof::columns_test
