// Sums over kernels, and names with folded numbers.

#include "oplens/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"
#include "prof/price/priced_kernel.h"

namespace oplens::screen::kernel_times_test {
namespace {

TEST(FoldNumbersTest, FoldsNumbersThatStandAlone) {
  EXPECT_EQ(FoldNumbers("TimesformerLayer_12"), "TimesformerLayer_*");
  EXPECT_EQ(FoldNumbers("block.3.mlp"), "block.*.mlp");
  EXPECT_EQ(FoldNumbers("Conv2d_1"), "Conv2d_*");
  EXPECT_EQ(FoldNumbers("layer1"), "layer1");
  EXPECT_EQ(FoldNumbers("007"), "*");
  EXPECT_EQ(FoldNumbers(""), "");
  EXPECT_EQ(FoldNumbers("7b model 12"), "7b model *");
}

struct KernelRow {
  std::string_view op = "mm";
  std::string_view kernel = "gemm";
  std::vector<std::string_view> layer = {};
  int64_t ns = 100;
  ops::TensorCoreUse tc = ops::TensorCoreUse::kUnknown;
  ops::TensorCoreFitness tc_elig = ops::TensorCoreFitness::kNotAsked;
  std::optional<int64_t> flops = {};
  std::optional<int64_t> bytes = {};
  double pct_math = 0;
  double pct_dram = 0;
  ops::Bound bound = ops::Bound::kUnknown;
  std::string_view long_name = "gemm";  // That tells the family.
};

constexpr std::string_view kCollective = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";
constexpr std::string_view kP2p = "ncclDevKernel_SendRecv(ncclDevComm*)";

void Add(const KernelRow& row, KernelTimes* times) {
  KernelRecord record;
  record.short_name = row.kernel;
  record.long_name = row.long_name;
  record.duration_ns = row.ns;
  prof::KernelFacts facts;
  facts.name = row.long_name;
  prof::PricedKernel kernel;
  kernel.record = &record;
  kernel.facts = &facts;
  kernel.op = row.op;
  kernel.layer = row.layer;
  kernel.tensor_core = row.tc;
  kernel.share.flops = row.flops;
  kernel.share.bytes = row.bytes;
  prof::Figures& figures = kernel.figures.emplace();
  figures.tensor_core.fitness = row.tc_elig;
  figures.roofline.percent_of_math = row.pct_math;
  figures.roofline.percent_of_dram = row.pct_dram;
  figures.roofline.bound = row.bound;
  times->Add(kernel);
}

TEST(KernelTimesTest, CollectivesAreNoLayersWork) {
  KernelTimes times;
  Add({.layer = {"conv_1"}, .ns = 70}, &times);
  Add({.layer = {"conv_1"}, .ns = 20, .long_name = kCollective}, &times);
  Add({.layer = {"conv_2"}, .ns = 5, .long_name = kP2p}, &times);
  Add({.ns = 105, .long_name = kCollective}, &times);
  const Costs layers = times.Layers(5, 200);
  ASSERT_EQ(layers.rows.size(), 1u);
  EXPECT_EQ(layers.rows[0].total_ns, 70);
  EXPECT_EQ(layers.rows[0].share_pct, 35);
  EXPECT_EQ(layers.rows[0].communication_ns, 25);
  EXPECT_EQ(layers.rows[0].kernels, 1);
  ASSERT_TRUE(layers.collectives);
  EXPECT_EQ(layers.collectives->total_ns, 130);
  EXPECT_EQ(layers.collectives->kernels, 3);
}

TEST(KernelTimesTest, SumsRatesAndRoofsByTime) {
  KernelTimes times;
  Add({.ns = 300,
       .tc = ops::TensorCoreUse::kYes,
       .flops = 6000,
       .bytes = 900,
       .pct_math = 60,
       .pct_dram = 10,
       .bound = ops::Bound::kMath},
      &times);
  Add({.ns = 100,
       .tc = ops::TensorCoreUse::kNo,
       .tc_elig = ops::TensorCoreFitness::kYes,
       .flops = 0,
       .bytes = 100,
       .pct_math = 1,
       .pct_dram = 20,
       .bound = ops::Bound::kMath},
      &times);
  const RoofTimes* const mm = times.OfOp("mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->sums.kernels, 2);
  EXPECT_DOUBLE_EQ(mm->sums.TeraflopsPerSecond().value(), 6000.0 / 400 * 1e-3);
  EXPECT_DOUBLE_EQ(mm->sums.GigabytesPerSecond().value(), 2.5);
  EXPECT_DOUBLE_EQ(mm->sums.TensorCorePercent().value(), 75);
  EXPECT_EQ(mm->Bound(), "math");
  EXPECT_DOUBLE_EQ(mm->RoofPct().value(), (300 * 60.0 + 100 * 20.0) / 400);
  EXPECT_EQ(times.missed_tc_ns(), 100);
  EXPECT_EQ(times.op_known_ns(), 400);
  EXPECT_EQ(times.OfOp("addmm"), nullptr);
}

TEST(KernelTimesTest, UnknownStaysUnknown) {
  KernelTimes times;
  Add({.ns = 99, .flops = 5, .bound = ops::Bound::kDram}, &times);
  Add({.op = "", .ns = 100}, &times);
  Add({.ns = 100}, &times);
  const RoofTimes* const mm = times.OfOp("mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_FALSE(mm->sums.GigabytesPerSecond().has_value());
  EXPECT_FALSE(mm->sums.TensorCorePercent().has_value());
  EXPECT_EQ(mm->Bound(), "dram") << "half of it, cut to whole ns";
  EXPECT_EQ(times.OfOp("")->Bound(), "");
  EXPECT_FALSE(times.OfOp("")->RoofPct().has_value());
  EXPECT_EQ(times.op_known_ns(), 199);
  EXPECT_TRUE(times.Layers(3, 299).rows.empty());
}

TEST(KernelTimesTest, ShowsNoRateOfWhatIsKnownOfLittle) {
  KernelTimes times;
  Add({.layer = {"Net"}, .ns = 99, .flops = 5}, &times);
  Add({.layer = {"Net"}, .ns = 100}, &times);
  const Costs layers = times.Layers(1, 199);
  ASSERT_EQ(layers.rows.size(), 1U);
  EXPECT_FALSE(layers.rows[0].tflops.has_value()) << "known of less than half of the time";
  EXPECT_FALSE(layers.rows[0].gbps.has_value());
  EXPECT_FALSE(layers.rows[0].tc_pct.has_value());
}

TEST(KernelTimesTest, SaysMixedWhereNoBoundPrevails) {
  KernelTimes times;
  Add({.ns = 79, .bound = ops::Bound::kMath}, &times);
  Add({.ns = 21, .bound = ops::Bound::kLatency}, &times);
  EXPECT_EQ(times.OfKernel("gemm")->Bound(), "mixed");
}

TEST(KernelTimesTest, TellsTheOpThatMostOfAKernelIsFor) {
  KernelTimes times;
  Add({.op = "mm", .ns = 10}, &times);
  Add({.op = "addmm", .ns = 15}, &times);
  Add({.op = "mm", .ns = 6}, &times);
  EXPECT_EQ(times.MainOpOf("gemm"), "mm");
  EXPECT_EQ(times.MainOpOf("other"), "");
}

TEST(KernelTimesTest, FoldsLayersAndNamesTheLargest) {
  KernelTimes times;
  Add({.layer = {"Net", "Block_0", "Linear_1"}, .ns = 40}, &times);
  Add({.layer = {"Net", "Block_1", "Linear_7"}, .ns = 50}, &times);
  Add({.layer = {"Net", "Head_0"}, .ns = 60}, &times);
  Add({.layer = {"Net"}, .ns = 10}, &times);
  Add({.layer = {}, .ns = 40}, &times);
  const Costs costs = times.Layers(2, 200);
  ASSERT_EQ(costs.rows.size(), 2U);
  EXPECT_EQ(costs.rows[0].name, "Linear_*");
  EXPECT_EQ(costs.rows[0].alike, 2U);
  EXPECT_EQ(costs.rows[0].kernels, 2);
  EXPECT_DOUBLE_EQ(costs.rows[0].share_pct, 45);
  EXPECT_EQ(costs.rows[0].largest, "Net/Block_1/Linear_7");
  EXPECT_DOUBLE_EQ(costs.rows[0].largest_pct.value(), 25);
  EXPECT_EQ(costs.rows[1].name, "Head_0") << "one of its kind keeps its number";
  EXPECT_FALSE(costs.rows[1].largest_pct.has_value());
  EXPECT_EQ(costs.others, 1U);
  EXPECT_DOUBLE_EQ(costs.others_pct, 5);
}

}  // namespace
}  // namespace oplens::screen::kernel_times_test
