#include "record/inject/tick_clock.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "nvtx_annotate/vocabulary/direct_range.h"
#include "record/inject/clock.h"

namespace oplens::test::tick_clock_test {
namespace {

using markers::DirectClock;
using record::inject::MonotonicNow;

int64_t Now(DirectClock* clock) {
  int64_t now_ns = 0;
  const bool valid = markers::ReadDirectClock(*clock, &now_ns);
  return valid ? now_ns : record::inject::SetClock(clock);
}

constexpr int64_t kMostOffNs = 5'000;

/// Whether the clock lies between two readings of the system's around it.
void ExpectBetween(DirectClock* clock) {
  const int64_t before = MonotonicNow();
  const int64_t now = Now(clock);
  const int64_t after = MonotonicNow();
  ASSERT_GE(now, before - kMostOffNs);
  ASSERT_LE(now, after + kMostOffNs);
}

TEST(TickClockTest, TellsTheTimeOfTheSystem) {
  DirectClock asking = {};
  ExpectBetween(&asking);
  record::inject::UseTicks();
  DirectClock clock = {};
  // Beyond the time in which the rate is measured.
  const int64_t end = MonotonicNow() + 200'000'000;
  while (MonotonicNow() < end) {
    ExpectBetween(&clock);
    ExpectBetween(&asking);
  }
}

TEST(TickClockTest, OneThatWasNotReadForLongAsksAgain) {
  record::inject::UseTicks();
  DirectClock clock = {};
  const int64_t start = MonotonicNow();
  while (MonotonicNow() < start + 60'000'000) Now(&clock);
  while (MonotonicNow() < start + 160'000'000) {
  }
  ExpectBetween(&clock);
}

TEST(TickClockTest, AddsTheOffset) {
  DirectClock clock = {};
  const int64_t offset = record::inject::g_clock_offset_ns;
  record::inject::g_clock_offset_ns = int64_t{1} << 60;
  EXPECT_GT(Now(&clock), int64_t{1} << 60);
  record::inject::g_clock_offset_ns = offset;
}

}  // namespace
}  // namespace oplens::test::tick_clock_test
