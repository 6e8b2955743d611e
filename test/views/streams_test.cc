// launches, queue and bandwidth of made-up runs, and the series behind them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/hta/activity.h"
#include "prof/run/steps.h"
#include "prof/run/time_series.h"
#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::prof::streams_test {
namespace {

using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

ViewOptions By(std::vector<std::string> words) {
  ViewOptions options;
  options.by = std::move(words);
  return options;
}

// Five launches: a short kernel; a slow call; a late start; work that begins before its call
// returns; and a graph of two kernels.
void AddLaunches(MadeRun* made) {
  made->AddKernel(10'000, 12'000, made->AddCall(0, 5'000), "short");
  made->AddKernel(100'000, 190'000, made->AddCall(20'000, 80'000), "slow");
  made->AddKernel(401'000, 500'000, made->AddCall(200'000, 300'000, "cuLaunchKernel"), "late");
  made->AddKernel(503'000, 600'000, made->AddCall(501'000, 505'000), "early");
  const LaunchIndex graph = made->AddCall(700'000, 710'000, "cudaGraphLaunch");
  made->AddKernel(720'000, 730'000, graph, "graph_1").graph = true;
  made->AddKernel(740'000, 750'000, graph, "graph_2").graph = true;
  made->AddCopy(800'000, 900'000, made->AddCall(790'000, 795'000, "cudaMemcpyAsync"));
}

TEST(LaunchesTest, CountsPairs) {
  MadeRun made;
  AddLaunches(&made);
  const auto rows = made.RowsOf(kLaunchesView.make);
  ASSERT_EQ(rows.size(), 1u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("launches"), "4");
  EXPECT_EQ(row.at("short_kernels"), "1");
  EXPECT_EQ(row.at("runtime_outliers"), "2");
  EXPECT_EQ(row.at("delay_outliers"), "1");
  EXPECT_EQ(row.at("early_starts"), "1");
  EXPECT_EQ(row.at("cpu_ns"), "169000");
  EXPECT_EQ(row.at("gpu_ns"), "288000");
  EXPECT_EQ(row.at("delay_ns"), "126000");  // 5 + 20 + 101 + 0 us.
  EXPECT_EQ(row.at("max_delay_ns"), "101000");
  EXPECT_NEAR(std::stod(row.at("p50_delay_ns")), 5'000, 5'000 / 64.0);
  EXPECT_EQ(row.at("graph_launches"), "1");
}

TEST(LaunchesTest, Keys) {
  MadeRun made;
  AddLaunches(&made);
  ViewOptions options = By({"kernel", "api"});
  options.copies = true;
  std::vector<std::string> keys;
  for (const ViewRow& row : made.RowsOf(kLaunchesView.make, options)) {
    keys.push_back(row.at("api") + " " + row.at("kernel") + " " + row.at("launches"));
  }
  EXPECT_THAT(keys, ElementsAre("cuLaunchKernel late 1", "cudaGraphLaunch graph_1 0",
                                "cudaLaunchKernel early 1", "cudaLaunchKernel short 1",
                                "cudaLaunchKernel slow 1", "cudaMemcpyAsync Memcpy Unknown 1"));
  EXPECT_THROW(kLaunchesView.make(By({"layer"})), UsageError);
}

TEST(LaunchesTest, Steps) {
  MadeRun made;
  made.AddStep(3, 0, 100'000);
  made.AddStep(4, 100'000, 1'000'000);
  AddLaunches(&made);
  const auto rows = made.RowsOf(kLaunchesView.make, By({"step"}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("step"), "3");
  EXPECT_EQ(rows[0].at("launches"), "2");
  EXPECT_EQ(rows[1].at("launches"), "2");
}

TEST(LaunchesTest, WithoutCalls) {
  MadeRun made;
  made.trace.family = Family::kKineto;
  made.AddKernel(0, 10);
  const auto partial = made.PartialOf(kLaunchesView.make, [](PricedKernel*) {});
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("launches: ")));
}

// One call asked at 0 and one at 10; the work begins at 20 and 40; a call at 40 begins at 50.
//
// length  |1 0-10|2 10-20|1 20-40|1 40-50|0
TEST(QueueTest, LengthsByTime) {
  MadeRun made;
  made.AddKernel(20, 40, made.AddCall(0, 5));
  made.AddKernel(40, 45, made.AddCall(10, 15));
  made.AddKernel(50, 60, made.AddCall(40, 45));
  made.AddKernel(52, 60);                        // Nobody asked.
  made.AddKernel(55, 60, made.AddCall(56, 57));  // It did not wait.
  const auto rows = made.RowsOf(kQueueView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("stream"), "7");
  EXPECT_EQ(rows[0].at("changes"), "4");  // At 40 one comes and one goes.
  EXPECT_EQ(rows[0].at("span_ns"), "50");
  EXPECT_EQ(rows[0].at("mean"), "1.2");
  EXPECT_EQ(rows[0].at("min"), "1");
  EXPECT_EQ(rows[0].at("p50"), "1");
  EXPECT_EQ(rows[0].at("p75"), "1");
  EXPECT_EQ(rows[0].at("max"), "2");
  EXPECT_EQ(rows[0].at("blocked_ns"), "0");
  EXPECT_EQ(rows[0].at("starved_ns"), "0");
  std::vector<std::string> points;
  for (const ViewRow& row : made.RowsOf(kQueueView.make, By({"time"}))) {
    points.push_back(row.at("time_ns") + " " + row.at("length"));
  }
  EXPECT_THAT(points, ElementsAre("0 1", "10 2", "20 1", "50 0"));
}

TEST(QueueTest, BlockedAndStarved) {
  MadeRun made;
  for (int i = 0; i < 1030; ++i) {
    made.AddKernel(10'000 + i * 10, 10'000 + i * 10 + 5, made.AddCall(i, i + 1));
  }
  made.AddKernel(40'000, 40'100, made.AddCall(30'000, 30'010));
  const auto rows = made.RowsOf(kQueueView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("max"), "1030");
  // From the 1024th call, at 1023, until the 7th start, at 10,060.
  EXPECT_EQ(rows[0].at("blocked_ns"), std::to_string(10'060 - 1'023));
  EXPECT_EQ(rows[0].at("starved_ns"), std::to_string(30'000 - 20'290));
}

TEST(QueueTest, AGraphIsOnePiece) {
  MadeRun made;
  const LaunchIndex graph = made.AddCall(0, 10, "cudaGraphLaunch");
  made.AddKernel(20, 30, graph).graph = true;
  made.AddKernel(40, 50, graph).graph = true;
  const auto rows = made.RowsOf(kQueueView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("max"), "1");
  EXPECT_EQ(rows[0].at("span_ns"), "20");
}

void AddCopy(MadeRun* made, int64_t start_ns, int64_t end_ns, int64_t bytes) {
  made->AddCopy(start_ns, end_ns);
  made->trace.copies.back().size_bytes = bytes;
  made->trace.copies.back().copy_kind = CopyKind::kHostToDevice;
}

// 10 GB/s from 0 to 100, 20 GB/s from 50 to 150, 5 GB/s from 200 to 300.
TEST(BandwidthTest, SumsOfWhatRuns) {
  MadeRun made;
  AddCopy(&made, 0, 100, 1000);
  AddCopy(&made, 50, 150, 2000);
  AddCopy(&made, 200, 300, 500);
  made.AddFill(10, 20);
  const auto rows = made.RowsOf(kBandwidthView.make);
  ASSERT_EQ(rows.size(), 2u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("kind"), "Memcpy HtoD");
  EXPECT_EQ(row.at("count"), "3");
  EXPECT_EQ(row.at("bytes"), "3500");
  EXPECT_EQ(row.at("time_ns"), "250");
  EXPECT_EQ(row.at("mean_gbps"), "14");
  EXPECT_EQ(row.at("min_gbps"), "5");
  EXPECT_NEAR(std::stod(row.at("p25_gbps")), 5, 5 / 64.0);
  EXPECT_NEAR(std::stod(row.at("p50_gbps")), 10, 10 / 64.0);
  EXPECT_NEAR(std::stod(row.at("p75_gbps")), 20, 20 / 64.0);
  EXPECT_EQ(row.at("max_gbps"), "30");
  EXPECT_EQ(rows[1].at("kind"), "Memset");
  EXPECT_EQ(rows[1].at("max_gbps"), "0");
  std::vector<std::string> points;
  for (const ViewRow& point : made.RowsOf(kBandwidthView.make, By({"time"}))) {
    if (point.at("kind") != "Memset")
      points.push_back(point.at("time_ns") + " " + point.at("gbps"));
  }
  EXPECT_THAT(points, ElementsAre("0 10", "50 30", "100 20", "150 0", "200 5", "300 0"));
}

// By a clock of whole microseconds.
TEST(BandwidthTest, WhatTakesNoTimeTakesATick) {
  MadeRun made;
  made.trace.clock_resolution_ns = 1000;
  AddCopy(&made, 5000, 5000, 4000);
  const auto rows = made.RowsOf(kBandwidthView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("time_ns"), "1000");
  EXPECT_EQ(rows[0].at("max_gbps"), "4");
}

TEST(TimeSeriesTest, Utilisation) {
  MadeRun made;
  made.AddKernel(0, 100);
  made.AddKernel(50, 150, kNoLaunch, "gemm", 0, 20);
  made.AddKernel(300, 400);
  const auto series = UtilisationSeries(made.run(), 4);
  ASSERT_EQ(series.size(), 1u);
  EXPECT_THAT(series[0].points,
              ElementsAre(SeriesPoint{0, 1'000'000}, SeriesPoint{100, 500'000}, SeriesPoint{200, 0},
                          SeriesPoint{300, 1'000'000}, SeriesPoint{400, 0}));
}

RC_GTEST_PROP(TimeSeriesProperty, ThinnedKeepsTheLargest, (std::vector<int8_t> values)) {
  std::vector<SeriesPoint> points;
  for (const int8_t value : values) points.push_back({static_cast<int64_t>(points.size()), value});
  const size_t most = 2 * *rc::gen::inRange<size_t>(1, 20);
  const auto left = Thinned(points, most);
  RC_ASSERT(left.size() <= std::max(most, size_t{2}));
  RC_ASSERT(std::is_sorted(left.begin(), left.end()));
  if (points.empty()) return;
  const auto by_value = [](const SeriesPoint& a, const SeriesPoint& b) {
    return a.value < b.value;
  };
  RC_ASSERT(std::max_element(left.begin(), left.end(), by_value)->value ==
            std::max_element(points.begin(), points.end(), by_value)->value);
  RC_ASSERT(left.back() == points.back());
}

RC_GTEST_PROP(HtaOrderProperty, Sorts, (const std::vector<uint8_t>& values)) {
  // Two ascending runs behind each other, as the reference has them, are its worst case.
  std::vector<int64_t> keys;
  for (int copy = 0; copy < 20; ++copy) keys.insert(keys.end(), values.begin(), values.end());
  const auto middle = static_cast<std::ptrdiff_t>(keys.size() / 2);
  std::sort(keys.begin(), keys.begin() + middle);
  std::sort(keys.begin() + middle, keys.end());
  const std::vector<uint32_t> order = HtaOrder(keys);
  std::vector<bool> met(keys.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    RC_ASSERT(!met[order[i]]);
    met[order[i]] = true;
    if (i > 0) RC_ASSERT(keys[order[i - 1]] <= keys[order[i]]);
  }
}

// Keys against which the median of three is the second least at each level: parts end as heaps.
TEST(HtaOrderTest, UnevenParts) {
  std::vector<int64_t> keys(4000);
  for (size_t i = 0; i < keys.size() / 2; ++i) {
    keys[i] =
        static_cast<int64_t>(i % 2 == 0 ? i + 1 : keys.size() / 2 + i + (keys.size() / 2) % 2);
    keys[keys.size() / 2 + i] = static_cast<int64_t>(2 * i + 2);
  }
  const std::vector<uint32_t> order = HtaOrder(keys);
  for (size_t i = 1; i < order.size(); ++i) EXPECT_LE(keys[order[i - 1]], keys[order[i]]);
}

}  // namespace
}  // namespace oplens::prof::streams_test
