#include "prof/run/memory_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace oplens::prof::memory_curve_test {
namespace {

using testing::ElementsAre;

TEST(MemoryCurveTest, FewPointsStay) {
  EXPECT_THAT(ThinByExtremes(std::vector<int64_t>{5, 1, 2}, 4), ElementsAre(0, 1, 2));
  EXPECT_THAT(ThinByTriangles(std::vector<double>{0, 1, 2}, std::vector<double>{5, 1, 2}, 4),
              ElementsAre(0, 1, 2));
  EXPECT_TRUE(ThinByExtremes({}, 4).empty());
}

// |0| 1 2 3 | 4 5 6 |7|
TEST(MemoryCurveTest, ExtremesOfEachBucket) {
  const std::vector<int64_t> values = {9, 1, 2, 3, 7, 4, 5, 0};
  EXPECT_THAT(ThinByExtremes(values, 6), ElementsAre(0, 1, 3, 4, 5, 7));
}

// Buckets {1, 2}, {3}: behind the first stands (3, 0), and of (1, 0) and (2, 9) the latter makes
// the larger triangle with (0, 0); behind the last the last point.
TEST(MemoryCurveTest, LargestTriangles) {
  const std::vector<double> times = {0, 1, 2, 3, 4};
  const std::vector<double> values = {0, 0, 9, 0, 0};
  EXPECT_THAT(ThinByTriangles(times, values, 4), ElementsAre(0, 2, 3, 4));
}

RC_GTEST_PROP(MemoryCurvePropertyTest, KeepsEndsAndPeak, ()) {
  const auto values =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange(0, 50)));
  const size_t most = *rc::gen::inRange<size_t>(4, 20);
  const std::vector<size_t> kept = ThinByExtremes(values, most);
  RC_ASSERT(kept.size() <= std::max(most, values.size()));
  RC_ASSERT(values.size() <= most || kept.size() <= most);
  RC_ASSERT(std::is_sorted(kept.begin(), kept.end()));
  RC_ASSERT(std::adjacent_find(kept.begin(), kept.end()) == kept.end());
  RC_ASSERT(kept.front() == 0u && kept.back() == values.size() - 1);
  const auto peak = std::max_element(values.begin(), values.end());
  RC_ASSERT(std::any_of(kept.begin(), kept.end(), [&](size_t i) { return values[i] == *peak; }));
  const std::vector<double> as_double(values.begin(), values.end());
  const std::vector<size_t> triangles = ThinByTriangles(as_double, as_double, most);
  RC_ASSERT(triangles.size() == std::min(most, values.size()));
  RC_ASSERT(std::is_sorted(triangles.begin(), triangles.end()));
}

}  // namespace
}  // namespace oplens::prof::memory_curve_test
