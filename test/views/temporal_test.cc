#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/hta/views.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"

namespace oplens::prof::temporal_test {
namespace {

using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

const View& kView = kTemporalView;
constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
constexpr const char* kCopy = "Memcpy HtoD (Pinned -> Device)";

// compute        |0---------10|                    0 to 10 us on one stream
// communication        |5------------20|           5 to 20 on another
// copy                                     |30-35|
TEST(TemporalTest, OverlappingStreams) {
  const std::string path = WriteRun(
      "run.json", {{"gemm", 0, 10'000}, {kNccl, 5'000, 15'000, 20}, {kCopy, 30'000, 5'000}});
  const auto rows = RowsOver(kView, {path});
  ASSERT_EQ(rows.size(), 1u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("rank"), "");
  EXPECT_EQ(row.at("idle_ns"), "10000");
  EXPECT_EQ(row.at("compute_ns"), "10000");
  EXPECT_EQ(row.at("non_compute_ns"), "15000");
  EXPECT_EQ(row.at("kernel_ns"), "35000");
  EXPECT_NEAR(std::stod(row.at("idle_pct")), 100.0 * 10 / 35, 1e-9);
  EXPECT_NEAR(std::stod(row.at("compute_pct")), 100.0 * 10 / 35, 1e-9);
  EXPECT_NEAR(std::stod(row.at("non_compute_pct")), 100.0 * 15 / 35, 1e-9);
  EXPECT_NEAR(std::stod(row.at("overlap_pct")), 100.0 * 5 / 15, 1e-9);
}

TEST(TemporalTest, OneEvent) {
  const auto rows = RowsOver(kView, {WriteRun("run.json", {{"gemm", 500, 1234}})});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("idle_ns"), "0");
  EXPECT_EQ(rows[0].at("compute_ns"), "1234");
  EXPECT_EQ(rows[0].at("compute_pct"), "100");
  EXPECT_EQ(rows[0].at("overlap_pct"), "");
}

TEST(TemporalTest, NothingOnTheDevice) {
  const auto partial = test::PartialOf(kView, {WriteRun("run.json", {})});
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("ProfilerActivity.CUDA")));
}

TEST(TemporalTest, RecordsSayThatTheyAreNotEnough) {
  const auto partial = kTemporalView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("the profile itself")));
  const auto all = kTemporalView.make({});
  all->Merge(*partial);
  EXPECT_EQ(all->Notes(), partial->Notes());
}

// What ends before it starts has no part in any time; the file's order says nothing; a clock that
// jumps an hour back makes an hour of idle time, and nothing else.
TEST(TemporalTest, JumpingClockAndReversedKernel) {
  constexpr int64_t kHour = 3'600'000'000'000;
  const auto rows = RowsOver(
      kView,
      {WriteRun("run.json", {{"gemm", kHour, 1000}, {"gemm", 0, 2000}, {"bad", 500, -400}})});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("compute_ns"), "3000");
  EXPECT_EQ(rows[0].at("idle_ns"), std::to_string(kHour - 2000));
  EXPECT_EQ(rows[0].at("kernel_ns"), std::to_string(kHour + 1000));
}

TEST(TemporalTest, RanksInAnyOrderOfFiles) {
  const std::string two = WriteRun("a.json", {{"gemm", 0, 1000}, {"gemm", 3000, 1000}}, 2);
  const std::string ten = WriteRun("b.json", {{kNccl, 0, 1000}}, 10);
  const auto together = RowsOver(kView, {ten, two});
  ASSERT_EQ(together.size(), 2u);
  EXPECT_EQ(together[0].at("rank"), "2");
  EXPECT_EQ(together[0].at("idle_ns"), "2000");
  EXPECT_EQ(together[1].at("rank"), "10");
  EXPECT_EQ(together[1].at("non_compute_ns"), "1000");
  EXPECT_EQ(together[1].at("overlap_pct"), "0");
  EXPECT_EQ(RowsOver(kView, {two, ten}), together);
}

TEST(TemporalTest, TakesNoGroupingButSteps) {
  EXPECT_THROW(kTemporalView.make({.by = {"op"}}), UsageError);
  EXPECT_THROW(MakeHtaTemporal({.by = {"step"}}), UsageError);
  const auto fields = kTemporalView.make({.by = {"step"}})->Fields();
  EXPECT_EQ(fields.size(), kTemporalView.fields().size() + 1);
  EXPECT_EQ(fields[1].key, "step");
}

// The rows of all steps, and what is outside of them, are the whole run.
TEST(TemporalTest, StepsAreApart) {
  test::KinetoBuilder builder;
  for (int step = 1; step <= 2; ++step) {
    const int64_t start_ns = step * 100'000;
    builder.AddHost("user_annotation", "ProfilerStep#" + std::to_string(step), start_ns, 100'000);
    builder.Launch({.name = "gemm", .duration_ns = step * 10'000}, start_ns + 1'500);
  }
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  ViewOptions options;
  options.by = {"step"};
  const auto rows = test::RowsOf(*test::PartialOf(kView, {path.string()}, options));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("step"), "1");
  EXPECT_EQ(rows[0].at("compute_ns"), "10000");
  EXPECT_EQ(rows[0].at("idle_ns"), "90000");
  EXPECT_EQ(rows[1].at("compute_ns"), "20000");
  EXPECT_EQ(rows[1].at("kernel_ns"), "100000");
}

TEST(TemporalTest, RanksSortAsNumbersBeforeNames) {
  const RankBefore before;
  EXPECT_TRUE(before("2", "10"));
  EXPECT_FALSE(before("10", "2"));
  EXPECT_TRUE(before("10", "host"));
  EXPECT_TRUE(before("7", ""));
  EXPECT_FALSE(before("3", "3"));
}

// A kernel is communication by its name, by the collective that launched it, or not at all: what a
// collective launches to copy its buffers is an operator of its own.
TEST(TemporalTest, CommunicationByLaunch) {
  test::KinetoBuilder builder;
  builder.AddOperator({.name = "c10d::allreduce_", .start_ns = 0, .duration_ns = 100'000});
  builder.Launch({.name = "vendor_exchange", .duration_ns = 1000}, 10'000);
  builder.AddOperator({.name = "aten::copy_", .start_ns = 30'000, .duration_ns = 10'000});
  builder.Launch({.name = "vendor_copy", .duration_ns = 2000}, 31'000);
  builder.Launch(
      {.name = "void at::native::vectorized_elementwise_kernel<4, F>(int)", .duration_ns = 4000},
      50'000);
  builder.AddHost("user_annotation", "nccl:all_reduce", 200'000, 20'000);
  builder.Launch({.name = "vendor_exchange_2", .duration_ns = 8000}, 201'000);
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  const auto rows = RowsOver(kView, {path.string()});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("non_compute_ns"), "9000");
  EXPECT_EQ(rows[0].at("compute_ns"), "6000");
}

}  // namespace
}  // namespace oplens::prof::temporal_test
