#include "prof/run/class_times.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "prof/run/step.h"

namespace oplens::prof::class_times_test {
namespace {

constexpr int kMoments = 64;
constexpr int kClasses = 4;

std::vector<Interval> RandomIntervals() {
  std::vector<Interval> intervals;
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    const int start = *rc::gen::inRange(0, kMoments);
    intervals.push_back({start, start + *rc::gen::inRange(-2, 20)});
  }
  return intervals;
}

bool Holds(const std::vector<Interval>& intervals, int64_t moment) {
  return std::any_of(intervals.begin(), intervals.end(), [&](const Interval& interval) {
    return interval.start_ns <= moment && moment < interval.end_ns;
  });
}

TEST(ClassTimesTest, LengthsThatDoNotFit) {
  EXPECT_EQ(LengthOf({3, 3}), 0);
  EXPECT_EQ(LengthOf({5, 2}), 0);
  EXPECT_EQ(LengthOf({INT64_MIN, INT64_MAX}), INT64_MAX);
  MaskTimes times;
  times.Add(1, INT64_MAX);
  times.Add(3, 7);
  EXPECT_EQ(times.Of(1), INT64_MAX);
  EXPECT_EQ(times.Of(1, 0, 2), 7);
}

RC_GTEST_PROP(ClassTimesProperty, AgreesWithEachMoment, ()) {
  std::vector<std::vector<Interval>> lists(kClasses);
  std::vector<IntervalSet> sets;
  for (std::vector<Interval>& list : lists) {
    list = RandomIntervals();
    sets.emplace_back(list);
  }
  const int start = *rc::gen::inRange(0, kMoments);
  const Interval window = {start, start + *rc::gen::inRange(0, kMoments)};
  MaskTimes times;
  ClassIntervals(std::move(sets)).AddTimes(window, &times);
  std::array<int64_t, 1 << kClasses> expected{};
  for (int64_t moment = window.start_ns; moment < window.end_ns; ++moment) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < kClasses; ++i) mask |= Holds(lists[i], moment) ? 1u << i : 0u;
    ++expected[mask];
  }
  for (uint32_t mask = 1; mask < expected.size(); ++mask) {
    RC_ASSERT(times.Of(mask, ~mask, mask) == expected[mask]);
  }
}

RC_GTEST_PROP(HostPlacesProperty, TheFirstThatHasNotEnded, ()) {
  std::vector<Step> steps;
  for (const Interval& host : RandomIntervals()) steps.emplace_back().host = host;
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.host.start_ns < b.host.start_ns; });
  const HostPlaces places(steps);
  for (int64_t moment = -1; moment < kMoments + 20; ++moment) {
    size_t expected = 0;
    while (expected < steps.size() && steps[expected].host.end_ns <= moment) ++expected;
    if (expected == steps.size() || steps[expected].host.start_ns > moment) {
      expected = HostPlaces::kNone;
    }
    RC_ASSERT(places.Of(moment) == expected);
  }
}

}  // namespace
}  // namespace oplens::prof::class_times_test
