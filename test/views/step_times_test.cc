// Times of steps and sites of host threads do not depend on how much of a run is looked at at once.

#include "prof/run/step_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "prof/run/call_sites.h"
#include "prof/run/run.h"
#include "test/views/made_run.h"

namespace oplens::prof::step_times_test {
namespace {

constexpr int64_t kEnd = 2000;

class StepTimesTest : public ::testing::TestWithParam<unsigned> {
 protected:
  StepTimesTest() : random_(GetParam()) { Make(); }

  int64_t Number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  /// Steps, nested and crossing ranges, calls of all lengths, and work, a part of it without a
  /// launch.
  void Make() {
    made_.AddThread(1, 2);
    for (int64_t step = 0; step < 8; ++step) {
      made_.AddStep(step, step * 200 + 100, step * 200 + Number(250, 300));
    }
    for (int i = 0; i < 150; ++i) {
      const int64_t start_ns = Number(0, kEnd);
      made_.AddRange("aten::op" + std::to_string(i % 6), start_ns,
                     start_ns + Number(0, i % 10 == 0 ? kEnd : 40), RangeKind::kOperator,
                     static_cast<ThreadIndex>(i % 2));
    }
    std::vector<std::pair<int64_t, int64_t>> calls;
    for (int i = 0; i < 300; ++i) {
      const int64_t start_ns = Number(0, kEnd);
      calls.emplace_back(start_ns, start_ns + Number(0, i % 50 == 0 ? kEnd : 10));
    }
    std::sort(calls.begin(), calls.end());
    for (const auto& [start_ns, end_ns] : calls) made_.trace.api_times.Append(start_ns, end_ns);
    for (int64_t start_ns = 50; start_ns < kEnd; start_ns += Number(1, 60)) {
      const int64_t launched_ns = start_ns - Number(0, 50);
      const LaunchIndex launch =
          Number(0, 2) == 0 ? kNoLaunch : made_.AddCall(launched_ns, launched_ns + Number(0, 20));
      made_.AddKernel(start_ns, start_ns + Number(0, 30), launch);
    }
  }

  std::mt19937 random_;
  test::MadeRun made_;
};

TEST_P(StepTimesTest, InWindowsOfAnyLength) {
  const std::vector<StepTimes> whole = StepTimesOf(made_.run());
  ASSERT_EQ(whole.size(), 8u);
  EXPECT_TRUE(std::ranges::any_of(whole, [](const StepTimes& step) { return step.busy > 0; }));
  EXPECT_TRUE(std::ranges::any_of(whole, [](const StepTimes& step) {
    return step.exposed[static_cast<size_t>(TimeClass::kRuntime)] > 0 &&
           step.parts[static_cast<size_t>(TimeClass::kCpu)] > 0;
  }));
  for (const size_t at_once : {size_t{1}, size_t{3}, size_t{100}}) {
    EXPECT_EQ(StepTimesOf(made_.run(), at_once), whole) << at_once;
  }
  EXPECT_EQ(made_.run().step_times(), whole);
}

TEST_P(StepTimesTest, StretchesAreThoseOfMoments) {
  CallSites sites(made_.run().joined());
  CallSites moments(made_.run().joined());
  // A thread that does not exist, too. Later times are earlier ones of the time before.
  for (int round = 0; round < 4; ++round) {
    std::vector<std::pair<ThreadIndex, Interval>> asked;
    for (int i = 0; i < 20; ++i) {
      const int64_t start_ns = Number(0, kEnd);
      asked.push_back(
          {static_cast<ThreadIndex>(Number(0, 2)), {start_ns, start_ns + Number(1, 300)}});
      EXPECT_EQ(sites.AskAlong(asked.back().first, asked.back().second), asked.size() - 1);
    }
    std::vector<CallSites::Stretch> found;
    sites.FindAlong(&found);
    auto next = found.begin();
    for (size_t i = 0; i < asked.size(); ++i) {
      int64_t now_ns = asked[i].second.start_ns;
      for (; next != found.end() && next->number == i; ++next) {
        ASSERT_EQ(next->time.start_ns, now_ns);
        ASSERT_GT(next->time.end_ns, now_ns);
        for (; now_ns < next->time.end_ns; ++now_ns) {
          moments.Ask(asked[i].first, now_ns);
          const CallSite site = moments.Find().front();
          EXPECT_EQ(sites.texts()[next->site.op], moments.texts()[site.op]);
        }
      }
      EXPECT_EQ(now_ns, asked[i].second.end_ns);
    }
    EXPECT_EQ(next, found.end());
    EXPECT_GT(found.size(), asked.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StepTimesTest, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace oplens::prof::step_times_test
