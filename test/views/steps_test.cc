#include "prof/run/steps.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "prof/compat/tb/steps.h"
#include "prof/run/host_steps.h"
#include "prof/run/steps_coverage.h"
#include "test/views/made_run.h"

namespace oplens::prof {

void PrintTo(const Interval& interval, std::ostream* out) {
  *out << "[" << interval.start_ns << ", " << interval.end_ns << ")";
}

namespace {

using test::MadeRun;
using Intervals = std::vector<Interval>;
using Numbers = std::vector<int64_t>;

Intervals SpansOf(std::span<const Step> steps) {
  Intervals spans;
  for (const Step& step : steps) spans.push_back(step.span);
  return spans;
}
Intervals HostsOf(std::span<const Step> steps) {
  Intervals hosts;
  for (const Step& step : steps) hosts.push_back(step.host);
  return hosts;
}
Numbers NumbersOf(std::span<const Step> steps) {
  Numbers numbers;
  for (const Step& step : steps) numbers.push_back(step.number);
  return numbers;
}
std::vector<bool> CompleteOf(std::span<const Step> steps) {
  std::vector<bool> complete;
  for (const Step& step : steps) complete.push_back(step.complete);
  return complete;
}

TEST(StepsTest, WorkThatWasLaunchedInAStepBelongsToIt) {
  MadeRun made;
  made.AddStep(3, 100, 200);
  made.AddStep(4, 200, 300);
  // Left from before: it ends before the first work of step 3.
  made.AddKernel(90, 130, made.AddCall(50, 60));
  made.AddKernel(140, 260, made.AddCall(110, 120));
  made.AddKernel(260, 270, made.AddCall(210, 220));
  const Steps& steps = made.run().steps();
  EXPECT_EQ(steps.source(), StepSource::kRanges);
  EXPECT_EQ(NumbersOf(steps.all()), (Numbers{3, 4}));
  EXPECT_EQ(HostsOf(steps.all()), (Intervals{{100, 200}, {200, 300}}));
  EXPECT_EQ(SpansOf(steps.all()), (Intervals{{130, 260}, {260, 300}}));
  EXPECT_EQ(CompleteOf(steps.all()), (std::vector<bool>{true, true}));
  EXPECT_EQ(steps.window(), (Interval{130, 300}));
}

TEST(StepsTest, ACallThatCrossesTheBorderExtendsNothing) {
  MadeRun made;
  made.AddStep(0, 100, 200);
  made.AddStep(1, 200, 300);
  made.AddKernel(150, 160, made.AddCall(110, 120));
  made.AddKernel(250, 290, made.AddCall(190, 210));
  made.AddKernel(290, 310, made.AddCall(250, 260));
  const Steps& steps = made.run().steps();
  EXPECT_EQ(SpansOf(steps.all()), (Intervals{{100, 200}, {200, 310}}));
  // It is launched in the step in which the call begins all the same.
  EXPECT_EQ(steps.OfEvent(made.run().work().events()[1]), 0u);
  EXPECT_EQ(steps.OfEvent(made.run().work().events()[2]), 1u);
}

TEST(StepsTest, PlacesOfMoments) {
  MadeRun made;
  made.AddStep(7, 100, 200);
  made.AddStep(8, 250, 300);
  made.AddKernel(260, 270);
  const Steps& steps = made.run().steps();
  EXPECT_EQ(steps.OfHost(99), Steps::kNone);
  EXPECT_EQ(steps.OfHost(100), 0u);
  EXPECT_EQ(steps.OfHost(199), 0u);
  EXPECT_EQ(steps.OfHost(200), Steps::kNone);
  EXPECT_EQ(steps.OfHost(299), 1u);
  EXPECT_EQ(steps.OfHost(300), Steps::kNone);
  // Without a launch the span decides.
  EXPECT_EQ(steps.OfEvent(made.run().work().events()[0]), 1u);
}

TEST(StepsTest, NoStepIsLostAtTheEnd) {
  MadeRun made;
  for (int64_t step = 0; step < 4; ++step) made.AddStep(step, 100 * step, 100 * step + 100);
  for (int64_t i = 0; i < 5; ++i) made.AddKernel(20 + i, 21 + i, made.AddCall(i, i + 1));
  for (int64_t i = 0; i < 5; ++i) made.AddKernel(120 + i, 121 + i, made.AddCall(100 + i, 101 + i));
  // 3 of 5 are less than 80 %; step 3 has none.
  for (int64_t i = 0; i < 3; ++i) made.AddKernel(220 + i, 221 + i, made.AddCall(200 + i, 201 + i));
  EXPECT_EQ(CompleteOf(made.run().steps().all()), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(NumbersOf(TensorBoardSteps(made.trace, made.run().work())), (Numbers{0, 1}));
}

TEST(StepsTest, FourOfFiveAreEnough) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddStep(1, 100, 200);
  for (int64_t i = 0; i < 5; ++i) made.AddKernel(20 + i, 21 + i, made.AddCall(i, i + 1));
  for (int64_t i = 0; i < 4; ++i) made.AddKernel(120 + i, 121 + i, made.AddCall(100 + i, 101 + i));
  EXPECT_EQ(CompleteOf(made.run().steps().all()), (std::vector<bool>{true, true}));
  EXPECT_EQ(TensorBoardSteps(made.trace, made.run().work()).size(), 2u);
}

TEST(StepsTest, OpenAndReversedRangesEndWhereTheNextBegins) {
  MadeRun made;
  made.AddStep(0, 0, kNeverClosed);
  made.AddStep(1, 100, 90);
  made.AddStep(2, 200, 300);
  made.AddStep(3, 300, kNeverClosed);
  made.AddRange("op", 350, 420, RangeKind::kOperator);
  const auto steps = made.run().steps().all();
  EXPECT_EQ(HostsOf(steps), (Intervals{{0, 100}, {100, 200}, {200, 300}, {300, 420}}));
  EXPECT_EQ(CompleteOf(steps), (std::vector<bool>{false, false, true, false}));
}

TEST(StepsTest, ThreadsAndProcessesThatShareAStep) {
  MadeRun made;
  const ThreadIndex other = made.AddThread(2, 5);
  made.AddStep(0, 0, 100);
  made.AddStep(0, 20, 120, other);
  made.AddStep(1, 100, 200);
  made.AddStep(1, 120, 230, other);
  // Another loop counts from 0 again.
  made.AddStep(0, 500, 600);
  const auto steps = made.run().steps().all();
  EXPECT_EQ(NumbersOf(steps), (Numbers{0, 1, 0}));
  EXPECT_EQ(HostsOf(steps), (Intervals{{0, 120}, {100, 230}, {500, 600}}));
  // A moment of two steps is of the first.
  EXPECT_EQ(made.run().steps().OfHost(110), 0u);
  EXPECT_EQ(made.run().steps().OfHost(121), 1u);
}

TEST(StepsTest, NestedStepsAllStand) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddStep(2, 10, 20);
  made.AddKernel(30, 40, made.AddCall(12, 13));
  const auto steps = made.run().steps().all();
  EXPECT_EQ(SpansOf(steps), (Intervals{{0, 100}, {100, 100}}));
}

TEST(StepsTest, StepsThatWereGiven) {
  MadeRun made;
  made.AddStep(7, 0, 100);
  made.AddKernel(60, 80, made.AddCall(50, 52));
  const Steps steps(made.run().joined(), made.run().work(), {{1, 50, 70}, {0, 10, 40}});
  EXPECT_EQ(steps.source(), StepSource::kPattern);
  EXPECT_EQ(NumbersOf(steps.all()), (Numbers{0, 1}));
  EXPECT_EQ(SpansOf(steps.all()), (Intervals{{10, 40}, {50, 80}}));
}

StepText TakesForward(std::string_view text) { return {text == "forward", std::nullopt, false}; }

TEST(StepsTest, MatchesWithoutNumbersAreNumberedByTime) {
  MadeRun made;
  const ThreadIndex other = made.AddThread(1, 2);
  made.run_options.step_in = TakesForward;
  made.AddRange("forward", 100, 200);
  made.AddRange("forward", 110, 150);  // It calls itself.
  made.AddRange("forward", 120, 180, RangeKind::kMarker, other);
  made.AddRange("forward", 190, 300, RangeKind::kMarker, other);
  made.AddRange("forward", 0, 50);
  made.AddRange("backward", 50, 90);
  made.AddRange("forward", 400, 500, RangeKind::kOperator);
  made.AddKernel(130, 140, made.AddCall(120, 122));
  const Steps& steps = made.run().steps();
  EXPECT_EQ(steps.source(), StepSource::kPattern);
  EXPECT_EQ(NumbersOf(steps.all()), (Numbers{0, 1, 2}));
  EXPECT_EQ(HostsOf(steps.all()), (Intervals{{0, 50}, {100, 200}, {190, 300}}));
}

TEST(StepsTest, AMatchThatIsNeverClosedLastsUntilTheNext) {
  MadeRun made;
  made.run_options.step_in = TakesForward;
  made.AddRange("forward", 0, kNeverClosed);
  made.AddRange("forward", 10, 20);
  EXPECT_EQ(HostsOf(made.run().steps().all()), (Intervals{{0, 10}, {10, 20}}));
}

TEST(StepsTest, NumbersOfMatchesCountIfTheyAscend) {
  std::vector<StepMatch> matches = {{0, 0, 10, 3}, {0, 2, 8, 3}, {1, 1, 9, 3}, {0, 20, 30, 7}};
  const auto numbers_of = [&] {
    Numbers numbers;
    for (const HostStep& step : StepsOfMatches(matches)) numbers.push_back(step.number);
    return numbers;
  };
  EXPECT_EQ(numbers_of(), (Numbers{3, 7, 3})) << "by thread";
  matches[3].number = 3;  // Sizes of batches, layers of another pass.
  EXPECT_EQ(numbers_of(), (Numbers{0, 1}));
  matches[3].number.reset();
  EXPECT_EQ(numbers_of(), (Numbers{0, 1}));
}

TEST(StepsTest, NumbersThatThePatternPicksStand) {
  MadeRun made;
  made.run_options.step_in = [](std::string_view) { return StepText{true, 5, true}; };
  made.AddRange("epoch 5", 0, 10);
  made.AddRange("epoch 5", 20, 30);
  EXPECT_EQ(NumbersOf(made.run().steps().all()), (Numbers{5, 5}));
}

TEST(StepsTest, KernelsThatRepeat) {
  MadeRun made;
  made.AddKernel(1, 2, made.AddCall(0, 1), "load");
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = 100 * (i + 1);
    made.AddKernel(at + 30, at + 40, made.AddCall(at, at + 5), "a");
    // Another stream is faster: the order is that of the launches.
    made.AddKernel(at + 25, at + 29, made.AddCall(at + 10, at + 15), "b", 0, 8);
  }
  made.AddCopy(450, 460, made.AddCall(430, 440, "cudaMemcpyAsync"));
  const Steps& steps = made.run().steps();
  EXPECT_EQ(steps.source(), StepSource::kRepetition);
  EXPECT_EQ(NumbersOf(steps.all()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(HostsOf(steps.all()), (Intervals{{100, 200}, {200, 300}, {300, 400}, {400, 440}}));
  EXPECT_EQ(steps.window(), (Interval{100, 460}));
}

/// Four repetitions of two kernels, the host busy with other things for `after_ns` after each.
std::vector<StepState> StatesOfRepetitions(int64_t after_ns, bool all_steady = false) {
  MadeRun made;
  made.run_options.all_steps = all_steady;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = (1'000 + after_ns) * i;
    made.AddKernel(at + 50, at + 500, made.AddCall(at, at + 5), "a");
    made.AddKernel(at + 500, at + 1'000, made.AddCall(at + 10, at + 15), "b");
  }
  std::vector<StepState> states;
  for (const Step& step : made.run().steps().all()) states.push_back(step.state);
  return states;
}

TEST(StepsTest, TheLastRepetitionLacksWhatComesAfterItsWork) {
  const StepState steady = StepState::kSteady;
  EXPECT_EQ(StatesOfRepetitions(10), std::vector<StepState>(4, steady)) << "a hundredth";
  EXPECT_EQ(StatesOfRepetitions(20),
            (std::vector<StepState>{steady, steady, steady, StepState::kEnding}));
  EXPECT_EQ(StatesOfRepetitions(20, true), std::vector<StepState>(4, steady));
}

TEST(StepsTest, WhatIsOutsideOfRepetitions) {
  MadeRun made;
  made.AddKernel(0, 100, made.AddCall(0, 1), "load");
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = 100 * (i + 1);
    made.AddKernel(at, at + 40, made.AddCall(at, at + 5), "a");
    made.AddKernel(at + 40, at + 75, made.AddCall(at + 10, at + 15), "b");
  }
  const auto outside = FindOutsideSteps(made.run());
  ASSERT_TRUE(outside);
  // 100 to 475 of 0 to 475; 100 of 400 ns of kernels.
  EXPECT_DOUBLE_EQ(outside->time_pct, 100 * 100.0 / 475);
  EXPECT_DOUBLE_EQ(outside->kernel_pct, 25);
  EXPECT_EQ(SentenceOf(*outside),
            "21 % of the run and 25 % of the time of its kernels lie outside of all repetitions");
}

TEST(StepsTest, NothingIsSaidOfWhatIsWhole) {
  MadeRun whole;
  for (int64_t i = 0; i < 3; ++i) {
    whole.AddKernel(100 * i, 100 * i + 40, whole.AddCall(100 * i, 100 * i + 5), "a");
    whole.AddKernel(100 * i + 40, 100 * i + 80, whole.AddCall(100 * i + 6, 100 * i + 8), "b");
  }
  EXPECT_EQ(FindOutsideSteps(whole.run()), std::nullopt);
  MadeRun marked;
  marked.AddStep(0, 0, 100);
  marked.AddKernel(200, 300, marked.AddCall(190, 195));
  EXPECT_EQ(FindOutsideSteps(marked.run()), std::nullopt);
}

TEST(StepsTest, KernelsThatRepeatWithoutLaunches) {
  MadeRun made;
  for (int64_t i = 0; i < 3; ++i) {
    made.AddKernel(100 * i, 100 * i + 40, kNoLaunch, "a");
    made.AddKernel(100 * i + 50, 100 * i + 90, kNoLaunch, "b");
  }
  const auto steps = made.run().steps().all();
  EXPECT_EQ(HostsOf(steps), (Intervals{{0, 100}, {100, 200}, {200, 290}}));
  EXPECT_EQ(SpansOf(steps), HostsOf(steps));
}

TEST(StepsTest, WithoutStepsTheRunIsOne) {
  MadeRun made;
  made.AddRange("op", 10, 40, RangeKind::kOperator);
  made.AddKernel(30, 90, made.AddCall(12, 15));
  const Steps& steps = made.run().steps();
  EXPECT_EQ(steps.source(), StepSource::kNone);
  EXPECT_EQ(NumbersOf(steps.all()), (Numbers{0}));
  EXPECT_EQ(HostsOf(steps.all()), (Intervals{{10, 40}}));
  EXPECT_EQ(SpansOf(steps.all()), (Intervals{{10, 90}}));
  EXPECT_EQ(steps.OfHost(-5), 0u);
}

TEST(StepsTest, OneEventAndNone) {
  MadeRun one;
  one.AddKernel(-20, -10);
  EXPECT_EQ(SpansOf(one.run().steps().all()), (Intervals{{-20, -10}}));
  MadeRun none;
  EXPECT_TRUE(none.run().steps().all().empty());
  EXPECT_EQ(none.run().steps().OfHost(0), Steps::kNone);
  EXPECT_EQ(none.run().steps().window(), Interval());
}

TEST(StepsTest, ClocksThatJump) {
  MadeRun made;
  made.AddStep(0, INT64_MIN + 1, INT64_MIN + 2);
  made.AddStep(1, 0, 10);
  made.AddStep(2, INT64_MAX - 2, INT64_MAX - 1);
  made.AddKernel(5, INT64_MAX - 5, made.AddCall(1, 2));
  const auto steps = made.run().steps().all();
  EXPECT_EQ(SpansOf(steps), (Intervals{{INT64_MIN + 1, INT64_MIN + 2},
                                       {0, INT64_MAX - 5},
                                       {INT64_MAX - 2, INT64_MAX - 1}}));
}

TEST(TensorBoardStepsTest, ShadowsOnTheGpuAreStepsToo) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddStep(1, 100, 200);
  made.trace.device_annotations.push_back(
      {50, 110, made.trace.strings.Intern("ProfilerStep#0"), 0, 7});
  made.AddKernel(50, 60, made.AddCall(10, 11));
  made.AddKernel(105, 140, made.AddCall(102, 103));
  const auto steps = TensorBoardSteps(made.trace, made.run().work());
  EXPECT_EQ(NumbersOf(steps), (Numbers{0, 0}));
  EXPECT_EQ(SpansOf(steps), (Intervals{{0, 100}, {100, 140}}));
}

TEST(TensorBoardStepsTest, CallsOfTheDriverLaunchNothing) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddKernel(50, 160, made.AddCall(10, 11, "cuLaunchKernel"));
  made.AddKernel(50, 130, made.AddCall(12, 13));
  EXPECT_EQ(SpansOf(TensorBoardSteps(made.trace, made.run().work())), (Intervals{{0, 130}}));
  EXPECT_EQ(SpansOf(made.run().steps().all()), (Intervals{{0, 160}}));
}

TEST(TensorBoardStepsTest, WithoutStepsTheOperatorsAreOne) {
  MadeRun made;
  made.AddRange("label", 0, 500);
  made.AddRange("op", 10, 40, RangeKind::kOperator);
  made.AddKernel(30, 90, made.AddCall(12, 15));
  made.AddKernel(95, 99, made.AddCall(45, 46));
  EXPECT_EQ(SpansOf(TensorBoardSteps(made.trace, made.run().work())), (Intervals{{10, 90}}));
  MadeRun none;
  none.AddKernel(0, 10);
  EXPECT_TRUE(TensorBoardSteps(none.trace, none.run().work()).empty());
}

}  // namespace
}  // namespace oplens::prof
