#include "prof/path/critical_path.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/views/views.h"
#include "test/support/random_cases.h"
#include "test/views/device_run.h"
#include "test/views/made_run.h"
#include "test/views/path_checks.h"

namespace oplens::prof::critical_path_test {
namespace {

using test::AnyIn;
using test::MadeRun;
using test::ViewRow;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

const View& kView = kCriticalPathView;

/// The edges of a path as "cause time link".
std::vector<std::string> EdgesOf(const StepPathEdges& path) {
  std::vector<std::string> texts;
  for (const PathEdge& edge : path.edges) {
    texts.push_back(
        fmt::format("{} {} {}", PathCauseWord(edge.cause), edge.time_ns, PathLinkWord(edge.link)));
  }
  return texts;
}

std::vector<std::string> OnlyPath(MadeRun* made) {
  CheckPaths(made->run());
  const std::vector<StepPathEdges> paths = PathsOf(made->run());
  EXPECT_EQ(paths.size(), 1u);
  return paths.empty() ? std::vector<std::string>() : EdgesOf(paths.front());
}

Synchronization& AddWait(MadeRun* made, WaitKind kind, LaunchIndex call, int32_t stream = 7) {
  Synchronization& wait = made->trace.synchronizations.emplace_back();
  wait.kind = kind;
  wait.launch = call;
  wait.start_ns = made->trace.launches[call].start_ns;
  wait.end_ns = made->trace.launches[call].end_ns;
  wait.stream_id = stream;
  return wait;
}

void SetThread(MadeRun* made, LaunchIndex call, ThreadIndex thread) {
  made->trace.launches[call].thread = thread;
}

// host    |- op --[call]--| ... [call]-|     40   60   70
// stream          |-a-|                |-b-------|
TEST(CriticalPathTest, WorkThatWaitsForItsLaunch) {
  MadeRun made;
  made.AddStep(1, 0, 70);
  made.AddRange("aten::mm", 5, 20, RangeKind::kOperator);
  made.AddKernel(18, 30, made.AddCall(10, 14), "a");
  made.AddKernel(48, 80, made.AddCall(40, 44), "b");
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 5 host", "host-op 5 host", "launch 4 host", "host-op 6 host",
                   "python 20 host", "launch 4 launch", "queued 4 launch", "compute 32 work"}));
}

TEST(CriticalPathTest, WorkThatWaitsForTheWorkBeforeIt) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(52, 90, made.AddCall(12, 14), "ncclDevKernel_AllReduce");
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 10 host", "launch 2 launch", "queued 3 launch", "compute 35 work",
                   "queued 2 stream", "communication 38 collective"}));
}

// Work of a stream that overlaps: the second begins before the first ends.
TEST(CriticalPathTest, OverlappingWorkOfAStreamCountsOnce) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(40, 70, made.AddCall(12, 14), "b");
  made.AddKernel(45, 60, made.AddCall(14, 16), "within b");
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 10 host", "launch 2 launch", "queued 3 launch",
                                    "compute 35 work", "compute 20 work"}));
}

TEST(CriticalPathTest, TheHostWaitsForAStream) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(15, 52, made.AddCall(12, 14), "other", 0, 8);
  AddWait(&made, WaitKind::kStream, made.AddCall(20, 55, "cudaStreamSynchronize"));
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 10 host", "launch 2 launch", "queued 3 launch",
                                    "compute 35 work", "sync 5 host_wait", "python 45 end"}));
}

TEST(CriticalPathTest, TheHostWaitsForAContext) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(15, 52, made.AddCall(12, 14), "other", 0, 8);
  AddWait(&made, WaitKind::kContext, made.AddCall(20, 55, "cudaDeviceSynchronize"), -1);
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 10 host", "launch 2 host", "launch 2 launch", "queued 1 launch",
                   "compute 37 work", "sync 3 host_wait", "python 45 end"}));
}

// Nothing says what a call waits for but its name and the times; it must be long.
TEST(CriticalPathTest, ACallWaitsByItsName) {
  MadeRun made;
  made.AddStep(1, 0, 100'000);
  made.AddKernel(15'000, 50'000, made.AddCall(10'000, 12'000), "a");
  made.AddCall(20'000, 55'000, "cudaDeviceSynchronize");
  made.AddCall(60'000, 61'000, "cudaDeviceSynchronize");
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 10000 host", "launch 2000 launch", "queued 3000 launch",
                   "compute 35000 work", "sync 5000 host_wait", "python 45000 end"}));
}

TEST(CriticalPathTest, ACallThatFindsAllDoneWaitsForNothing) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddKernel(15, 18, made.AddCall(10, 12), "a");
  AddWait(&made, WaitKind::kStream, made.AddCall(20, 55, "cudaStreamSynchronize"));
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 10 host", "launch 2 host", "python 8 host",
                                    "api-call 35 host", "python 45 end"}));
}

TEST(CriticalPathTest, ACopyThatItsCallWaitsFor) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  const LaunchIndex call = made.AddCall(10, 40, "cudaMemcpy");
  made.AddCopy(20, 35, call);
  made.trace.copies.back().copy_kind = CopyKind::kDeviceToHost;
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 10 host", "launch 10 launch", "copy 15 work",
                                    "sync 5 host_wait", "python 60 end"}));
}

/// A kernel on stream 7, and one on stream 20 that waits for an event recorded after the first.
void AddStreamWait(MadeRun* made) {
  made->AddStep(1, 0, 20);
  made->AddKernel(5, 50, made->AddCall(1, 2), "a");
  EventRecord& record = made->trace.event_records.emplace_back();
  record.launch = made->AddCall(3, 4, "cudaEventRecord");
  record.stream_id = 7;
  record.device_id = 0;
  AddWait(made, WaitKind::kStreamWaitEvent, made->AddCall(5, 6, "cudaStreamWaitEvent"), 20)
      .event_record = 0;
  made->AddKernel(53, 60, made->AddCall(7, 8), "b", 0, 20);
}

TEST(CriticalPathTest, AStreamWaitsForAnEventOfAnother) {
  MadeRun made;
  AddStreamWait(&made);
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 1 host", "launch 1 launch", "queued 3 launch",
                                    "compute 45 work", "queued 3 stream_wait", "compute 7 work"}));
}

// Where the file tells of no such waits, the times do: the call was long over.
TEST(CriticalPathTest, AStreamMayHaveWaited) {
  MadeRun made;
  made.AddStep(1, 0, 20'000);
  made.AddKernel(5'000, 50'000, made.AddCall(1'000, 2'000), "a");
  made.AddKernel(53'000, 60'000, made.AddCall(7'000, 8'000), "b", 0, 20);
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 1000 host", "launch 1000 launch", "queued 3000 launch",
                   "compute 45000 work", "queued 3000 stream_wait", "compute 7000 work"}));
}

TEST(CriticalPathTest, WorkInsideAGraph) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  const LaunchIndex call = made.AddCall(1, 2, "cudaGraphLaunch");
  made.AddKernel(5, 20, call, "a").graph = true;
  made.AddKernel(22, 30, call, "b", 0, 8).graph = true;
  made.AddKernel(33, 40, call, "c").graph = true;
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 1 host", "launch 1 launch", "queued 3 launch", "compute 15 work",
                   "queued 2 graph", "compute 8 work", "queued 3 graph", "compute 7 work"}));
}

// The work of a graph whose kernels are hidden is one piece.
TEST(CriticalPathTest, AHiddenGraph) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddReplay(5, 30, made.AddCall(1, 2, "cudaGraphLaunch"));
  EXPECT_EQ(OnlyPath(&made),
            (Texts{"python 1 host", "launch 1 launch", "queued 3 launch", "compute 25 work"}));
}

/// A forward op on thread 0 and its node on thread 1.
void AddBackward(MadeRun* made) {
  made->AddThread(1, 2);
  made->AddStep(1, 0, 100);
  made->AddRange("aten::mm", 5, 15, RangeKind::kOperator);
  made->trace.operators.back().sequence = 5;
  made->AddRange("MmBackward0", 30, 60, RangeKind::kOperator, 1);
  made->trace.operators.back().sequence = 5;
  made->trace.operators.back().backward = true;
}

// caller  |- mm -|        (backward)         |- optimizer: until 100
// engine           |- MmBackward0 [call]--|
TEST(CriticalPathTest, TheCallerOfBackwardWaitsForTheEngine) {
  MadeRun made;
  AddBackward(&made);
  const LaunchIndex call = made.AddCall(40, 42);
  SetThread(&made, call, 1);
  made.AddKernel(45, 48, call, "a");
  made.AddRange("aten::add_", 70, 90, RangeKind::kOperator);
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 5 host", "host-op 10 host", "python 15 host",
                                    "host-op 10 host", "launch 2 host", "host-op 18 host",
                                    "python 10 end", "host-op 20 end", "python 10 end"}));
  const std::vector<StepPathEdges> paths = PathsOf(made.run());
  EXPECT_EQ(paths[0].edges[2].thread, 0u);
  EXPECT_EQ(paths[0].edges[3].thread, 1u);
  EXPECT_EQ(paths[0].edges[5].thread, 1u);
  EXPECT_EQ(paths[0].edges[6].thread, 0u);
}

TEST(CriticalPathTest, ACallerThatGoesOnDoesNotWait) {
  MadeRun made;
  AddBackward(&made);
  made.AddRange("aten::add_", 40, 90, RangeKind::kOperator);
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 5 host", "host-op 10 host", "python 15 host",
                                    "python 10 end", "host-op 50 end", "python 10 end"}));
}

TEST(CriticalPathTest, TheDataLoader) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddRange("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 40,
                RangeKind::kOperator);
  made.AddRange("aten::stack", 20, 30, RangeKind::kOperator);
  made.AddRange("aten::mm", 50, 60, RangeKind::kOperator);
  EXPECT_EQ(OnlyPath(&made), (Texts{"python 10 end", "dataloader 30 end", "python 10 end",
                                    "host-op 10 end", "python 40 end"}));
}

TEST(CriticalPathTest, WithoutCallsNothingIsKnownOfGaps) {
  MadeRun made;
  made.AddKernel(10, 30, kNoLaunch, "a");
  made.AddKernel(35, 50, kNoLaunch, "b");
  EXPECT_EQ(OnlyPath(&made), (Texts{"compute 20 work", "unknown 5 stream", "compute 15 work"}));
}

TEST(CriticalPathTest, WorkWithoutACallFollowsWhatEndedLast) {
  MadeRun made;
  made.AddKernel(10, 30, kNoLaunch, "a");
  made.AddKernel(12, 32, kNoLaunch, "b", 0, 8);
  made.AddKernel(35, 50, kNoLaunch, "c", 0, 9);
  EXPECT_EQ(OnlyPath(&made), (Texts{"unknown 2 start", "compute 20 work", "unknown 3 stream_wait",
                                    "compute 15 work"}));
}

// Work that begins before its call cannot wait for it.
TEST(CriticalPathTest, WhatGoesBackInTimeIsCut) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddKernel(5, 50, made.AddCall(10, 12), "a");
  EXPECT_EQ(OnlyPath(&made), (Texts{"unknown 5 start", "compute 45 work"}));
  EXPECT_EQ(PathsOf(made.run())[0].cut, 1);
  EXPECT_THAT(made.PartialOf(kCriticalPathView.make, [](PricedKernel*) {})->Notes(),
              testing::Contains(HasSubstr("1 dependencies are left out")));
}

// Two streams that wait for each other's event at one moment, of work that takes no time.
TEST(CriticalPathTest, ACycleIsCut) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddKernel(10, 10, made.AddCall(1, 2), "a");
  made.AddKernel(10, 10, made.AddCall(3, 4), "b", 0, 20);
  for (const int32_t stream : {7, 20}) {
    EventRecord& record = made.trace.event_records.emplace_back();
    record.launch = made.AddCall(5, 6, "cudaEventRecord");
    record.stream_id = stream;
    Synchronization& wait = AddWait(&made, WaitKind::kStreamWaitEvent,
                                    made.AddCall(0, 1, "cudaStreamWaitEvent"), 27 - stream);
    wait.event_record = stream == 7 ? 0 : 1;
  }
  OnlyPath(&made);
  EXPECT_EQ(PathsOf(made.run())[0].cut, 1);
}

TEST(CriticalPathTest, TimesBeyondAllBounds) {
  MadeRun made;
  made.AddRange("aten::mm", INT64_MIN, INT64_MAX - 1, RangeKind::kOperator);
  made.AddKernel(INT64_MAX - 20, INT64_MAX, made.AddCall(INT64_MIN + 1, INT64_MIN + 9), "a");
  made.AddKernel(INT64_MIN, INT64_MIN + 5, kNoLaunch, "b");
  made.AddKernel(-5, 9, made.AddCall(-9, INT64_MAX), "c", 0, 8);
  AddWait(&made, WaitKind::kContext, made.AddCall(0, INT64_MAX, "cudaDeviceSynchronize"), -1);
  for (const StepPathEdges& path : PathsOf(made.run(), {"scale(*,1000000)"})) {
    EXPECT_GT(path.length_ns, 0);
    EXPECT_GE(path.what_if_ns, 0);
  }
}

TEST(CriticalPathTest, EachStepFromTheEndOfTheOneBefore) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddStep(2, 20, 40);
  made.AddKernel(5, 50, made.AddCall(2, 3), "a");
  made.AddKernel(52, 90, made.AddCall(22, 23), "b");
  CheckPaths(made.run());
  const std::vector<StepPathEdges> paths = PathsOf(made.run());
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(EdgesOf(paths[0]),
            (Texts{"python 2 host", "launch 1 launch", "queued 2 launch", "compute 45 work"}));
  EXPECT_EQ(EdgesOf(paths[1]), (Texts{"queued 2 stream", "compute 38 work"}));
  EXPECT_EQ(paths[1].length_ns, 40);
}

//  host   [a][b]-------- until 40
//  7         |- a: 10 to 50 -|- c waits for b too: 52 to 90
//  20           |- b: 12 to 46 -|
TEST(CriticalPathTest, WhatIfWorkWereFaster) {
  MadeRun made;
  made.AddStep(1, 0, 40);
  made.AddKernel(10, 50, made.AddCall(1, 2), "a");
  made.AddKernel(12, 46, made.AddCall(3, 4), "b", 0, 20);
  EventRecord& record = made.trace.event_records.emplace_back();
  record.launch = made.AddCall(5, 6, "cudaEventRecord");
  record.stream_id = 20;
  AddWait(&made, WaitKind::kStreamWaitEvent, made.AddCall(7, 8, "cudaStreamWaitEvent"), 7)
      .event_record = 0;
  made.AddKernel(52, 90, made.AddCall(9, 10), "c");
  const auto length_with = [&](const std::vector<std::string>& what_if) {
    return PathsOf(made.run(), what_if)[0].what_if_ns;
  };
  EXPECT_EQ(length_with({}), 90);
  // a at half its time: c waits for b, that has ended at 46.
  EXPECT_EQ(length_with({"scale(a,0.5)"}), 46 + 38);
  EXPECT_EQ(length_with({"scale(a,0.5)", "scale(b,0)"}), 30 + 2 + 38);
  EXPECT_EQ(length_with({"scale(compute,0)"}), 40);  // The host's end.
  EXPECT_EQ(length_with({"scale(?,2)"}), 10 + 80 + 2 + 76);
  EXPECT_EQ(length_with({"scale(queued,0)"}), 80);
  EXPECT_EQ(length_with({"scale(other_host,0)"}), 89);
  EXPECT_EQ(length_with({"scale(nothing,0)"}), 90);
}

// An operator's name is also that of what it launched itself, not of what others did.
TEST(CriticalPathTest, WhatIfTheWorkOfAnOperatorWereFaster) {
  MadeRun made;
  made.AddStep(1, 0, 40);
  made.AddRange("aten::mm", 0, 4, RangeKind::kOperator);
  made.AddRange("aten::add", 4, 8, RangeKind::kOperator);
  made.AddKernel(10, 50, made.AddCall(1, 2), "gemm");
  made.AddKernel(50, 90, made.AddCall(5, 6), "gemm");
  const auto length_with = [&](const std::vector<std::string>& what_if) {
    return PathsOf(made.run(), what_if)[0].what_if_ns;
  };
  const int64_t measured_ns = length_with({});
  EXPECT_EQ(measured_ns, 90);
  EXPECT_LE(length_with({"scale(aten::add,0)"}), measured_ns - 40);
  EXPECT_GE(length_with({"scale(aten::add,0)"}), measured_ns - 40 - 4);
  EXPECT_LE(length_with({"scale(gemm,0.5)"}), measured_ns - 40);
}

TEST(WhatIfTest, TellsWhatFittedNothing) {
  const std::vector<std::string> texts = {"scale(gemm*,0.5)", " scale(nosuch, 0) "};
  WhatIf what_if(texts);
  EXPECT_EQ(what_if.Unfitted(), (Texts{"scale(gemm*,0.5)", "scale(nosuch, 0)"}));
  EXPECT_EQ(what_if.FactorOf(PathCause::kCompute, "gemm_tn"), 0.5);
  EXPECT_EQ(what_if.FactorOf(PathCause::kCompute, "relu", "aten::relu"), 1);
  EXPECT_EQ(what_if.Unfitted(), (Texts{"scale(nosuch, 0)"}));
  WhatIf other(texts);
  EXPECT_EQ(other.FactorOf(PathCause::kCompute, "x", "nosuch"), 0);
  what_if.MergeFitted(other);
  EXPECT_TRUE(what_if.Unfitted().empty());
}

TEST(WhatIfTest, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    const std::vector<std::string> texts = {text};
    try {
      WhatIf what_if(texts);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("compute"), HasSubstr("scale(WHAT,FACTOR)"));
  EXPECT_THAT(message("scale(compute)"), HasSubstr("factor is missing"));
  EXPECT_THAT(message("scale(,2)"), HasSubstr("queued"));
  EXPECT_THAT(message("scale(compute,two)"), HasSubstr("'two' is no number"));
  EXPECT_THAT(message("scale(compute,inf)"), HasSubstr("no number"));
  EXPECT_THAT(message("scale(compute,-1)"), HasSubstr("negative"));
  EXPECT_EQ(message("scale(void f<int, 3>(int, float), 0.5)"), "");
  EXPECT_EQ(message(" scale( aten::mm , 0 ) "), "");
}

TEST(WhatIfTest, Patterns) {
  EXPECT_TRUE(MatchesPattern("aten::mm", "aten::mm"));
  EXPECT_FALSE(MatchesPattern("aten::mm", "aten::m"));
  EXPECT_TRUE(MatchesPattern("aten::mm", "aten::*"));
  EXPECT_TRUE(MatchesPattern("aten::mm", "*mm"));
  EXPECT_TRUE(MatchesPattern("volta_sgemm_tn", "*sgemm*"));
  EXPECT_TRUE(MatchesPattern("abcabd", "*ab?"));
  EXPECT_FALSE(MatchesPattern("abcabd", "*abc"));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_FALSE(MatchesPattern("", "?"));
}

TEST(CriticalPathViewTest, Rows) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(52, 90, made.AddCall(12, 14), "b");
  const auto rows = made.RowsOf(kCriticalPathView.make);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("cause"), "compute");
  EXPECT_EQ(rows[0].at("time_ns"), "73");
  EXPECT_EQ(rows[0].at("edges"), "2");
  EXPECT_EQ(rows[0].at("length_ns"), "90");
  EXPECT_EQ(rows[0].at("step_ns"), "90");
  EXPECT_EQ(rows[1].at("cause"), "python");
  const auto named = made.RowsOf(kCriticalPathView.make, {.by = {"name"}});
  ASSERT_EQ(named.size(), 6u);
  EXPECT_EQ(named[0].at("name"), "b");
  EXPECT_EQ(named[1].at("name"), "a");
  EXPECT_EQ(named[1].at("time_ns"), "35");
  const auto edges = made.RowsOf(kCriticalPathView.make, {.by = {"edge"}});
  ASSERT_EQ(edges.size(), 6u);
  EXPECT_EQ(edges[4].at("from"), "a");
  EXPECT_EQ(edges[4].at("to"), "b");
  EXPECT_EQ(edges[4].at("link"), "stream");
  EXPECT_EQ(edges[4].at("cause"), "queued");
  EXPECT_EQ(edges[4].at("start_ns"), "50");
  EXPECT_EQ(edges[4].at("stream"), "7");
  EXPECT_EQ(edges[4].at("thread"), "");
  EXPECT_EQ(edges[0].at("thread"), "1");
  const auto few = made.RowsOf(kCriticalPathView.make, {.by = {"edge"}, .most_rows = 3});
  EXPECT_EQ(few, std::vector<ViewRow>(edges.begin(), edges.begin() + 4));
  const auto changed = made.RowsOf(kCriticalPathView.make, {.what_if = {"scale(b,0)"}});
  EXPECT_EQ(changed[0].at("what_if_ns"), "52");
  EXPECT_EQ(changed[0].at("what_if_saved_ns"), "38");
}

TEST(CriticalPathViewTest, TwoRanks) {
  const std::vector<std::string> paths = {
      WriteRun("rank1.json", {{"gemm", 0, 10'000}, {"gemm", 15'000, 5'000, 20}}, 1),
      WriteRun("rank0.json", {{"gemm", 0, 30'000}}, 0)};
  const auto rows = RowsOver(kView, paths);
  EXPECT_EQ(rows, MergedRows(kView, paths));
  EXPECT_EQ(rows, MergedRows(kView, {paths[1], paths[0]}));
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().at("rank"), "0");
  EXPECT_EQ(rows.back().at("rank"), "1");
}

TEST(CriticalPathViewTest, TogetherAsAlone) {
  MadeRun made;
  made.AddStep(1, 0, 20);
  made.AddStep(2, 20, 60);
  made.AddKernel(15, 50, made.AddCall(10, 12), "a");
  made.AddKernel(52, 90, made.AddCall(30, 34), "b");
  const std::vector<ViewOptions> all = {
      {}, {.by = {"name"}}, {.by = {"edge"}}, {.what_if = {"scale(b,0)"}}};
  const auto together = kCriticalPathView.make_together(all);
  ASSERT_EQ(together.size(), all.size());
  for (const auto& partial : together) partial->Begin(&made.run());
  for (const auto& partial : together) partial->End(&made.run());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(test::RowsOf(*together[i]), made.RowsOf(kCriticalPathView.make, all[i])) << i;
    EXPECT_EQ(together[i]->Notes(), made.PartialOf(
                                            kCriticalPathView.make, [](PricedKernel*) {}, all[i])
                                        ->Notes());
  }
}

TEST(CriticalPathViewTest, StepsOfOneNumberInSeveralRuns) {
  MadeRun first;
  first.AddStep(1, 0, 20);
  first.AddKernel(15, 50, first.AddCall(10, 12), "a");
  MadeRun second;
  second.AddStep(1, 0, 30);
  second.AddStep(2, 30, 40);
  second.AddKernel(12, 50, second.AddCall(8, 12), "b");
  for (const char* const by : {"name", "edge"}) {
    const auto partial_of = [&](MadeRun& made) {
      return made.PartialOf(kCriticalPathView.make, [](PricedKernel*) {}, {.by = {by}});
    };
    const auto one = partial_of(first);
    const auto other = partial_of(second);
    const size_t rows = test::RowsOf(*one).size() + test::RowsOf(*other).size();
    one->Merge(*partial_of(second));
    other->Merge(*partial_of(first));
    EXPECT_EQ(test::RowsOf(*one), test::RowsOf(*other)) << by;
    if (by == std::string_view("edge")) {
      EXPECT_EQ(test::RowsOf(*one).size(), rows);
    }
  }
}

int64_t AnyTime() { return AnyIn(-20, 200); }

ThreadIndex AnyThread() { return AnyIn<ThreadIndex>(0, 3); }

LaunchIndex AnyCall(MadeRun* made) {
  constexpr const char* kApis[] = {"cudaLaunchKernel", "cudaFree", "cudaMemcpy"};
  const int64_t start_ns = AnyTime();
  const int64_t end_ns = start_ns + AnyIn(0, 40);
  const LaunchIndex call = made->AddCall(start_ns, end_ns, kApis[test::AnyIndex(std::size(kApis))]);
  SetThread(made, call, AnyThread());
  return call;
}

void AddAnything(MadeRun* made) {
  const int64_t start_ns = AnyTime();
  const int64_t end_ns = start_ns + AnyIn(-3, 60);
  const auto any_launch = [&] {
    if (AnyIn(0, 4) == 0 || made->trace.launches.empty()) return AnyCall(made);
    return AnyIn<LaunchIndex>(0, static_cast<LaunchIndex>(made->trace.launches.size()));
  };
  const auto stream = AnyIn(7, 9);
  switch (AnyIn(0, 12)) {
    case 0:
      return made->AddStep(AnyIn(0, 4), start_ns, end_ns, AnyThread());
    case 1:
      return made->AddRange("aten::mm", start_ns, end_ns, RangeKind::kOperator, AnyThread());
    case 2:
      made->AddRange("MmBackward0", start_ns, end_ns, RangeKind::kOperator, AnyThread());
      made->trace.operators.back().sequence = AnyIn(0, 3);
      made->trace.operators.back().backward = true;
      return;
    case 3:
      made->AddRange("aten::mm", start_ns, end_ns, RangeKind::kOperator, AnyThread());
      made->trace.operators.back().sequence = AnyIn(0, 3);
      return;
    case 4: {
      made->AddCopy(start_ns, end_ns, any_launch());
      made->trace.copies.back().copy_kind = CopyKind::kDeviceToHost;
      made->trace.copies.back().stream_id = stream;
      return;
    }
    case 5: {
      EventRecord& record = made->trace.event_records.emplace_back();
      record.launch = any_launch();
      record.stream_id = stream;
      return;
    }
    case 6:
    case 7: {
      constexpr WaitKind kKinds[] = {WaitKind::kEvent, WaitKind::kStreamWaitEvent,
                                     WaitKind::kStream, WaitKind::kContext, WaitKind::kUnknown};
      const WaitKind kind = kKinds[test::AnyIndex(std::size(kKinds))];
      Synchronization& wait = AddWait(made, kind, any_launch(), stream);
      wait.event_record = AnyIn<ItemIndex>(0, 3);
      return;
    }
    case 8:
      return made->AddReplay(start_ns, end_ns, any_launch());
    default:
      made->AddKernel(start_ns, end_ns, AnyIn(0, 5) == 0 ? kNoLaunch : any_launch(), "k",
                      AnyIn(0, 2), stream)
          .graph = test::AnyBool();
  }
}

TEST(CriticalPathProperty, WhateverHappened) {
  test::CheckRandomCases([] {
    MadeRun made;
    made.AddThread(1, 2);
    made.AddThread(1, 3);
    for (int i = AnyIn(0, 40); i > 0; --i) AddAnything(&made);
    CheckPaths(made.run());
    test::Require(!testing::Test::HasFailure());
  });
}

}  // namespace
}  // namespace oplens::prof::critical_path_test
