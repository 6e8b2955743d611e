#include "prof/views/common/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace oplens::prof::histogram_test {
namespace {

Histogram Of(const std::vector<int64_t>& values) {
  Histogram histogram;
  for (const int64_t value : values) histogram.Add(value);
  return histogram;
}

int64_t NearestRank(std::vector<int64_t> values, int percent) {
  std::sort(values.begin(), values.end());
  const size_t rank = (values.size() * static_cast<size_t>(percent) + 99) / 100;
  return values[std::max<size_t>(rank, 1) - 1];
}

TEST(HistogramTest, NothingHasNoQuantile) { EXPECT_FALSE(Histogram().Quantile(50)); }

TEST(HistogramTest, SmallValuesAreExact) {
  const Histogram histogram = Of({7, 1, 63, 0, -5, 2});
  EXPECT_EQ(histogram.Quantile(0), 0);
  EXPECT_EQ(histogram.Quantile(50), 1);
  EXPECT_EQ(histogram.Quantile(51), 2);
  EXPECT_EQ(histogram.Quantile(100), 63);
}

TEST(HistogramTest, OneValueIsExact) {
  for (const int64_t value : {int64_t{1'000'003}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(Of({value}).Quantile(95), std::max<int64_t>(value, 0));
  }
}

TEST(HistogramTest, ValuesOfAllSizes) {
  for (int bits = 0; bits < 63; ++bits) {
    for (const int64_t more : {-1, 0, 1}) {
      const int64_t value = (int64_t{1} << bits) + more;
      // The others keep the answer from being cut to the least or the largest value.
      const Histogram histogram = Of({0, value, INT64_MAX});
      EXPECT_LE(std::abs(static_cast<double>(*histogram.Quantile(50) - value)),
                static_cast<double>(value) / 64)
          << value;
    }
  }
}

std::vector<int64_t> Drawn() {
  std::vector<int64_t> values;
  const auto count = *rc::gen::inRange<size_t>(1, 200);
  while (values.size() < count) {
    const int bits = *rc::gen::inRange(1, 63);
    values.push_back(*rc::gen::inRange<int64_t>(0, int64_t{1} << bits));
  }
  return values;
}

RC_GTEST_PROP(HistogramProperty, QuantilesAreAtMostASixtyFourthOff, ()) {
  const std::vector<int64_t> values = Drawn();
  const int percent = *rc::gen::inRange(0, 101);
  const int64_t exact = NearestRank(values, percent);
  const int64_t told = *Of(values).Quantile(percent);
  RC_ASSERT(std::abs(static_cast<double>(told - exact)) <= static_cast<double>(exact) / 64);
}

RC_GTEST_PROP(HistogramProperty, MergingIsCountingAll, ()) {
  std::vector<int64_t> all = Drawn();
  const std::vector<int64_t> more = Drawn();
  Histogram merged = Of(all);
  merged.Merge(Of(more));
  Histogram other = Of(more);
  other.Merge(Of(all));
  all.insert(all.end(), more.begin(), more.end());
  const Histogram whole = Of(all);
  RC_ASSERT(merged.count() == whole.count());
  for (int percent = 0; percent <= 100; ++percent) {
    RC_ASSERT(merged.Quantile(percent) == whole.Quantile(percent));
    RC_ASSERT(other.Quantile(percent) == whole.Quantile(percent));
  }
}

}  // namespace
}  // namespace oplens::prof::histogram_test
