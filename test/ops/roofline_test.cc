#include "ops/gpu/roofline.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string_view>

namespace oplens::ops::roofline_test {
namespace {

Gpu A100() { return ParseGpu("NVIDIA A100-SXM4-40GB", "cc=8.0,sms=108"); }

RooflineCase Kernel(const Gpu* gpu, int64_t flops, int64_t bytes, int64_t duration_ns) {
  RooflineCase kernel;
  kernel.dtype = DType::kFloat32;
  kernel.flops = flops;
  kernel.flops_mma = flops;
  kernel.bytes = bytes;
  kernel.duration_ns = duration_ns;
  kernel.gpu = gpu;
  return kernel;
}

TEST(RooflineTest, ComparesWithThePeaksThatFit) {
  const Gpu gpu = A100();
  // 4096^3 fp16: 137.4 GFLOP in 1 ms is 137.4 TFLOP/s of 312; 100.7 MB are 100.7 GB/s of 1555.
  RooflineCase kernel = Kernel(&gpu, 137'438'953'472, 100'663'296, 1'000'000);
  kernel.dtype = DType::kFloat16;
  kernel.uses_tensor_cores = true;
  kernel.math = MathType::kFp16;
  const Roofline fp16 = RooflineOf(kernel);
  EXPECT_NEAR(fp16.tera_flops_per_s.value(), 137.438953, 1e-6);
  EXPECT_NEAR(fp16.giga_bytes_per_s.value(), 100.663296, 1e-6);
  EXPECT_NEAR(fp16.flops_per_byte.value(), 1365.3333, 1e-3);
  EXPECT_NEAR(fp16.percent_of_math.value(), 44.0509, 1e-3);
  EXPECT_NEAR(fp16.percent_of_dram.value(), 6.4735, 1e-3);
  EXPECT_EQ(fp16.bound, Bound::kLatency);

  struct Row {
    MathType math;
    double peak_tera;
  };
  for (const Row& row :
       {Row{MathType::kBf16, 312}, Row{MathType::kTf32, 156}, Row{MathType::kThreeTf32, 156},
        Row{MathType::kFp64, 19.5}, Row{MathType::kInt8, 624}, Row{MathType::kInt4, 1248}}) {
    kernel.math = row.math;
    EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 100 * 137.438953 / row.peak_tera, 1e-3);
  }
  // Not on this GPU, or not known: no percentage and so no bound.
  for (const MathType math : {MathType::kUnknown, MathType::kBinary, MathType::kFp8}) {
    kernel.math = math;
    EXPECT_FALSE(RooflineOf(kernel).percent_of_math);
    EXPECT_EQ(RooflineOf(kernel).bound, Bound::kUnknown);
    EXPECT_TRUE(RooflineOf(kernel).percent_of_dram);
  }
}

TEST(RooflineTest, VectorPeaks) {
  const Gpu gpu = A100();
  RooflineCase kernel = Kernel(&gpu, 1'950'000'000, 1000, 1'000'000);  // 1.95 TFLOP/s
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 10, 1e-6);   // of 19.5
  kernel.dtype = DType::kFloat16;                                      // computed in fp32
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 10, 1e-6);
  kernel.dtype = DType::kFloat64;
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 100 * 1.95 / 9.7, 1e-6);
  kernel.dtype = DType::kFloat16;
  kernel.long_name = "volta_hgemm_128x128_nn";
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 2.5, 1e-6);
  // fp16 sums are twice as fast on a GeForce card.
  const Gpu geforce = ParseGpu("NVIDIA GeForce RTX 3090", "");
  kernel = Kernel(&geforce, 14'200'000'000, 1000, 1'000'000);
  kernel.uses_tensor_cores = true;
  kernel.math = MathType::kFp16;
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 20, 1e-6);
  kernel.half_sums = true;
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 10, 1e-6);
}

TEST(RooflineTest, TensorCoresAreComparedByMatrixWork) {
  const Gpu gpu = A100();
  RooflineCase kernel = Kernel(&gpu, 400'000'000, 1000, 1000);
  kernel.flops_mma = 312'000'000;
  kernel.uses_tensor_cores = true;
  kernel.math = MathType::kFp16;
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 100, 1e-6);
  EXPECT_NEAR(RooflineOf(kernel).tera_flops_per_s.value(), 400, 1e-6);
}

TEST(RooflineTest, MatrixCoresOfAmd) {
  const Gpu gpu = *FindGpu("MI250X").gpu;
  RooflineCase kernel = Kernel(&gpu, 4'790'000, 1000, 1000);
  kernel.flops_mma = 4'790'000;  // 4.79 TFLOP/s
  kernel.uses_tensor_cores = true;
  kernel.math = MathType::kTf32;  // fp32: in full.
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 10, 1e-6);
  kernel.math = MathType::kFp16;
  kernel.half_sums = true;
  EXPECT_NEAR(RooflineOf(kernel).percent_of_math.value(), 100 * 4.79 / 191.5, 1e-6);
  // Nothing tells the unit of a product: nothing is said of it.
  kernel.unit_open = true;
  EXPECT_FALSE(RooflineOf(kernel).percent_of_math);
  EXPECT_EQ(RooflineOf(kernel).bound, Bound::kUnknown);
  EXPECT_NEAR(RooflineOf(kernel).percent_of_dram.value(), 100 / 1638., 1e-6);
}

TEST(RooflineTest, Bounds) {
  const Gpu gpu = A100();
  // 1 us: 11.7e6 FLOPs are 60 % of 19.5 TFLOP/s, 933e3 bytes 60 % of 1555 GB/s.
  struct Row {
    int64_t flops;
    int64_t bytes;
    int64_t duration_ns;
    Bound bound;
  };
  const Row rows[] = {
      {11'690'000, 932'000, 1000, Bound::kLatency},
      {11'710'000, 932'000, 1000, Bound::kMath},
      {11'690'000, 934'000, 1000, Bound::kDram},
      {15'000'000, 934'000, 1000, Bound::kMath},
      {0, 934'000, 1000, Bound::kDram},
      {0, 1000, 1000, Bound::kLatency},
      {1000, 0, 1000, Bound::kLatency},
      {0, 0, 1000, Bound::kUnknown},
      // However long it takes: a softmax with 20 % of DRAM is not bound by it.
      {0, 311'000'000, 1'000'000, Bound::kLatency},
      {0, 934'000'000, 1'000'000, Bound::kDram},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RooflineOf(Kernel(&gpu, row.flops, row.bytes, row.duration_ns)).bound, row.bound)
        << row.flops << ' ' << row.bytes << ' ' << row.duration_ns;
  }
}

TEST(RooflineTest, WhyItIsAtNoRoof) {
  Gpu gpu = A100();  // 108 multiprocessors.
  struct Row {
    double dram_pct;
    int64_t blocks;
    std::optional<double> waves;
    int64_t duration_ns;
    std::string_view word;
  };
  const Row rows[] = {
      {20, 107, 0.5, 1'000'000, "few-blocks"},
      {20, 108, 0.5, 1'000'000, ""},
      {20, 108, 0.5, 9'999, "short"},
      // 1.25 waves take the time of 2: 40 % would be 64.
      {40, 1000, 1.25, 1'000'000, "tail"},
      {35, 1000, 1.25, 1'000'000, ""},
      {40, 1000, {}, 1'000'000, ""},
      {60, 107, 0.5, 9'999, ""},  // At the roof all the same.
  };
  for (const Row& row : rows) {
    Roofline roofline;
    roofline.percent_of_dram = row.dram_pct;
    roofline.bound = BoundOfShares(0, row.dram_pct);
    LatencyCase kernel;
    kernel.roofline = &roofline;
    kernel.gpu = &gpu;
    kernel.grid = {row.blocks, 1, 1};
    kernel.waves = row.waves;
    kernel.duration_ns = row.duration_ns;
    EXPECT_EQ(LatencyWhyWord(LatencyWhyOf(kernel)), row.word) << row.dram_pct << ' ' << row.blocks;
    kernel.gpu = nullptr;
    EXPECT_NE(LatencyWhyOf(kernel), LatencyWhy::kFewBlocks);
  }
}

TEST(RooflineTest, BestUnits) {
  const auto unit = [](const char* gpu, DType type) {
    const auto best = BestUnitOf(ParseGpu(gpu, ""), type, type);
    return best ? MathUnitWord(*best) : "none";
  };
  EXPECT_EQ(unit("A100 40GB", DType::kFloat16), "tc_fp16");
  EXPECT_EQ(unit("A100 40GB", DType::kFloat32), "tc_tf32");
  EXPECT_EQ(unit("V100 SXM2", DType::kBFloat16), "fp32");
  EXPECT_EQ(unit("Tesla P100 SXM2", DType::kFloat16), "packed_fp16");
  EXPECT_EQ(unit("H100 PCIe", DType::kFloat8E4m3), "tc_fp8");
  EXPECT_EQ(unit("MI250X", DType::kFloat32), "tc_fp32");
  EXPECT_EQ(unit("MI300X", DType::kFloat32), "tc_tf32");
  EXPECT_EQ(unit("MI300X", DType::kFloat8E4m3), "tc_fp8");
  EXPECT_EQ(unit("MI300X", DType::kFloat4E2m1), "fp32");
  EXPECT_EQ(unit("MI355X", DType::kFloat4E2m1), "tc_fp4");
  EXPECT_EQ(unit("A100 40GB", DType::kUnknown), "none");
  EXPECT_EQ(unit("no such card", DType::kFloat32), "none");
}

TEST(RooflineTest, EveryUnitHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (size_t i = 0; i < kMathUnitCount; ++i) words.insert(MathUnitWord(static_cast<MathUnit>(i)));
  EXPECT_EQ(words.size(), kMathUnitCount);
  EXPECT_EQ(words.count(""), 0u);
}

TEST(RooflineTest, BestPeaks) {
  const auto peak = [](const char* gpu, DType type) {
    return BestPeakOf(ParseGpu(gpu, ""), type, type) * 1e-12;
  };
  EXPECT_NEAR(peak("A100 40GB", DType::kFloat16), 312, 1e-6);
  EXPECT_NEAR(peak("A100 40GB", DType::kFloat32), 156, 1e-6);
  EXPECT_NEAR(peak("A100 40GB", DType::kFloat64), 19.5, 1e-6);
  EXPECT_NEAR(peak("V100 SXM2", DType::kFloat32), 15.7, 1e-6);
  EXPECT_NEAR(peak("V100 SXM2", DType::kBFloat16), 15.7, 1e-6);
  EXPECT_NEAR(peak("Tesla P100 SXM2", DType::kFloat16), 21.2, 1e-6);
  EXPECT_NEAR(peak("H100 PCIe", DType::kFloat8E4m3), 1513, 1e-6);
  EXPECT_EQ(peak("A100 40GB", DType::kInt64), 0);
  EXPECT_EQ(peak("A100 40GB", DType::kUnknown), 0);
  EXPECT_EQ(peak("no such GPU", DType::kFloat16), 0);
}

TEST(RooflineTest, CollectivesHaveBandwidthOnly) {
  const Gpu gpu = A100();
  RooflineCase kernel = Kernel(&gpu, 1'000'000, 100'000'000, 1'000'000);
  kernel.op_class = OpClass::kCollective;
  const Roofline roofline = RooflineOf(kernel);
  EXPECT_NEAR(roofline.giga_bytes_per_s.value(), 100, 1e-9);
  EXPECT_FALSE(roofline.flops_per_byte || roofline.tera_flops_per_s || roofline.percent_of_math ||
               roofline.percent_of_dram);
  EXPECT_EQ(roofline.bound, Bound::kUnknown);
}

TEST(RooflineTest, WhatIsMissingIsUnknown) {
  const Gpu gpu = A100();
  RooflineCase kernel = Kernel(nullptr, 10, 5, 1000);
  EXPECT_EQ(RooflineOf(kernel).flops_per_byte, 2);
  EXPECT_TRUE(RooflineOf(kernel).tera_flops_per_s);
  EXPECT_FALSE(RooflineOf(kernel).percent_of_dram);
  for (const int64_t duration : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    kernel = Kernel(&gpu, 10, 5, duration);
    EXPECT_FALSE(RooflineOf(kernel).tera_flops_per_s);
    EXPECT_FALSE(RooflineOf(kernel).giga_bytes_per_s);
    EXPECT_EQ(RooflineOf(kernel).flops_per_byte, 2);
  }
  kernel = Kernel(&gpu, 10, 0, 1000);
  EXPECT_FALSE(RooflineOf(kernel).flops_per_byte);
  kernel.flops.reset();
  kernel.bytes = 5;
  EXPECT_FALSE(RooflineOf(kernel).tera_flops_per_s);
  EXPECT_EQ(RooflineOf(kernel).bound, Bound::kUnknown);
  EXPECT_TRUE(RooflineOf(Kernel(&gpu, INT64_MAX, INT64_MAX, 1)).percent_of_math);
}

}  // namespace
}  // namespace oplens::ops::roofline_test
