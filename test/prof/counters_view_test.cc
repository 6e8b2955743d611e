// The view counters: what was counted beside what the model says, and why they differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "parse/model/kernel_counters.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/views.h"
#include "test/prof/rows.h"
#include "test/support/view_rows.h"

namespace oplens::prof::counters_view_test {
namespace {

using test::ViewRow;

class CountersViewTest : public testing::Test {
 protected:
  CountersViewTest() : partial_(kCountersView.make({})) {
    partial_->Begin(nullptr);
    record_ = test::PlainRecord();
    row_.record = &record_;
    row_.op = "mm";
    row_.facts = &facts_;
  }

  void Model(int64_t mma, int64_t vec, int64_t bytes) {
    row_.share = {};
    row_.share.flops = mma + vec;
    row_.share.flops_mma = mma;
    row_.share.flops_vec = vec;
    row_.share.bytes = bytes;
  }
  void Counted(int64_t core, int64_t tensor, int64_t dram, int64_t l2) {
    counters_ = {};
    counters_.core_flops = core;
    counters_.tensor_flops = tensor;
    counters_.tensor_instructions = tensor / 512;
    counters_.dram_bytes = dram;
    counters_.l2_bytes = l2;
    row_.counters = &counters_;
  }
  void Add() { partial_->Add(row_); }
  std::vector<ViewRow> Rows() { return test::RowsOf(*partial_); }
  // The row of one kernel alone.
  ViewRow RowOfThis() {
    partial_ = kCountersView.make({});
    Add();
    return Rows().at(0);
  }

  std::unique_ptr<Partial> partial_;
  KernelRecord record_;
  KernelFacts facts_;
  KernelCounters counters_;
  ops::PricedOp price_;
  PricedKernel row_;
};

TEST_F(CountersViewTest, SumsWhatHasBothFigures) {
  Model(1000, 0, 100);
  Counted(1000, 0, 150, 400);
  Add();
  row_.counters = nullptr;
  Add();
  Counted(10, 0, 20, 30);
  row_.share = {};
  Add();
  row_.op = "add";
  Add();
  std::vector<ViewRow> rows = Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["op"], "add");
  EXPECT_EQ(rows[0]["flops"], "");
  EXPECT_EQ(rows[0]["flops_why"], "");
  EXPECT_EQ(rows[1]["op"], "mm");
  EXPECT_EQ(rows[1]["count"], "3");
  EXPECT_EQ(rows[1]["counted"], "2");
  EXPECT_EQ(rows[1]["time_ns"], "300");
  EXPECT_EQ(rows[1]["flops"], "1000");
  EXPECT_EQ(rows[1]["measured_flops"], "1000");
  EXPECT_EQ(rows[1]["flops_why"], "agree");
  EXPECT_EQ(rows[1]["bytes"], "100");
  EXPECT_EQ(rows[1]["measured_bytes"], "150");
  EXPECT_EQ(rows[1]["l2_bytes"], "400");
  EXPECT_EQ(rows[1]["bytes_why"], "rereads");
}

TEST_F(CountersViewTest, SaysWhyFlopsDiffer) {
  // 100x100x64 in tiles of 128x128: 1.64 times the FLOPs.
  ops::MatrixProduct product;
  product.m = product.n = 100;
  product.k = 64;
  price_.product = product;
  row_.price = &price_;
  facts_.name = "ampere_sgemm_128x128_nn";
  Model(1'280'000, 0, 10);
  Counted(2'097'152, 0, 10, 10);
  EXPECT_EQ(RowOfThis()["flops_why"], "padding");
  facts_.name = "void cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_128x128_nn_align1>(P)";
  EXPECT_EQ(RowOfThis()["flops_why"], "padding");
  Counted(5'000'000, 0, 10, 10);
  EXPECT_EQ(RowOfThis()["flops_why"], "model");
  Counted(1'000'000, 0, 10, 10);
  EXPECT_EQ(RowOfThis()["flops_why"], "model");
  price_.product->kind = ops::MatrixProduct::Kind::kConvolution;
  EXPECT_EQ(RowOfThis()["flops_why"], "taps");
  row_.share.fast_convolution = true;
  EXPECT_EQ(RowOfThis()["flops_why"], "algorithm");
  row_.price = nullptr;
  Model(0, 100, 10);
  EXPECT_EQ(RowOfThis()["flops_why"], "instructions");
  Counted(0, 0, 10, 10);
  EXPECT_EQ(RowOfThis()["flops_why"], "uncounted");
}

TEST_F(CountersViewTest, SaysWhyBytesDiffer) {
  Model(0, 0, 1000);
  Counted(0, 0, 1010, 5000);
  EXPECT_EQ(RowOfThis()["bytes_why"], "agree");
  Counted(0, 0, 3000, 5000);
  EXPECT_EQ(RowOfThis()["bytes_why"], "rereads");
  Counted(0, 0, 300, 5000);
  EXPECT_EQ(RowOfThis()["bytes_why"], "cache");
  Counted(0, 0, 300, 400);
  EXPECT_EQ(RowOfThis()["bytes_why"], "model");
}

TEST_F(CountersViewTest, SaysThatNothingWasCounted) {
  Model(1, 0, 1);
  Add();
  EXPECT_THAT(partial_->Notes(), testing::Contains(testing::HasSubstr("--counters")));
}

}  // namespace
}  // namespace oplens::prof::counters_view_test
