#include "prof/verdicts/steady_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/support/random_cases.h"

namespace oplens::prof::steady_steps_test {
namespace {

/// The states as letters: s steady, c cut, w warm-up, f filling, e ending, p profiler,
/// o other work, x another phase.
std::string Letters(const std::vector<StepLength>& steps) {
  constexpr char kLetters[] = {'c', 's', 'w', 'f', 'e', 'p', 'o', 'x'};
  std::string letters;
  for (const StepState state : StatesOf(steps)) letters += kLetters[static_cast<size_t>(state)];
  return letters;
}

std::vector<StepLength> Steps(const std::vector<int64_t>& lengths) {
  std::vector<StepLength> steps;
  for (const int64_t length : lengths) steps.push_back({length, 0, false});
  return steps;
}

TEST(SteadyStepsTest, ReasonsByPlace) {
  EXPECT_EQ(Letters({}), "");
  EXPECT_EQ(Letters(Steps({182, 126, 127, 123, 163, 124})), "wsssss")
      << "a slow one in between stays";
  EXPECT_EQ(Letters(Steps({100, 101, 99, 100, 180})), "sssse");
  EXPECT_EQ(Letters(Steps({100, 101, 99, 100, 40})), "sssse");
  EXPECT_EQ(Letters(Steps({40, 100, 101, 99, 100})), "fssss");
  EXPECT_EQ(Letters(Steps({900, 300, 100, 101, 99, 100, 102, 98})), "wwssssss");
  EXPECT_EQ(Letters(Steps({900, 300, 250, 100, 101, 99, 100, 102})), "wwssssss")
      << "at most the first quarter";
}

TEST(SteadyStepsTest, NothingIsKnownOfFew) {
  EXPECT_EQ(Letters(Steps({900, 100})), "ss");
  EXPECT_EQ(Letters(Steps({0, 0})), "ss");
  EXPECT_EQ(Letters(Steps({149, 90, 100})), "sss");
  EXPECT_EQ(Letters(Steps({100, 900, 100})), "sss");
  EXPECT_EQ(Letters(Steps({151, 90, 100})), "wss") << "of three, the first may be much longer";
  EXPECT_EQ(Letters({{900, 0, false}, {100, 0, false}, {100, 0, false}, {50, 0, true}}), "wssc");
}

TEST(SteadyStepsTest, KindsOfStepsStay) {
  EXPECT_EQ(Letters(Steps({63, 101, 2, 100, 2, 50, 2, 101, 2, 98, 2, 26, 2, 5, 2, 2})),
            "ssssssssssssssss");
  EXPECT_EQ(Letters(Steps({300, 100, 100, 300, 100, 100, 100})), "sssssss")
      << "another one is as long";
}

TEST(SteadyStepsTest, TheProfilersWorkMustExplainHalf) {
  std::vector<StepLength> steps = Steps({100, 101, 300, 100, 99});
  steps[2].profiler_ns = 99;
  EXPECT_EQ(Letters(steps), "sssss");
  steps[2].profiler_ns = 100;
  EXPECT_EQ(Letters(steps), "sspss");
}

// A prefill before decodes is no warm-up: the GPU has more to do in it.
TEST(SteadyStepsTest, ALongStepThatWorksLongerIsOfOtherWork) {
  std::vector<StepLength> steps = Steps({850, 310, 312, 309, 310});
  for (StepLength& step : steps) step.busy_ns = 300;
  EXPECT_EQ(Letters(steps), "wssss");
  steps[0].busy_ns = 569;
  EXPECT_EQ(Letters(steps), "wssss");
  steps[0].busy_ns = 570;
  EXPECT_EQ(Letters(steps), "ossss");
}

TEST(SteadyStepsTest, OnePhaseIsJudged) {
  std::vector<StepLength> steps = Steps({900, 500, 100, 101, 99, 100, 450, 102, 100});
  for (StepLength& step : steps) step.phase = ServedPhase::kDecode;
  for (const size_t i : {1u, 6u}) steps[i].phase = ServedPhase::kPrefill;
  EXPECT_EQ(Letters(steps), "wxssssxss");
  for (const size_t i : {0u, 1u, 6u}) steps[i].phase = ServedPhase::kPrefill;
  EXPECT_EQ(Letters(steps), "xxssssxss") << "three cannot be judged";
  steps[8].phase = ServedPhase::kPrefill;
  EXPECT_EQ(Letters(steps), "ssxxxxsxs") << "most of the time, not most steps";
  steps[0].cut = true;
  EXPECT_EQ(Letters(steps), "cxssssxsx");
  steps[3].cut = steps[4].cut = true;
  EXPECT_EQ(Letters(steps), "csxccxsxs") << "none can be judged";
}

TEST(SteadyStepsTest, WordsAndReasons) {
  EXPECT_EQ(StepStateWord(StepState::kOtherPhase), "other-phase");
  EXPECT_EQ(StepStateWord(StepState::kEnding), "ending");
  EXPECT_EQ(StepStateReason(StepState::kSteady), "");
  EXPECT_EQ(StepStateReason(StepState::kWarmUp), "warm-up");
}

TEST(SteadyStepsTest, WhateverTheLengths) {
  test::CheckRandomCases([] {
    std::vector<StepLength> steps;
    const auto count = test::AnyIn<size_t>(0, 40);
    for (size_t i = 0; i < count; ++i) {
      steps.push_back({test::AnyBool() ? test::AnyInt64(0, INT64_MAX) : test::AnyInt64(0, 1000),
                       test::AnyInt64(0, 1000), test::AnyIndex(8) == 0});
    }
    const std::vector<StepState> states = StatesOf(steps);
    size_t cut = 0;
    size_t steady = 0;
    size_t leading = 0;
    for (size_t i = 0; i < count; ++i) {
      test::Require((states[i] == StepState::kCut) == steps[i].cut);
      if (steps[i].cut) ++cut;
      if (states[i] == StepState::kSteady) ++steady;
      if (states[i] == StepState::kWarmUp || states[i] == StepState::kOtherWork ||
          states[i] == StepState::kFilling) {
        ++leading;
      }
      // Whatever is not explained by the profiler is at the start or the last.
      if (states[i] == StepState::kEnding) {
        for (size_t k = i + 1; k < count; ++k) test::Require(steps[k].cut);
      }
    }
    const size_t whole = count - cut;
    test::Require(leading <= std::max<size_t>(1, whole / 4));
    if (whole < kLeastJudgedSteps - 1) test::Require(steady == whole);
    // The median itself is never unlike the rest.
    if (whole > 0) test::Require(steady > 0);
  });
}

}  // namespace
}  // namespace oplens::prof::steady_steps_test
