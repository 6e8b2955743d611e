#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/model/waiting_calls.h"
#include "prof/run/host_activity.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"
#include "test/views/made_run.h"

namespace oplens::prof::idle_test {
namespace {

using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

using CauseTimes = std::map<std::string, int64_t>;
using Texts = std::vector<std::string>;

const View& kView = kIdleView;
constexpr const char* kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

ViewOptions By(std::vector<std::string> words) {
  ViewOptions options;
  options.by = std::move(words);
  return options;
}

/// idle_ns by cause, of the rows for which `key` has a value.
CauseTimes Causes(const std::vector<ViewRow>& rows, const std::string& key = {},
                  const std::string& value = {}) {
  CauseTimes causes;
  for (const ViewRow& row : rows) {
    if (key.empty() || row.at(key) == value)
      causes[row.at("cause")] = std::stoll(row.at("idle_ns"));
  }
  return causes;
}

// host    |step                                                                           |
//           |op 100-200|    sync 305-400  |loader 420-500|
//                 call 150         call 520
// GPU                 |170--300|                |525--600|   |650-700| without a launch
TEST(IdleTest, CausesByMoment) {
  MadeRun made;
  made.AddStep(1, 0, 1000);
  made.AddRange("aten::mm", 100, 200, RangeKind::kOperator);
  made.AddKernel(170, 300, made.AddCall(150, 160));
  made.AddCall(305, 400, "cudaStreamSynchronize");
  made.AddRange(kLoader, 420, 500);
  made.AddRange("aten::stack", 430, 450, RangeKind::kOperator);
  made.AddKernel(525, 600, made.AddCall(520, 530));
  made.AddKernel(650, 700);
  const auto rows = made.RowsOf(kIdleView.make);
  EXPECT_EQ(Causes(rows), (CauseTimes{{"(all)", 745},
                                      {"python", 145},
                                      {"host-op", 50},
                                      {"launch", 15},
                                      {"queued", 10},
                                      {"sync", 95},
                                      {"dataloader", 80},
                                      {"unknown", 50},
                                      {"tail", 300}}));
  ASSERT_EQ(rows.front().at("cause"), "(all)");
  EXPECT_EQ(rows.front().at("gaps"), "4");
  EXPECT_EQ(rows.front().at("max_ns"), "300");
  EXPECT_EQ(rows.front().at("share_pct"), "100");
  EXPECT_EQ(rows.front().at("window_pct"), "74.5");
  EXPECT_EQ(rows[1].at("cause"), "tail");  // The largest first.
  EXPECT_NEAR(std::stod(rows[1].at("share_pct")), 100.0 * 300 / 745, 1e-9);
}

// Without steps nothing is known of what was before the first work.
TEST(IdleTest, ColdStartIsBeforeTheFirstWork) {
  MadeRun made;
  const ThreadIndex other = made.AddThread(1, 2);
  made.AddRange("label", 0, 400, RangeKind::kAnnotation, other);
  made.AddRange("label", 30, 40);
  made.AddKernel(60, 100, made.AddCall(50, 55));
  made.AddKernel(200, 400, made.AddCall(150, 155));
  EXPECT_EQ(
      Causes(made.RowsOf(kIdleView.make)),
      (CauseTimes{
          {"(all)", 160}, {"cold-start", 60}, {"python", 50}, {"launch", 5}, {"queued", 45}}));
}

TEST(IdleTest, CollectivesOfTheHost) {
  MadeRun made;
  made.AddStep(1, 0, 300);
  made.AddRange("gloo:all_reduce", 10, 110);
  made.AddRange("aten::add", 20, 40, RangeKind::kOperator);
  made.AddKernel(200, 300, made.AddCall(190, 195));
  EXPECT_EQ(
      Causes(made.RowsOf(kIdleView.make)),
      (CauseTimes{
          {"(all)", 200}, {"communication", 100}, {"python", 90}, {"launch", 5}, {"queued", 5}}));
}

// Stream 20 has its second kernel launched at 20 to 30, while the other works up to 100.
std::vector<ViewRow> RowsOfTwoStreams(const char* other) {
  MadeRun made;
  made.AddKernel(0, 100, kNoLaunch, other);
  made.AddKernel(0, 10, kNoLaunch, "gemm", 0, 20);
  made.AddKernel(120, 150, made.AddCall(20, 30), "gemm", 0, 20);
  return made.RowsOf(kIdleView.make, By({"stream"}));
}

TEST(IdleTest, StreamsWaitForOthers) {
  EXPECT_EQ(
      Causes(RowsOfTwoStreams("relu"), "stream", "20"),
      (CauseTimes{
          {"(all)", 110}, {"python", 10}, {"launch", 10}, {"queued", 20}, {"other-stream", 70}}));
  EXPECT_EQ(
      Causes(RowsOfTwoStreams(kNccl), "stream", "20"),
      (CauseTimes{
          {"(all)", 110}, {"python", 10}, {"launch", 10}, {"queued", 20}, {"communication", 70}}));
  // One that was never empty between its first work and its last.
  EXPECT_EQ(Causes(RowsOfTwoStreams("relu"), "stream", "7"), (CauseTimes{{"(all)", 0}}));
}

// Of a GPU that one stream keeps busy nothing is idle, though the other is.
TEST(IdleTest, GpuIsIdleWhenAllStreamsAre) {
  MadeRun made;
  made.AddKernel(0, 100);
  made.AddKernel(10, 20, kNoLaunch, "gemm", 0, 20);
  made.AddKernel(50, 150, kNoLaunch, "gemm", 0, 20);
  made.AddKernel(0, 10, kNoLaunch, "gemm", 1);
  const auto rows = made.RowsOf(kIdleView.make);
  EXPECT_EQ(Causes(rows, "device", "0"), (CauseTimes{{"(all)", 0}}));
  EXPECT_EQ(Causes(rows, "device", "1"), (CauseTimes{{"(all)", 140}, {"tail", 140}}));
}

TEST(IdleTest, StepsCutGaps) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddStep(2, 100, 200);
  made.AddKernel(20, 60, made.AddCall(10, 15));
  made.AddKernel(150, 180, made.AddCall(140, 145));
  const auto rows = made.RowsOf(kIdleView.make, By({"step"}));
  EXPECT_EQ(Causes(rows, "step", "1"),
            (CauseTimes{{"(all)", 60}, {"python", 50}, {"launch", 5}, {"queued", 5}}));
  EXPECT_EQ(
      Causes(rows, "step", "2"),
      (CauseTimes{{"(all)", 70}, {"python", 40}, {"launch", 5}, {"queued", 5}, {"tail", 20}}));
}

// A launch that ended before it began, and work that began before its call.
TEST(IdleTest, TimesThatContradict) {
  MadeRun made;
  made.AddKernel(0, 10);
  made.AddKernel(50, 60, made.AddCall(70, 20));
  made.AddKernel(100, 110, made.AddCall(105, 120));
  const auto rows = made.RowsOf(kIdleView.make, By({"stream"}));
  EXPECT_EQ(Causes(rows).at("(all)"), 80);
}

// Calls that wait are not among those that launch work: the view asks for them.
TEST(IdleTest, WaitingCallsAreRead) {
  test::KinetoBuilder builder;
  builder.Launch({.name = "gemm", .duration_ns = 1'000}, 1'000);  // From 3500 to 4500.
  builder.AddCall("cudaDeviceSynchronize", 2'000, 5'000);
  builder.AddCall("cudaGetDevice", 7'000, 500);
  builder.Launch({.name = "gemm", .duration_ns = 1'000}, 8'000);  // From 10,500.
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  EXPECT_EQ(Causes(RowsOver(kView, {path.string()})), (CauseTimes{{"(all)", 8'500},
                                                                  {"cold-start", 2'500},
                                                                  {"sync", 2'500},
                                                                  {"python", 1'000},
                                                                  {"launch", 2'000},
                                                                  {"queued", 500}}));
}

TEST(IdleTest, RanksMergeInAnyOrder) {
  const std::string two = WriteRun("a.json", {{"gemm", 0, 1000}, {"gemm", 3000, 1000}}, 2);
  const std::string ten = WriteRun("b.json", {{"gemm", 0, 1000}, {"gemm", 1500, 1000}}, 10);
  const auto together = RowsOver(kView, {ten, two});
  ASSERT_EQ(together.size(), 4u);
  EXPECT_EQ(together[0].at("rank"), "2");
  EXPECT_EQ(together[0].at("idle_ns"), "2000");
  EXPECT_EQ(MergedRows(kView, {two, ten}), together);
}

TEST(IdleTest, SaysWhatIsMissing) {
  const auto partial = test::PartialOf(kView, {WriteRun("run.json", {})});
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("ProfilerActivity.CUDA")));
  EXPECT_THROW(kIdleView.make(By({"shape"})), UsageError);
}

/// "cause call op layer: idle_ns" of each row.
Texts Subjects(const std::vector<ViewRow>& rows) {
  Texts texts;
  for (const ViewRow& row : rows) {
    if (row.at("cause") == "(all)") continue;
    texts.push_back(row.at("cause") + " " + row.at("call") + " " + row.at("op") + " " +
                    row.at("layer") + ": " + row.at("idle_ns"));
  }
  return texts;
}

// host |Net   |empty_cache            | item          |copy_        | mm             |  mm
//             | hipFree 1000-51'000   | sync ..60'000 | copy 70-90k | launch 2 ms
TEST(IdleTest, CausesNameTheCallTheOpAndTheLayer) {
  MadeRun made;
  made.AddStep(0, 0, 3'000'000);
  made.AddRange("Net", 0, 3'000'000, RangeKind::kModule);
  made.AddRange("aten::empty_cache", 500, 52'000, RangeKind::kOperator);
  made.AddCall(1'000, 51'000, "hipFree");
  made.AddRange("aten::item", 52'000, 62'000, RangeKind::kOperator);
  made.AddCall(53'000, 60'000, "cudaStreamSynchronize");
  made.AddRange("aten::copy_", 65'000, 95'000, RangeKind::kOperator);
  made.AddCopy(85'000, 88'000, made.AddCall(70'000, 90'000, "cudaMemcpyAsync"));
  made.trace.copies.back().source_kind = MemoryKind::kPageable;
  made.AddRange("aten::mm", 95'000, 2'200'000, RangeKind::kOperator);
  made.AddKernel(2'150'000, 2'900'000, made.AddCall(100'000, 2'100'000));
  const auto rows = made.RowsOf(kIdleView.make, By({"call", "op", "layer"}));
  EXPECT_THAT(Subjects(rows),
              ElementsAre("module-load cudaLaunchKernel aten::mm Net: 2000000", "tail   : 100000",
                          "queued device aten::mm Net: 50000",
                          "api-call hipFree aten::empty_cache Net: 50000",
                          "pageable-copy cudaMemcpyAsync aten::copy_ Net: 17000",
                          "host-op  aten::copy_ Net: 10000",
                          "sync cudaStreamSynchronize aten::item Net: 7000",
                          "host-op  aten::mm Net: 5000", "python   Net: 3500",
                          "host-op  aten::item Net: 3000", "host-op  aten::empty_cache Net: 1500"));
  // Without the words, the same sums by cause.
  CauseTimes sums;
  for (const ViewRow& row : rows) sums[row.at("cause")] += std::stoll(row.at("idle_ns"));
  EXPECT_EQ(Causes(made.RowsOf(kIdleView.make)), sums);
}

TEST(IdleTest, WhatHoldsLaunchedWorkBack) {
  const auto held = [](MadeRun* made) {
    std::string text;
    for (const ViewRow& row : made->RowsOf(kIdleView.make, By({"call"}))) {
      if (row.at("cause") == "queued") text += row.at("call") + row.at("idle_ns") + " ";
    }
    return text;
  };
  // Launched while the previous kernel of the stream ran.
  MadeRun stream;
  stream.AddKernel(0, 1000, stream.AddCall(0, 0));
  stream.AddKernel(1500, 2000, stream.AddCall(100, 200));
  EXPECT_EQ(held(&stream), "stream500 ");
  // Launched later.
  MadeRun device;
  device.AddKernel(0, 1000, device.AddCall(0, 0));
  device.AddKernel(1500, 2000, device.AddCall(1000, 1100));
  EXPECT_EQ(held(&device), "device400 ");
  // The stream was told to wait before that launch.
  MadeRun event;
  event.AddKernel(0, 1000, event.AddCall(0, 0));
  Synchronization& wait = event.trace.synchronizations.emplace_back();
  wait.kind = WaitKind::kStreamWaitEvent;
  wait.stream_id = 7;
  wait.launch = event.AddCall(50, 60, "cudaStreamWaitEvent");
  event.AddKernel(1500, 2000, event.AddCall(100, 200));
  EXPECT_EQ(held(&event), "event500 ");
  MadeRun copy;
  copy.AddKernel(0, 1000, copy.AddCall(0, 0));
  copy.AddCopy(1500, 2000, copy.AddCall(1000, 1100, "cudaMemcpyAsync"));
  EXPECT_EQ(held(&copy), "copy400 ");
}

TEST(IdleTest, CallsThatWait) {
  for (const char* api :
       {"cudaStreamSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize",
        "cudaEventSynchronize_ptsz", "cudaMemcpy", "cuMemcpyDtoH_v2", "hipMemcpyWithStream"}) {
    EXPECT_TRUE(IsWaitingCall(api)) << api;
  }
  for (const char* api : {"cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamWaitEvent", ""}) {
    EXPECT_FALSE(IsWaitingCall(api)) << api;
  }
}

TEST(TaggedTimesTest, TheFirstOfSeveral) {
  const TaggedTimes times({IntervalSet({{10, 20}}), IntervalSet({{5, 15}, {18, 30}})});
  std::vector<std::string> parts;
  const auto take = [&](uint8_t tag, int64_t start_ns, int64_t end_ns) {
    parts.push_back((tag == TaggedTimes::kNone ? "-" : std::to_string(tag)) + " " +
                    std::to_string(start_ns) + " " + std::to_string(end_ns));
  };
  size_t place = 0;
  times.ForEach({0, 40}, &place, take);
  EXPECT_EQ(parts, (Texts{"- 0 5", "1 5 10", "0 10 20", "1 20 30", "- 30 40"}));
  parts.clear();
  times.ForEach({12, 13}, &place, take);  // Back from the end.
  EXPECT_EQ(parts, (Texts{"0 12 13"}));
  parts.clear();
  times.ForEach({30, 30}, &place, take);
  EXPECT_TRUE(parts.empty());
}

}  // namespace
}  // namespace oplens::prof::idle_test
