#include "ops/gpu/gpu.h"

#include <gtest/gtest.h>

#include "prof/compat/tb/views.h"
#include "prof/views/streams/gpu_launch.h"
#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::test::gpu_test {
namespace {

using prof::kGpuView;

void SetDetails(MadeRun* made, Kernel* kernel, float blocks, float occupancy) {
  KernelDetails details;
  details.blocks_per_multiprocessor = blocks;
  details.achieved_occupancy_pct = occupancy;
  made->trace.SetDetails(details, kernel);
}

double Number(const ViewRow& row, const std::string& key) {
  EXPECT_NE(row.at(key), "") << key;
  return row.at(key).empty() ? 0 : std::stod(row.at(key));
}

TEST(SmEfficiencyTest, BlocksAddUpToOne) {
  prof::SmEfficiency sm;
  sm.Add(0, 10, 0.5);
  sm.Add(5, 20, 0.75);   // 5-10: more than 1.
  sm.Add(30, 40, 0.25);  // After a gap.
  sm.Add(30, 40, -3);    // Nothing.
  EXPECT_DOUBLE_EQ(sm.Finish(), 5 * 0.5 + 5 * 1 + 10 * 0.75 + 10 * 0.25);
  prof::SmEfficiency none;
  EXPECT_FALSE(none.any());
  EXPECT_EQ(none.Finish(), 0);
}

TEST(GpuTest, KernelsOfTheWindow) {
  MadeRun made;
  made.AddStep(0, 100, 200);
  made.AddStep(1, 200, 300);
  Device& device = made.trace.devices.emplace_back();
  device.id = 2;
  device.name = made.trace.strings.Intern("Some GPU");
  device.memory_bytes = 1 << 30;
  // Half of it before the window, which begins with the first step.
  SetDetails(&made, &made.AddKernel(80, 120, kNoLaunch, "a", 2), 0.5F, 40);
  SetDetails(&made, &made.AddKernel(110, 130, kNoLaunch, "b", 2, 8), 2, 10);
  // A collective has blocks; its occupancy is that of waiting.
  SetDetails(&made, &made.AddKernel(140, 150, kNoLaunch, "ncclKernel_AllReduce", 2, 9), 0.25F, 0);
  made.AddKernel(310, 320, kNoLaunch, "late", 2);
  made.AddCopy(120, 160, kNoLaunch, 2);
  made.trace.memory_events.resize(3);
  for (int64_t i = 0; i < 3; ++i) {
    MemoryEvent& event = made.trace.memory_events[static_cast<size_t>(i)];
    event.device_id = 2;
    event.total_allocated_bytes = 100 * (i == 1 ? 7 : i);
  }
  const auto rows = made.RowsOf(kGpuView.make);
  ASSERT_EQ(rows.size(), 1u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("device"), "2");
  EXPECT_EQ(row.at("name"), "Some GPU");
  EXPECT_EQ(row.at("window_ns"), "200");
  EXPECT_EQ(row.at("busy_ns"), "40");
  EXPECT_EQ(row.at("busy_pct"), "20");
  EXPECT_DOUBLE_EQ(Number(row, "sm_efficiency_pct"), 100 * (10 * 0.5 + 20 * 1 + 10 * 0.25) / 200);
  EXPECT_DOUBLE_EQ(Number(row, "achieved_occupancy_pct"), (20 * 40 + 20 * 10) / 40.0);
  EXPECT_EQ(row.at("kernels"), "2");
  EXPECT_EQ(row.at("kernel_ns"), "40");
  EXPECT_EQ(row.at("comm_ns"), "10");
  EXPECT_EQ(row.at("copy_ns"), "40");
  EXPECT_EQ(row.at("replays"), "0");
  EXPECT_EQ(row.at("memory_bytes"), std::to_string(1 << 30));
  EXPECT_EQ(row.at("peak_allocated_bytes"), "700");
}

TEST(GpuTest, ReplaysOfHiddenGraphsAreBusy) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddReplay(10, 40);
  made.AddReplay(30, 50);
  const auto rows = made.RowsOf(kGpuView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("busy_ns"), "40");
  EXPECT_EQ(rows[0].at("replays"), "2");
  EXPECT_EQ(rows[0].at("replay_ns"), "50");
  for (const char* const key : {"sm_efficiency_pct", "achieved_occupancy_pct", "tc_time_pct",
                                "memory_bytes", "peak_allocated_bytes"}) {
    EXPECT_EQ(rows[0].at(key), "") << key;
  }
}

TEST(GpuTest, TimeOfTensorCores) {
  MadeRun made;
  for (int64_t i = 0; i < 4; ++i) made.AddKernel(10 * i, 10 * i + 10);
  const auto see = [](prof::PricedKernel* kernel) {
    using enum ops::TensorCoreUse;
    constexpr ops::TensorCoreUse kUses[] = {kYes, kNo, kNo, kUnknown};
    kernel->tensor_core = kUses[kernel->work];
  };
  EXPECT_DOUBLE_EQ(Number(made.RowsOf(kGpuView.make, see)[0], "tc_time_pct"), 100.0 / 3);
  EXPECT_DOUBLE_EQ(Number(made.RowsOf(kGpuView.make, see)[0], "tc_least_pct"), 25);
}

TEST(GpuTest, FewKernelsTellNothingOfAll) {
  const auto row_of = [](int64_t unknown_ns) {
    MadeRun made;
    made.AddStep(0, 0, 200);
    SetDetails(&made, &made.AddKernel(0, 90), 1, 40);
    made.AddKernel(100, 100 + unknown_ns);
    return made.RowsOf(kGpuView.make)[0];
  };
  // Of 90 % of the time of kernels, and of less.
  EXPECT_DOUBLE_EQ(Number(row_of(10), "sm_efficiency_pct"), 45);
  EXPECT_EQ(row_of(11).at("sm_efficiency_pct"), "");
  EXPECT_DOUBLE_EQ(Number(row_of(90), "achieved_occupancy_pct"), 40);
  EXPECT_EQ(row_of(91).at("achieved_occupancy_pct"), "");
}

TEST(GpuTest, AGpuThatIsNotListedIsOneLikeTheOthers) {
  MadeRun made;
  made.AddKernel(0, 10, kNoLaunch, "a", 2);
  for (const int64_t id : {0, 1}) {
    Device& device = made.trace.devices.emplace_back();
    device.id = id;
    device.name = made.trace.strings.Intern("Some GPU");
    device.memory_bytes = 1 << 30;
  }
  EXPECT_EQ(made.RowsOf(kGpuView.make)[0].at("name"), "Some GPU");
  EXPECT_EQ(made.RowsOf(kGpuView.make)[0].at("memory_bytes"), std::to_string(1 << 30));
  made.trace.devices[1].memory_bytes = 1 << 20;
  EXPECT_EQ(made.RowsOf(kGpuView.make)[0].at("name"), "");
}

ops::Gpu V100() {
  ops::Gpu gpu;
  gpu.compute_capability = 70;
  gpu.multiprocessors = 80;
  return gpu;
}

TEST(GpuTest, OccupancyOfTheGrid) {
  MadeRun made;
  Kernel& kernel = made.AddKernel(0, 10);
  kernel.shape = made.trace.shapes.Add({{40, 1, 1}, {256, 1, 1}, 32, 0, 0});
  const ops::Gpu gpu = V100();
  EXPECT_EQ(prof::BlocksPerSm(made.trace, kernel, &gpu), 0.5);
  // 40 blocks of 8 warps on 80 multiprocessors of 64.
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, &gpu), 100.0 * 4 / 64);
  kernel.shape = made.trace.shapes.Add({{80'000, 1, 1}, {256, 1, 1}, 128, 0, 0});
  // The registers leave room for 16 warps.
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, &gpu), 25.0);
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, nullptr), std::nullopt);
  kernel.shape = made.trace.shapes.Add({{80'000, 0, 1}, {256, 1, 1}, 128, 0, 0});
  EXPECT_EQ(prof::BlocksPerSm(made.trace, kernel, &gpu), std::nullopt);
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, &gpu), std::nullopt);
}

TEST(GpuTest, RecordedOccupanciesAreTwoFacts) {
  MadeRun made;
  Kernel& kernel = made.AddKernel(0, 10);
  KernelDetails details;
  details.theoretical_occupancy_pct = 50;
  made.trace.SetDetails(details, &kernel);
  EXPECT_EQ(prof::TheoreticalOccupancyPct(made.trace, kernel, nullptr), 50);
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, nullptr), std::nullopt);
  details.achieved_occupancy_pct = 0;
  details.theoretical_occupancy_pct = 0;  // None that runs has that.
  made.trace.SetDetails(details, &kernel);
  EXPECT_EQ(prof::TheoreticalOccupancyPct(made.trace, kernel, nullptr), std::nullopt);
  EXPECT_EQ(prof::AchievedOccupancyPct(made.trace, kernel, nullptr), 0);
}

TEST(GpuTest, DamagedTimes) {
  MadeRun made;
  made.AddKernel(20, 10);
  made.AddKernel(0, 0);
  SetDetails(&made, &made.AddKernel(30, 30), 1, 50);
  const auto rows = made.RowsOf(kGpuView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("window_ns"), "0");
  EXPECT_EQ(rows[0].at("busy_pct"), "");
  EXPECT_EQ(rows[0].at("achieved_occupancy_pct"), "");
  MadeRun none;
  EXPECT_TRUE(none.RowsOf(kGpuView.make).empty());
}

TEST(GpuTest, RanksInAnyOrderOfMerging) {
  const auto partial_of = [](std::string_view rank, int64_t end_ns) {
    MadeRun made;
    made.trace.rank_name = made.trace.strings.Intern(rank);
    made.AddStep(0, 0, 100);
    SetDetails(&made, &made.AddKernel(10, end_ns), 0.3F, 33);
    return made.PartialOf(kGpuView.make, [](prof::PricedKernel*) {});
  };
  const auto two = partial_of("2", 20);
  const auto ten = partial_of("10", 90);
  const auto more = partial_of("10", 50);
  const auto forward = kGpuView.make({});
  for (const auto* partial : {&two, &ten, &more}) forward->Merge(**partial);
  const auto backward = kGpuView.make({});
  for (const auto* partial : {&more, &ten, &two}) backward->Merge(**partial);
  const auto rows = RowsOf(*forward);
  EXPECT_EQ(rows, RowsOf(*backward));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("rank"), "2");
  EXPECT_EQ(rows[1].at("busy_pct"), "60");
}

TEST(TensorBoardGpuTest, OnlyWhatThePluginSees) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddRange("aten::mm", 0, 20, RangeKind::kOperator);
  made.AddKernel(30, 40, made.AddCall(5, 6), "volta_fp16_s884gemm");
  made.AddKernel(40, 70, made.AddCall(7, 8), "elementwise");
  made.AddKernel(70, 80, made.AddCall(9, 10, "cuLaunchKernel"), "s884");
  made.AddKernel(80, 90, made.AddCall(25, 26), "s884");  // By no operator.
  made.AddCopy(50, 55, kNoLaunch, 1);                    // No kernel: no GPU.
  const auto rows = made.RowsOf(prof::MakeTbGpu);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("busy_pct"), "60");
  EXPECT_EQ(rows[0].at("tc_time_pct"), "25");
  EXPECT_EQ(rows[0].at("kernels"), "");
  EXPECT_EQ(made.RowsOf(kGpuView.make).size(), 2u);
}

}  // namespace
}  // namespace oplens::test::gpu_test
