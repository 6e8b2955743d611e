#include "prof/verdicts/change_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace oplens::prof::change_point_test {
namespace {

constexpr double kLeast = 0.001;

class Noise {
 public:
  explicit Noise(uint64_t seed) : random_(seed) {}
  double Next() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_() >> 11) * 0x1p-53;
    return sum - 6;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<double> Series(uint64_t seed, size_t count, size_t since, double level, double noise) {
  Noise random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back((i >= since ? level : 0) + noise * random.Next());
  }
  return values;
}

TEST(ChangePointTest, FindsWhereALevelBegins) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto values = Series(seed, 80, 40, 0.05, 0.01);
    const SeriesLevel level = LevelOf(values, kLeast);
    EXPECT_NEAR(static_cast<double>(level.since), 40, 2) << seed;
    EXPECT_NEAR(level.level, 0.05, 0.01) << seed;
    EXPECT_NEAR(level.before, 0, 0.01) << seed;
    EXPECT_TRUE(IsCertain(level, values.size())) << seed;
  }
}

TEST(ChangePointTest, ALevelFromTheStartOnHasNoBefore) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto values = Series(seed, 60, 0, 0.05, 0.02);
    const SeriesLevel level = LevelOf(values, kLeast);
    EXPECT_EQ(level.since, 0u) << seed;
    EXPECT_TRUE(IsCertain(level, values.size())) << seed;
  }
}

TEST(ChangePointTest, ChanceIsNoLevel) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const size_t count : {size_t{8}, size_t{20}, size_t{80}}) {
      const auto values = Series(seed, count, 0, 0, 0.02);
      EXPECT_FALSE(IsCertain(LevelOf(values, kLeast), count)) << seed;
    }
  }
}

TEST(ChangePointTest, SingleValuesFarOffAreNoLevel) {
  auto values = Series(1, 60, 0, 0, 0.01);
  for (const size_t at : {size_t{3}, size_t{20}, size_t{41}}) values[at] = 10;
  EXPECT_FALSE(IsCertain(LevelOf(values, kLeast), values.size()));
}

TEST(ChangePointTest, FewValuesSayNothing) {
  EXPECT_FALSE(IsCertain(LevelOf({}, kLeast), 0));
  const std::vector<double> few(kLeastSteps - 1, 1.0);
  EXPECT_FALSE(IsCertain(LevelOf(few, kLeast), few.size()));
  const std::vector<double> enough(kLeastSteps, 1.0);
  EXPECT_TRUE(IsCertain(LevelOf(enough, kLeast), enough.size()));
}

}  // namespace
}  // namespace oplens::prof::change_point_test
