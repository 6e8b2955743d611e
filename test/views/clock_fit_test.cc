#include "prof/views/collectives/clock_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "prof/views/collectives/rank_clocks.h"

namespace oplens::test::clock_fit_test {
namespace {

using prof::ClockFit;
using prof::ClockLag;
using prof::FitClock;

TEST(ClockFitTest, WithoutDriftItIsTheLowerMedian) {
  EXPECT_EQ(FitClock({{0, 7}}).offset_ns, 7);
  EXPECT_EQ(FitClock({{0, 9}, {5, 7}}).offset_ns, 7);
  const ClockFit fit = FitClock({{0, 30}, {10, 10}, {20, 20}, {30, 1'000'000}});
  EXPECT_EQ(fit.offset_ns, 20);
  EXPECT_EQ(fit.drift, 0);
  EXPECT_EQ(fit.At(INT64_MAX), 20);
  EXPECT_EQ(fit.count, 4u);
}

/// 3 ms ahead, and so many ppm more all the time; noise of 10 us; every fifth is nonsense.
std::vector<ClockLag> Lags(unsigned seed, double ppm, size_t count = 200) {
  std::mt19937 random(seed);
  std::vector<ClockLag> lags;
  for (size_t i = 0; i < count; ++i) {
    const auto time_ns = static_cast<int64_t>(i * 50'000'000 + random() % 1'000'000);
    const auto noise_ns = static_cast<int64_t>(random() % 20'000) - 10'000;
    const auto ahead_ns = static_cast<int64_t>(static_cast<double>(time_ns) * ppm / 1e6);
    lags.push_back({time_ns, 3'000'000 + ahead_ns + noise_ns});
    if (random() % 5 == 0) lags.back().lag_ns += static_cast<int64_t>(random() % 100'000'000);
  }
  return lags;
}

TEST(ClockFitTest, ADriftIsFound) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    for (const double ppm : {50.0, -50.0, 200.0}) {
      const ClockFit fit = FitClock(Lags(seed, ppm));
      EXPECT_NEAR(fit.drift * 1e6, ppm, 1.5) << seed;
      for (const int64_t time_ns : {int64_t{0}, int64_t{5'000'000'000}, int64_t{10'000'000'000}}) {
        const double ahead_ns = 3e6 + static_cast<double>(time_ns) * ppm / 1e6;
        EXPECT_NEAR(static_cast<double>(fit.At(time_ns)), ahead_ns, 10'000) << seed;
      }
    }
  }
}

TEST(ClockFitTest, WithoutADriftNoneIsFound) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(FitClock(Lags(seed, 0)).drift, 0) << seed;
    EXPECT_EQ(FitClock(Lags(seed, 50, 15)).drift, 0) << "too few";
    EXPECT_EQ(FitClock(Lags(seed, 5000)).drift, 0) << "no clock is off by so much";
  }
}

TEST(ClockFitTest, TheOrderHasNoEffect) {
  std::vector<ClockLag> lags = Lags(3, 50);
  const ClockFit fit = FitClock(lags);
  std::reverse(lags.begin(), lags.end());
  EXPECT_EQ(FitClock(lags).drift, fit.drift);
  EXPECT_EQ(FitClock(lags).offset_ns, fit.offset_ns);
}

TEST(ClockFitTest, HostileTimesStayWithinBounds) {
  std::vector<ClockLag> lags;
  for (int64_t i = 0; i < 32; ++i) {
    lags.push_back({i % 2 == 0 ? INT64_MIN + i : INT64_MAX - i,
                    i % 3 == 0 ? INT64_MIN : (i % 3 == 1 ? INT64_MAX : i)});
  }
  const ClockFit fit = FitClock(lags);
  for (const int64_t time_ns : {INT64_MIN, int64_t{0}, INT64_MAX}) fit.At(time_ns);
  for (ClockLag& lag : lags) lag.time_ns = 5;
  EXPECT_EQ(FitClock(lags).drift, 0);
}

// 1 is 5 us ahead of 0, 2 is 7 us ahead of 1 and gains 100 ppm on it; 4 is 1 us ahead of 3.
TEST(RankClocksTest, ThroughOtherRanksClocksAreKnownToo) {
  const ClockFit gains = {.time_ns = 1'000'000, .offset_ns = 7000, .drift = 1e-4, .count = 9};
  const prof::RankClocks clocks(6, {{4, 3, {.offset_ns = 1000, .count = 4}},
                                    {2, 1, gains},
                                    {1, 0, {.offset_ns = 5000, .count = 3}}});
  const auto ahead_ns = [&](uint32_t rank, uint32_t other, int64_t at_ns) {
    const auto fit = clocks.Between(rank, other);
    return fit ? fit->At(at_ns) : INT64_MIN;
  };
  EXPECT_EQ(ahead_ns(1, 0, 0), 5000);
  EXPECT_EQ(ahead_ns(0, 1, 0), -5000);
  EXPECT_EQ(ahead_ns(2, 0, 1'000'000), 12'000);
  EXPECT_EQ(ahead_ns(2, 0, 11'000'000), 13'000);
  EXPECT_NEAR(static_cast<double>(ahead_ns(0, 2, 10'987'000)), -13'000, 2);
  EXPECT_EQ(clocks.Between(2, 0)->count, 3U);
  EXPECT_EQ(ahead_ns(3, 4, 0), -1000);
  EXPECT_EQ(ahead_ns(5, 5, 0), 0);
  EXPECT_FALSE(clocks.Between(4, 0));
  EXPECT_FALSE(clocks.Between(5, 0));
  EXPECT_FALSE(clocks.Between(6, 0));
  EXPECT_FALSE(prof::RankClocks().Between(0, 0));
}

}  // namespace
}  // namespace oplens::test::clock_fit_test
