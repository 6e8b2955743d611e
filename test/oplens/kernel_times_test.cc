// Sums over kernels, and names with folded numbers.

#include "oplens/kernel_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace oplens::screen::kernel_times_test {
namespace {

using prof::Cell;

TEST(FoldNumbersTest, FoldsNumbersThatStandAlone) {
  EXPECT_EQ(FoldNumbers("TimesformerLayer_12"), "TimesformerLayer_*");
  EXPECT_EQ(FoldNumbers("block.3.mlp"), "block.*.mlp");
  EXPECT_EQ(FoldNumbers("Conv2d_1"), "Conv2d_*");
  EXPECT_EQ(FoldNumbers("layer1"), "layer1");
  EXPECT_EQ(FoldNumbers("007"), "*");
  EXPECT_EQ(FoldNumbers(""), "");
  EXPECT_EQ(FoldNumbers("7b model 12"), "7b model *");
}

/// A kernel as the view `kernels` shows it in the fields of KernelTimes::Columns().
struct KernelRow {
  std::string_view op = "mm";
  std::string_view kernel = "gemm";
  std::vector<std::string_view> layer = {};
  int64_t ns = 100;
  Cell tc = {};
  std::string_view tc_elig = "-";
  Cell flops = {};
  Cell bytes = {};
  double pct_math = 0;
  double pct_dram = 0;
  std::string_view bound = "";
  std::string_view family = "gemm";
};

void Add(const KernelRow& row, KernelTimes* times) {
  const Cell cells[] = {prof::Text(row.op),
                        prof::Text(row.kernel),
                        Cell{Cell::Texts{row.layer, 0}},
                        prof::Integer(row.ns),
                        row.tc,
                        prof::Text(row.tc_elig),
                        row.flops,
                        row.bytes,
                        Cell{row.pct_math},
                        Cell{row.pct_dram},
                        prof::Text(row.bound),
                        prof::Text(row.family)};
  times->Row(cells);
}

TEST(KernelTimesTest, CollectivesAreNoLayersWork) {
  KernelTimes times;
  Add({.layer = {"conv_1"}, .ns = 70}, &times);
  Add({.layer = {"conv_1"}, .ns = 20, .family = "collective"}, &times);
  Add({.layer = {"conv_2"}, .ns = 5, .family = "p2p"}, &times);
  Add({.ns = 105, .family = "collective"}, &times);
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
       .tc = {int64_t{1}},
       .flops = {int64_t{6000}},
       .bytes = {int64_t{900}},
       .pct_math = 60,
       .pct_dram = 10,
       .bound = "math"},
      &times);
  Add({.ns = 100,
       .tc = {int64_t{0}},
       .tc_elig = "1",
       .flops = {int64_t{0}},
       .bytes = {int64_t{100}},
       .pct_math = 1,
       .pct_dram = 20,
       .bound = "math"},
      &times);
  const TimesOf* const mm = times.OfOp("mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->kernels, 2);
  EXPECT_DOUBLE_EQ(mm->Tflops().value(), 6000.0 / 400 * 1e-3);
  EXPECT_DOUBLE_EQ(mm->Gbps().value(), 2.5);
  EXPECT_DOUBLE_EQ(mm->TensorCorePct().value(), 75);
  EXPECT_EQ(mm->Bound(), "math");
  EXPECT_DOUBLE_EQ(mm->RoofPct().value(), (300 * 60.0 + 100 * 20.0) / 400);
  EXPECT_EQ(times.missed_tc_ns(), 100);
  EXPECT_EQ(times.op_known_ns(), 400);
  EXPECT_EQ(times.OfOp("addmm"), nullptr);
}

TEST(KernelTimesTest, UnknownStaysUnknown) {
  KernelTimes times;
  Add({.ns = 99, .flops = {int64_t{5}}, .bound = "dram"}, &times);
  Add({.op = "", .ns = 100}, &times);
  Add({.ns = 100}, &times);
  const TimesOf* const mm = times.OfOp("mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_FALSE(mm->Tflops().has_value()) << "known of less than half of the time";
  EXPECT_FALSE(mm->Gbps().has_value());
  EXPECT_FALSE(mm->TensorCorePct().has_value());
  EXPECT_EQ(mm->Bound(), "dram") << "half of it, cut to whole ns";
  EXPECT_EQ(times.OfOp("")->Bound(), "");
  EXPECT_FALSE(times.OfOp("")->RoofPct().has_value());
  EXPECT_EQ(times.op_known_ns(), 199);
  EXPECT_TRUE(times.Layers(3, 299).rows.empty());
}

TEST(KernelTimesTest, SaysMixedWhereNoBoundPrevails) {
  KernelTimes times;
  Add({.ns = 79, .bound = "math"}, &times);
  Add({.ns = 21, .bound = "latency"}, &times);
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
