#include "prof/run/interval_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bitset>
#include <vector>

namespace oplens::prof::interval_set_test {
namespace {

using Intervals = std::vector<Interval>;

Intervals List(const IntervalSet& set) { return {set.intervals().begin(), set.intervals().end()}; }

TEST(IntervalSetTest, JoinsWhatTouchesAndLeavesOutWhatIsEmpty) {
  const IntervalSet set({{5, 7}, {1, 3}, {3, 4}, {6, 6}, {9, 8}, {6, 9}});
  EXPECT_EQ(List(set), (Intervals{{1, 4}, {5, 9}}));
  EXPECT_EQ(set.length_ns(), 7);
  EXPECT_TRUE(IntervalSet({{3, 3}, {5, 2}}).empty());
}

TEST(IntervalSetTest, LengthsThatDoNotFit) {
  EXPECT_EQ(IntervalSet({{INT64_MIN, INT64_MAX}}).length_ns(), INT64_MAX);
  EXPECT_EQ(IntervalSet({{INT64_MIN, -2}, {0, INT64_MAX}}).length_ns(), INT64_MAX);
}

// The kernel [2,7] takes all of its time, the copy in it none, the operator what is left of it.
TEST(IntervalSetTest, PriorityOfTheOverview) {
  const IntervalSet kernel({{2, 7}});
  const IntervalSet copy({{5, 6}});
  const IntervalSet op({{1, 3}});
  EXPECT_TRUE(copy.Difference(kernel).empty());
  EXPECT_EQ(List(op.Difference(kernel)), (Intervals{{1, 2}}));
  EXPECT_EQ(List(kernel.Difference(copy)), (Intervals{{2, 5}, {6, 7}}));
}

using Bits = std::bitset<64>;

Bits BitsOf(const IntervalSet& set) {
  Bits bits;
  for (const Interval& interval : set.intervals()) {
    for (int64_t at = interval.start_ns; at < interval.end_ns; ++at) {
      bits.set(static_cast<size_t>(at));
    }
  }
  return bits;
}

IntervalSet Drawn() {
  Intervals intervals;
  const auto count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    intervals.push_back({*rc::gen::inRange<int64_t>(0, 64), *rc::gen::inRange<int64_t>(0, 64)});
  }
  return IntervalSet(intervals);
}

RC_GTEST_PROP(IntervalSetProperty, IsASetOfMoments, ()) {
  const IntervalSet a = Drawn();
  const IntervalSet b = Drawn();
  const Interval window{*rc::gen::inRange<int64_t>(0, 64), *rc::gen::inRange<int64_t>(0, 64)};
  RC_ASSERT(BitsOf(a.Union(b)) == (BitsOf(a) | BitsOf(b)));
  RC_ASSERT(BitsOf(a.Difference(b)) == (BitsOf(a) & ~BitsOf(b)));
  RC_ASSERT(BitsOf(a.Within(window)) == (BitsOf(a) & BitsOf(IntervalSet({window}))));
  RC_ASSERT(a.length_ns() == static_cast<int64_t>(BitsOf(a).count()));
}

}  // namespace
}  // namespace oplens::prof::interval_set_test
