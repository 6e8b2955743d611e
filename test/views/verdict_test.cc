#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "prof/run/steady_idle.h"
#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::prof::verdict_test {
namespace {

using test::MadeRun;
using testing::HasSubstr;

// Of five steps the first is long and idle for another reason: it does not count.
TEST(VerdictTest, IsOfTheSteadySteps) {
  MadeRun made;
  int64_t at = 0;
  for (int64_t step = 0; step < 5; ++step) {
    const int64_t length = step == 0 ? 1'000'000 : 100'000;
    made.AddStep(step, at, at + length);
    made.AddRange("aten::empty_cache", at + 1'000, at + 71'000, RangeKind::kOperator);
    made.AddCall(at + 10'000, at + 70'000, "hipFree");
    made.AddKernel(at + 75'000, at + length, made.AddCall(at + 72'000, at + 75'000));
    at += length;
  }
  const auto rows = made.RowsOf(kVerdictView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("verdict"),
            "the GPU waits in hipFree called by aten::empty_cache, once a step: 60.0 % of a step");
  EXPECT_EQ(rows[0].at("steps"), "4");
  EXPECT_EQ(rows[0].at("total_ns"), "400000");
  EXPECT_EQ(rows[0].at("time_ns"), "240000");
  EXPECT_EQ(rows[0].at("idle_pct"), "75");
  EXPECT_EQ(rows[0].at("cause"), "api-call");
  EXPECT_EQ(rows[0].at("command"), "view idle --by call,op");
}

// More than are kept: most of the time is in those of one operator, each third.
TEST(IdleSubjectsTest, TheLongestOfManyPartsSayWhereTheHostWas) {
  constexpr int64_t kParts = 3'000;
  MadeRun made;
  IdleSubjects subjects;
  for (int64_t i = 0; i < kParts; ++i) {
    const int64_t start_ns = 100'000 * i;
    const bool slow = i % 3 == 0;
    const int64_t length_ns = slow ? 50'000 + i : 1'000;
    made.AddRange(slow ? "aten::slow" : "aten::quick", start_ns, start_ns + 60'000,
                  RangeKind::kOperator);
    IdlePart part;
    part.time = {start_ns, start_ns + length_ns};
    part.cause = IdleCause::kHostOp;
    part.thread = 0;
    subjects.Add(made.trace, part);
  }
  const RootSubject found = subjects.Find(made.run());
  EXPECT_EQ(found.op, "aten::slow");
  EXPECT_TRUE(found.all_of_op);
  EXPECT_EQ(found.longest_ns, 50'000 + kParts - 3);
  EXPECT_EQ(subjects.longest_ns(), found.longest_ns);
}

// One tiny kernel, then nothing for half of the recording.
TEST(VerdictTest, TheColdStartIsLeftOut) {
  MadeRun made;
  made.AddKernel(0, 3'500, made.AddCall(0, 100));
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = 500'000'000 + i * 50'000'000;
    made.AddKernel(at, at + 49'900'000, made.AddCall(at - 20'000'000, at - 19'900'000));
  }
  const auto rows = made.RowsOf(kVerdictView.make);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].at("verdict"),
              HasSubstr("the GPU works: 99.8 % of the run after its cold start"));
  EXPECT_EQ(rows[0].at("cause"), "busy");
  EXPECT_EQ(rows[0].at("steps"), "0");
}

// The GPU lags its host: all is launched in time, and waits for an event.
TEST(VerdictTest, ALateGpuIsNotBoundByItsHost) {
  MadeRun made;
  made.AddKernel(0, 100'000, made.AddCall(0, 1'000));
  for (int64_t i = 1; i <= 20; ++i) {
    const int64_t called = 2'000 * i;
    Synchronization& wait = made.trace.synchronizations.emplace_back();
    wait.kind = WaitKind::kStreamWaitEvent;
    wait.stream_id = 7;
    wait.launch = made.AddCall(called, called + 100, "cudaStreamWaitEvent");
    made.AddKernel(300'000 * i, 300'000 * i + 100'000, made.AddCall(called + 200, called + 300));
  }
  const auto rows = made.RowsOf(kVerdictView.make);
  EXPECT_THAT(rows[0].at("verdict"),
              HasSubstr("held back until an event that its stream waits for"));
  for (const auto& row : made.RowsOf(kAdviceView.make)) EXPECT_NE(row.at("id"), "host-bound");
}

TEST(VerdictTest, NothingIsSaidOfRecordsOrWithoutWork) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  EXPECT_TRUE(made.RowsOf(kVerdictView.make).empty());
  const auto partial = kVerdictView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
}

TEST(VerdictTest, StandsOnTopOfAdvice) {
  MadeRun made;
  made.AddStep(0, 0, 100'000);
  made.AddRange("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 90'000);
  made.AddKernel(95'000, 100'000, made.AddCall(91'000, 92'000));
  const auto partial = made.PartialOf(kAdviceView.make, [](PricedKernel*) {});
  EXPECT_THAT(partial->Document(),
              testing::StartsWith("the GPU waits for the data loader: 90.0 % of a step\n"
                                  "  see: oplens view idle --by step FILE\n"));
}

}  // namespace
}  // namespace oplens::prof::verdict_test
