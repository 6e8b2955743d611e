// Where our own rules give other numbers than HolisticTraceAnalysis 0.6.0, and why. Each is an
// error of it, or a decision that docs/views.md names.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prof/compat/hta/events.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/device_run.h"

namespace oplens::prof::hta_difference_test {
namespace {

using test::ViewRow;

const View& kTemporal = kTemporalView;
const View& kTypes = kKernelTypesView;

struct Both {
  ViewRow ours;
  ViewRow theirs;
};

Both TemporalOf(const std::string& path) {
  const auto ours = RowsOver(kTemporal, {path});
  const auto theirs = RowsOver(test::ViewBy("hta", "temporal"), {path});
  return {ours.at(0), theirs.at(0)};
}

// It drops the last step of several (its issue 76), however whole it is: we keep it.
TEST(HtaDifferenceTest, LastStep) {
  test::KinetoBuilder builder;
  for (int step = 0; step < 3; ++step) {
    const int64_t start_ns = step * 100'000;
    builder.AddHost("user_annotation", "ProfilerStep#" + std::to_string(step), start_ns, 100'000);
    builder.Launch({.name = "gemm", .duration_ns = 10'000}, start_ns + 1'500);
  }
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  const Both both = TemporalOf(path.string());
  EXPECT_EQ(both.ours.at("compute_ns"), "30000");
  EXPECT_EQ(both.theirs.at("compute_ns"), "20000");
}

// It rounds a start up and an end down to whole microseconds: what is shorter has -1 us, and longer
// events lose up to two. We count in ns.
TEST(HtaDifferenceTest, RoundingOfTimes) {
  const Both both = TemporalOf(
      WriteRun("run.json", {{"gemm", 100, 800}, {"gemm", 5'100, 800}, {"gemm", 10'900, 2'200}}));
  EXPECT_EQ(both.ours.at("compute_ns"), "3800");
  EXPECT_EQ(both.theirs.at("compute_ns"), "0");  // -1 - 1 + 2 us.
}

// Waits of the host for a stream run on the device for it (its pull request 162 only keeps them out
// of computation): to us the device is idle then.
TEST(HtaDifferenceTest, WaitsAreNoWork) {
  const Both both = TemporalOf(WriteRun(
      "run.json", {{"gemm", 0, 10'000}, {"Stream Sync", 10'000, 5'000}, {"gemm", 20'000, 1'000}}));
  EXPECT_EQ(both.ours.at("idle_ns"), "10000");
  EXPECT_EQ(both.ours.at("non_compute_ns"), "0");
  EXPECT_EQ(both.theirs.at("idle_ns"), "5000");
  EXPECT_EQ(both.theirs.at("non_compute_ns"), "5000");
}

// It knows NCCL's kernels by name, and takes for communication whatever HIP names: inference
// engines and symmetric memory communicate by kernels of their own.
TEST(HtaDifferenceTest, WhatCommunicates) {
  const std::string path =
      WriteRun("run.json", {{"void vllm::cross_device_reduce_1stage<__half, 2>(int)", 0, 10'000}});
  EXPECT_EQ(RowsOver(kTypes, {path}).at(0).at("type"), "COMMUNICATION");
  EXPECT_EQ(RowsOver(test::ViewBy("hta", "kernel-types"), {path}).at(0).at("type"), "COMPUTATION");
  EXPECT_EQ(HtaClassOf("hipMemcpyAsync"), HtaClass::kCommunication);
  EXPECT_EQ(HtaClassOf("hipblaslt_gemm"), HtaClass::kCommunication);
}

TEST(HtaDifferenceTest, ClassesByName) {
  EXPECT_EQ(HtaClassOf("ncclDevKernel_AllGather_RING_LL(int)"), HtaClass::kCommunication);
  EXPECT_EQ(HtaClassOf("void x::ncclKernel_y"), HtaClass::kCommunication);
  EXPECT_EQ(HtaClassOf("Memcpy HtoD (Pageable -> Device)"), HtaClass::kMemory);
  EXPECT_EQ(HtaClassOf("Memset (Device)"), HtaClass::kMemory);
  EXPECT_EQ(HtaClassOf("BatchedMemcpyKernel"), HtaClass::kOther);
  EXPECT_EQ(HtaClassOf("Stream Wait Event"), HtaClass::kOther);
  EXPECT_EQ(HtaClassOf("gemm"), HtaClass::kComputation);
}

// The call of a Triton kernel on the host bears a stream: it counts it as a kernel.
TEST(HtaDifferenceTest, CallsOfTritonKernels) {
  test::KinetoBuilder builder;
  builder.AddOperator({.name = "triton_poi_fused_add_0",
                       .start_ns = 0,
                       .duration_ns = 5'000,
                       .dims = "[[8]]",
                       .types = R"(["float"])",
                       .more = {{"stream", "0"}}});
  builder.Launch({.name = "triton_poi_fused_add_0", .duration_ns = 2'000}, 7'500);
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  const Both both = TemporalOf(path.string());
  EXPECT_EQ(both.ours.at("compute_ns"), "2000");
  EXPECT_EQ(both.theirs.at("compute_ns"), "7000");
}

// Once there are "others", figures of all rows are over the sums of the names.
TEST(HtaDifferenceTest, FiguresOverSums) {
  std::vector<MadeWork> work;
  int64_t now_ns = 0;
  for (int name = 0; name < 12; ++name) {
    for (int i = 0; i < 2; ++i) {
      work.push_back({"kernel_" + std::to_string(name), now_ns, (name + 1 + i) * 1000});
      now_ns += 100'000;
    }
  }
  const auto rows = RowsOver(test::ViewBy("hta", "groups"), {WriteRun("run.json", work)});
  // Sums are 25, 23, ..., 3 us: the running sum passes its 0.8 quantile after the ninth.
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows.back().at("name"), "others");
  EXPECT_EQ(rows.back().at("sum_ns"), "15000");  // 7 + 5 + 3
  EXPECT_EQ(rows.back().at("mean_ns"), "5000");
  EXPECT_EQ(rows.back().at("max_ns"), "7000");
  EXPECT_EQ(rows.back().at("stddev_ns"), "2000");
  for (const ViewRow& row : rows) {
    if (row.at("name") == "others") continue;
    EXPECT_EQ(row.at("mean_ns"), row.at("sum_ns"));
    EXPECT_EQ(row.at("stddev_ns"), "0");
  }
  // Of ten names or less they are over the kernels.
  work.resize(4);
  const auto few = RowsOver(test::ViewBy("hta", "groups"), {WriteRun("few.json", work)});
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].at("mean_ns"), "1500");
  EXPECT_EQ(few[0].at("max_ns"), "2000");
  EXPECT_EQ(few[0].at("min_ns"), "1000");
}

// On real traces: the rule about the last step (ddp_sampled_w128), about communication (b200).
TEST(HtaDifferenceTest, OfTheCorpus) {
  OPLENS_NEED_CORPUS();
  const auto kineto = test::CorpusDir().path / "kineto";
  const Both sampled = TemporalOf((kineto / "ddp_sampled_w128/rank0.json.gz").string());
  EXPECT_EQ(sampled.theirs.at("kernel_ns"), "600058000");
  EXPECT_GT(std::stoll(sampled.ours.at("kernel_ns")), 1'000'000'000);
  const Both b200 = TemporalOf((kineto / "b200/eager_rank0.json.gz").string());
  EXPECT_EQ(b200.theirs.at("compute_ns"), "10153000");
  EXPECT_EQ(b200.ours.at("compute_ns"), "8652137");
}

}  // namespace
}  // namespace oplens::prof::hta_difference_test
