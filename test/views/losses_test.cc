#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "parse/model/kernel_record.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/nsys_builder.h"
#include "test/support/nvprof_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"

namespace oplens::prof::losses_test {
namespace {

using test::KinetoBuilder;
using test::ViewRow;
using testing::HasSubstr;

const View& kView = kLossesView;

std::map<std::string, ViewRow> ByWord(const std::vector<ViewRow>& rows) {
  std::map<std::string, ViewRow> losses;
  for (const ViewRow& row : rows) losses[row.at("loss")] = row;
  return losses;
}

std::map<std::string, ViewRow> LossesOf(const KinetoBuilder& builder) {
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  return ByWord(RowsOver(kView, {path.string()}));
}

/// A step with an op that launches a kernel, a copy and a fill: nothing is missing.
KinetoBuilder Complete() {
  KinetoBuilder builder;
  builder.AddHost("user_annotation", "ProfilerStep#1", 0, 100'000);
  builder.AddOperator({.name = "aten::mm",
                       .start_ns = 1000,
                       .duration_ns = 30'000,
                       .dims = "[[2, 3], [3, 4]]",
                       .types = R"(["float", "float"])"});
  builder.Launch({.name = "gemm", .duration_ns = 6000}, 2000);
  for (const auto& [category, name, start] :
       {std::tuple{"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 12'000},
        std::tuple{"gpu_memset", "Memset (Device)", 15'000}}) {
    const int64_t id = builder.AddCall("cudaMemcpyAsync", start - 2000, 1000);
    builder.AddDevice(category, name, start, 2000,
                      {{"device", "0"}, {"stream", "7"}, {"correlation", std::to_string(id)}});
  }
  return builder;
}

TEST(LossesTest, NothingIsLost) {
  EXPECT_TRUE(LossesOf(Complete()).empty());
  EXPECT_TRUE(test::RowsOf(*kLossesView.make({})).empty());
}

TEST(LossesTest, WorkWithoutItsLaunch) {
  KinetoBuilder builder = Complete();
  builder.AddKernel({.name = "early", .start_ns = 500, .duration_ns = 300, .correlation = 7});
  builder.AddKernel({.name = "lost", .start_ns = 20'000, .duration_ns = 200, .correlation = 900});
  builder.AddKernel({.name = "unnumbered", .start_ns = 21'000, .duration_ns = 500});
  builder.AddDevice("gpu_memset", "Memset (Device)", 100, 100,
                    {{"device", "0"}, {"stream", "7"}, {"correlation", "8"}});
  auto losses = LossesOf(builder);
  EXPECT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses["launch-before-recording"]["count"], "2");
  EXPECT_EQ(losses["launch-before-recording"]["time_ns"], "400");
  EXPECT_THAT(losses["launch-before-recording"]["mend"], HasSubstr("synchronize"));
  EXPECT_EQ(losses["launch-missing"]["count"], "1");
  EXPECT_EQ(losses["launch-missing"]["time_ns"], "200");
  EXPECT_EQ(losses["launch-unnumbered"]["time_ns"], "500");
  // Of all device events: 6000 + 2 x 2000 + 300 + 200 + 500 + 100.
  EXPECT_NEAR(std::stod(losses["launch-unnumbered"]["share_pct"]), 100.0 * 500 / 11'100, 1e-9);
}

TEST(LossesTest, NoCallsAtAll) {
  const std::string path = WriteRun("run.json", {{"gemm", 0, 1000}, {"Memset (Device)", 1, 10}}, 3);
  const auto rows = RowsOver(kView, {path});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("loss"), "calls-not-recorded");
  EXPECT_EQ(rows[0].at("count"), "2");
  EXPECT_EQ(rows[0].at("share_pct"), "100");
  EXPECT_THAT(rows[0].at("mend"), HasSubstr("ProfilerActivity.CPU"));
  EXPECT_THAT(rows[0].at("why"), HasSubstr("no API calls"));
}

TEST(LossesTest, CallsWithoutNumbers) {
  KinetoBuilder builder;
  builder.AddHost("cuda_runtime", "hipLaunchKernel", 0, 10);
  builder.AddKernel({.name = "k", .start_ns = 100, .duration_ns = 300});
  builder.AddDevice("gpu_memset", "Memset (Device)", 500, 100, {});
  auto losses = LossesOf(builder);
  EXPECT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses["launch-unnumbered"]["count"], "2");
  EXPECT_EQ(losses["launch-unnumbered"]["mend"], "") << "the calls are recorded";
}

TEST(LossesTest, GraphWithoutItsCapture) {
  KinetoBuilder builder = Complete();
  const int64_t id = builder.AddCall("cudaGraphLaunch", 40'000, 1000);
  builder.AddKernel({.name = "a", .start_ns = 42'000, .duration_ns = 700, .correlation = id});
  builder.AddKernel({.name = "b", .start_ns = 43'000, .duration_ns = 300, .correlation = id});
  auto losses = LossesOf(builder);
  EXPECT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses["capture-missing"]["count"], "2");
  EXPECT_EQ(losses["capture-missing"]["time_ns"], "1000");
}

TEST(LossesTest, AGraphWhoseCaptureIsKnownByItsNamesLacksNothing) {
  KinetoBuilder builder = Complete();
  builder.AddCall("hipStreamBeginCapture", 30'000, 10);
  builder.AddOperator({.name = "aten::mm", .start_ns = 31'000, .duration_ns = 1000});
  builder.AddCall("hipLaunchKernel", 31'100, 10, 1234, "cuda_runtime", {{"kernel", "\"a\""}});
  builder.AddCall("hipStreamEndCapture", 33'000, 10);
  const int64_t id = builder.AddCall("hipGraphLaunch", 40'000, 1000);
  builder.AddKernel({.name = "a", .start_ns = 42'000, .duration_ns = 700, .correlation = id});
  EXPECT_EQ(LossesOf(builder).count("capture-missing"), 0u);
}

TEST(LossesTest, KernelsOutsideOfRangesAndOps) {
  KinetoBuilder builder = Complete();
  builder.Launch({.name = "alone", .duration_ns = 1000}, 200'000);
  builder.Launch({.name = "in_step_only", .duration_ns = 2000}, 50'000);
  builder.AddHost("user_annotation", "nccl:all_reduce", 60'000, 10'000);
  builder.Launch({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)"}, 61'000);
  auto losses = LossesOf(builder);
  EXPECT_EQ(losses["no-range"]["time_ns"], "1000");
  EXPECT_EQ(losses["no-op"]["time_ns"], "2000");
  EXPECT_EQ(losses["no-op"]["mend"], "");  // Operators are recorded: it has none.
  EXPECT_EQ(losses.size(), 2u);
}

TEST(LossesTest, WorkWithoutAUsableTime) {
  KinetoBuilder builder = Complete();
  builder.AddOperator({.name = "aten::mm", .start_ns = 50'000, .duration_ns = 30'000});
  builder.Launch({.name = "reversed", .duration_ns = -500}, 52'000);
  auto losses = LossesOf(builder);
  EXPECT_EQ(losses["no-time"]["count"], "1");
  EXPECT_EQ(losses["no-time"]["time_ns"], "");
  EXPECT_EQ(losses["no-time"]["share_pct"], "");
}

TEST(LossesTest, RowsByRankThenTimeWhateverTheOrderOfFiles) {
  const std::string a = WriteRun("a.json", {{"gemm", 0, 1000}}, 10);
  const std::string b = WriteRun("b.json", {{"gemm", 0, 1000}, {"bad", 9, -5}}, 9);
  const auto rows = RowsOver(kView, {a, b});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("rank"), "9");
  EXPECT_EQ(rows[0].at("loss"), "calls-not-recorded");
  EXPECT_EQ(rows[1].at("loss"), "no-time");
  EXPECT_EQ(rows[2].at("rank"), "10");
  EXPECT_EQ(RowsOver(kView, {b, a}), rows);
}

TEST(LossesTest, RangesThatNeverEndAndReplaysThatHideTheirKernels) {
  test::NsysBuilder builder;
  test::NsysThread thread(&builder, 100, 101);
  for (int i = 0; i < 9; ++i) thread.Push("leak");
  thread.Launch({.duration_ns = 100});  // Only leaks surround it.
  thread.Push("open, seq = 3");
  thread.Push("aten::mm, seq = 4");
  thread.Launch({.duration_ns = 20});
  thread.Pop();
  const int64_t id = thread.Call("cudaGraphLaunch_v10000");
  builder.Add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start", thread.now()},
                                                  {"end", thread.now() + 300},
                                                  {"deviceId", 0},
                                                  {"contextId", 1},
                                                  {"streamId", 7},
                                                  {"correlationId", id},
                                                  {"globalPid", thread.global_pid()},
                                                  {"graphId", 33}});
  const auto path = test::TestDir() / "run.sqlite";
  builder.Write(path);
  auto losses = ByWord(RowsOver(kView, {path.string()}));
  EXPECT_EQ(losses["range-leaked"]["count"], "9");
  EXPECT_EQ(losses["range-leaked"]["time_ns"], "100");
  EXPECT_EQ(losses["range-open"]["count"], "1");
  EXPECT_EQ(losses["range-open"]["time_ns"], "20");
  EXPECT_EQ(losses["graph-kernels-hidden"]["count"], "1");
  EXPECT_EQ(losses["graph-kernels-hidden"]["time_ns"], "300");
  EXPECT_THAT(losses["graph-kernels-hidden"]["mend"], HasSubstr("--cuda-graph-trace=node"));
  EXPECT_EQ(losses.size(), 3u);
}

TEST(LossesTest, WhatTheRecorderCountsItself) {
  const auto path = test::TestDir() / "run.sql";
  test::NvprofBuilder().Write(path);
  test::ExecSql(path,
                "CREATE TABLE OPLENS_META (key TEXT, value);"
                "INSERT INTO OPLENS_META VALUES ('lost_rows', 5), ('cupti_lost', 7),"
                "('lost_events', 3), ('unfinished_launches', 2), ('cut_texts', 9);");
  auto losses = ByWord(RowsOver(kView, {path.string()}));
  EXPECT_EQ(losses["records-dropped"]["count"], "12");
  EXPECT_THAT(losses["records-dropped"]["mend"], HasSubstr("--trace"));
  EXPECT_EQ(losses["ranges-dropped"]["count"], "3");
  EXPECT_EQ(losses["kernel-missing"]["count"], "2");
  EXPECT_EQ(losses.size(), 3u);
}

// Of records only the reasons are known.
TEST(LossesTest, Records) {
  KernelRecord record;
  record.rank = "4";
  record.duration_ns = 750;
  record.reasons.Add(Reason::kNoLaunchCall);
  PricedKernel kernel;
  kernel.record = &record;
  const auto partial = kLossesView.make({});
  partial->Begin(nullptr);
  partial->Add(kernel);
  record.reasons.Clear();
  record.duration_ns = 250;
  partial->Add(kernel);
  partial->AddReplay(kernel);
  partial->End(nullptr);
  const auto rows = test::RowsOf(*partial);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("rank"), "4");
  EXPECT_EQ(rows[0].at("loss"), "launch-missing");
  EXPECT_EQ(rows[0].at("share_pct"), "60");
  EXPECT_EQ(rows[1].at("loss"), "graph-kernels-hidden");
  EXPECT_TRUE(partial->Notes().empty());
}

}  // namespace
}  // namespace oplens::prof::losses_test
