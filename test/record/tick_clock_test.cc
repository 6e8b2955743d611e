#include "record/inject/tick_clock.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace oplens::test::tick_clock_test {
namespace {

using record::inject::MonotonicNow;
using record::inject::TickClock;

constexpr int64_t kMostOffNs = 5'000;

/// Whether the clock lies between two readings of the system's around it.
void ExpectBetween(TickClock* clock) {
  const int64_t before = MonotonicNow();
  const int64_t now = clock->Now();
  const int64_t after = MonotonicNow();
  ASSERT_GE(now, before - kMostOffNs);
  ASSERT_LE(now, after + kMostOffNs);
}

TEST(TickClockTest, TellsTheTimeOfTheSystem) {
  TickClock asking = {};
  ExpectBetween(&asking);
  record::inject::UseTicks();
  TickClock clock = {};
  // Beyond the time in which the rate is measured.
  const int64_t end = MonotonicNow() + 200'000'000;
  while (MonotonicNow() < end) {
    ExpectBetween(&clock);
    ExpectBetween(&asking);
  }
}

TEST(TickClockTest, OneThatWasNotReadForLongAsksAgain) {
  record::inject::UseTicks();
  TickClock clock = {};
  const int64_t start = MonotonicNow();
  while (MonotonicNow() < start + 60'000'000) clock.Now();
  while (MonotonicNow() < start + 160'000'000) {
  }
  ExpectBetween(&clock);
}

TEST(TickClockTest, AddsTheOffset) {
  TickClock clock = {};
  const int64_t offset = record::inject::g_clock_offset_ns;
  record::inject::g_clock_offset_ns = int64_t{1} << 60;
  EXPECT_GT(clock.Now(), int64_t{1} << 60);
  record::inject::g_clock_offset_ns = offset;
}

}  // namespace
}  // namespace oplens::test::tick_clock_test
