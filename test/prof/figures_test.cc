#include "prof/price/figures.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "parse/model/kernel_counters.h"
#include "prof/price/op_resolver.h"
#include "prof/price/priced_kernel.h"
#include "prof/views/kernels/kernel_columns.h"
#include "test/prof/rows.h"

namespace oplens::prof::figures_test {
namespace {

using test::MmText;
using test::PlainRecord;

/// A kernel of mm of two fp32 matrices of 1024 x 1024 on an A100.
class FiguresTest : public testing::Test {
 protected:
  FiguresTest() : text_(MmText(1024, 1024, 1024)), record_(PlainRecord()) {
    record_.markers = {text_};
    record_.op = {"mm"};
    record_.mod = {"torch"};
    record_.long_name = "ampere_sgemm_128x128_nn";
    record_.duration_ns = 200'000;
    record_.grid = {8, 8, 1};
    record_.block = {256, 1, 1};
    record_.registers_per_thread = 122;
    record_.static_shared_memory_bytes = 32768;
    record_.dynamic_shared_memory_bytes = 0;
    record_.device_name = "NVIDIA A100-SXM4-40GB";
    record_.gpu = "cc=8.0,sms=108,clock=1410000000,dram=1555200000000";
  }

  /// Resolves the record and charges it the whole op.
  std::string Show(std::string_view key, const ops::Gpu* gpu = nullptr) {
    resolver_ = std::make_unique<OpResolver>(OpChoice::kInner, gpu);
    row_.index = 1;
    resolver_->Resolve(record_, &row_);
    row_.share = {};
    row_.share.role = ops::Role::kMain;
    row_.share.flops = row_.share.flops_mma = 2'147'483'648;
    row_.share.flops_vec = 0;
    row_.share.bytes = 12'582'912;
    const KernelColumn* column = SelectKernelColumns(key).front();
    std::string scratch;
    return std::string(CellText(*column, column->get(row_), &scratch));
  }

  std::string text_;
  KernelRecord record_;
  PricedKernel row_;
  std::unique_ptr<OpResolver> resolver_;
};

TEST_F(FiguresTest, ColumnsOfAProduct) {
  EXPECT_EQ(Show("tc"), "0");
  EXPECT_EQ(Show("ai"), "170.667");
  EXPECT_EQ(Show("tflops"), "10.737");
  EXPECT_EQ(Show("gbps"), "62.915");
  EXPECT_EQ(Show("pct_math"), "55.087");  // of 108 x 64 x 2 x 1.41e9 = 19.492 TFLOP/s
  EXPECT_EQ(Show("pct_dram"), "4.045");   // of 1555.2 GB/s
  EXPECT_EQ(Show("bound"), "latency");
  EXPECT_EQ(Show("bound_why"), "few-blocks");  // 64 blocks, 108 multiprocessors.
  // 122 registers: 4096 a warp, 16 warps, 2 blocks of 8; 64 blocks over 2 x 108.
  EXPECT_EQ(Show("theoretical_occupancy_pct"), "25.000");
  EXPECT_EQ(Show("waves"), "0.296");
  EXPECT_EQ(Show("tc_why").substr(0, 8), "N6:sgemm");
}

TEST_F(FiguresTest, SharedMemoryMayBeKnownAsASum) {
  record_.static_shared_memory_bytes.reset();
  record_.dynamic_shared_memory_bytes.reset();
  EXPECT_EQ(Show("theoretical_occupancy_pct"), "");
  record_.shared_memory_bytes = 100 * 1024;  // one block of 164 KiB
  EXPECT_EQ(Show("theoretical_occupancy_pct"), "12.500");
  record_.shared_memory_bytes.reset();
  record_.static_shared_memory_bytes = INT64_MAX;
  record_.dynamic_shared_memory_bytes = INT64_MAX;
  EXPECT_EQ(Show("theoretical_occupancy_pct"), "");
}

TEST_F(FiguresTest, WithoutAGpuOrATime) {
  record_.gpu.reset();
  record_.device_name.reset();
  for (const char* key :
       {"pct_math", "pct_dram", "bound", "bound_why", "theoretical_occupancy_pct", "waves"}) {
    EXPECT_EQ(Show(key), "") << key;
  }
  EXPECT_EQ(Show("tflops"), "10.737");
  record_.duration_ns = 0;
  EXPECT_EQ(Show("tflops"), "");
  EXPECT_EQ(Show("ai"), "170.667");
}

TEST_F(FiguresTest, AGivenGpuWins) {
  const ops::Gpu v100 = *ops::FindGpu("V100 SXM2").gpu;
  EXPECT_EQ(Show("pct_math", &v100), "68.391");  // of 15.7 TFLOP/s
  record_.gpu.reset();
  record_.device_name.reset();
  EXPECT_EQ(Show("pct_dram", &v100), "6.991");
}

TEST_F(FiguresTest, EachRecordHasItsOwnGpu) {
  EXPECT_EQ(Show("pct_math"), "55.087");
  KernelRecord other = record_;
  other.gpu = "cc=8.0,sms=54,clock=1410000000,dram=1555200000000";
  PricedKernel row;
  resolver_->Resolve(record_, &row_);
  resolver_->Resolve(other, &row);
  EXPECT_EQ(row_.gpu->multiprocessors, 108);
  EXPECT_EQ(row.gpu->multiprocessors, 54);
  PricedKernel again;
  resolver_->Resolve(record_, &again);
  EXPECT_EQ(again.gpu, row_.gpu);
  // The name and the facts are not run together.
  other.device_name = "NVIDIA A100-SXM4-40GBcc=8.0";
  other.gpu = ",sms=54,clock=1410000000,dram=1555200000000";
  resolver_->Resolve(other, &row);
  EXPECT_EQ(row.gpu->compute_capability, 0);
}

TEST_F(FiguresTest, PeakOfAProduct) {
  Show("idx");
  EXPECT_NEAR(ProductPeakOf(row_) * 1e-12, 108 * 512 * 2 * 1.41e-3, 1e-6);
  row_.share.flops_mma = 0;
  EXPECT_EQ(ProductPeakOf(row_), 0);
  row_.share.flops_mma.reset();
  EXPECT_EQ(ProductPeakOf(row_), 0);
  row_.share.flops_mma = 1;
  row_.gpu = nullptr;
  EXPECT_EQ(ProductPeakOf(row_), 0);
}

TEST_F(FiguresTest, ProductsOnGpusOfAmd) {
  record_.device_name = "AMD Instinct MI250X";
  record_.gpu = "cc=9.0,sms=110,warp=64,mem=68702699520";
  record_.long_name = "Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x1_SN";
  EXPECT_EQ(Show("tc"), "1");
  EXPECT_EQ(Show("pct_math"), "22.416");  // of 47.9 TFLOP/s: fp32 in full
  EXPECT_EQ(Show("pct_dram"), "3.841");   // of 1638 GB/s
  EXPECT_EQ(Show("bound"), "latency");
  EXPECT_EQ(Show("theoretical_occupancy_pct"), "");  // CUDA's rule
  EXPECT_EQ(Show("waves"), "");
  EXPECT_NEAR(ProductPeakOf(row_) * 1e-12, 47.9, 1e-6);
  // What tells nothing of its unit has no share of one; but it is not faster than the fastest.
  record_.long_name = "my_product(float*)";
  record_.duration_ns = 1;
  EXPECT_EQ(Show("tc"), "?");
  EXPECT_EQ(Show("tc_elig"), "?");
  EXPECT_EQ(Show("pct_math"), "");
  EXPECT_EQ(Show("bound"), "");
  EXPECT_EQ(MathRoofOf(row_).unit, ops::MathUnit::kTensorFp32);
  EXPECT_EQ(MathRoofOf(row_).flops, 2'147'483'648);
}

TEST_F(FiguresTest, OpenNamesAreResolvedByTheRate) {
  record_.long_name = "my_product(float*)";
  EXPECT_EQ(Show("tc"), "?");
  record_.duration_ns = 100'000;  // 21.5 TFLOP/s of 19.5
  EXPECT_EQ(Show("tc"), "1");
  EXPECT_EQ(Show("tc_elig"), "1");  // that proves it
}

// Twice the FLOPs and four times the bytes of the model, in 200 us on CUDA cores.
TEST_F(FiguresTest, MeasuredFiguresGoBeforeModelledOnes) {
  EXPECT_EQ(Show("flops_by"), "modelled");
  EXPECT_EQ(Show("bytes_by"), "modelled");
  EXPECT_EQ(Show("measured_flops"), "");
  EXPECT_EQ(Show("tflops"), "10.737");
  KernelCounters counters;
  counters.core_flops = 4'294'967'296;
  row_.counters = &counters;
  // Not all that it did was counted.
  EXPECT_EQ(Show("core_flops"), "4294967296");
  EXPECT_EQ(Show("measured_flops"), "");
  EXPECT_EQ(Show("flops_by"), "modelled");
  EXPECT_EQ(Show("tflops"), "10.737");
  counters.tensor_flops = 0;
  counters.tensor_instructions = 0;
  counters.dram_bytes = 50'331'648;
  counters.l2_bytes = 100'000'000;
  counters.achieved_occupancy_pct = 37.5;
  EXPECT_EQ(Show("flops"), "2147483648");
  EXPECT_EQ(Show("measured_flops"), "4294967296");
  EXPECT_EQ(Show("flops_ratio"), "0.500");
  EXPECT_EQ(Show("bytes_ratio"), "0.250");
  EXPECT_EQ(Show("flops_by"), "measured");
  EXPECT_EQ(Show("bytes_by"), "measured");
  EXPECT_EQ(Show("tflops"), "21.475");
  EXPECT_EQ(Show("gbps"), "251.658");
  EXPECT_EQ(Show("l2_bytes"), "100000000");
  EXPECT_EQ(Show("achieved_occupancy_pct"), "37.500");
  EXPECT_EQ(Show("pct_math"), "110.173");  // Of 19.5 TFLOP/s, as no kernel could.
  EXPECT_EQ(MathRoofOf(row_).flops, 4'294'967'296);
}

TEST_F(FiguresTest, CountersOfTensorCores) {
  record_.long_name = "ampere_s16816gemm_fp16_128x128";
  KernelCounters counters;
  counters.core_flops = 1'000'000;
  counters.tensor_flops = 2'200'000'000;
  counters.tensor_instructions = 537'110;
  row_.counters = &counters;
  EXPECT_EQ(Show("tensor_insts"), "537110");
  EXPECT_EQ(Show("measured_flops"), "2201000000");
  EXPECT_EQ(Show("tflops"), "11.005");
  EXPECT_EQ(RatedWorkOf(row_).flops_mma, 2'200'000'000);
  EXPECT_EQ(RatedWorkOf(row_).bytes_measured, false);
  // A name that does not decide.
  record_.long_name = "my_product(float*)";
  EXPECT_EQ(Show("tc"), "1");
  counters.tensor_instructions = 0;
  EXPECT_EQ(Show("tc"), "0");
}

}  // namespace
}  // namespace oplens::prof::figures_test
