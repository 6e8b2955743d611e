#include "parse/join/range_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "test/support/random_cases.h"

namespace oplens::parse::range_sweep_test {
namespace {

using test::AnyByte;
using test::AnyIn;
using test::Require;

struct Interval {
  int64_t start = 0;
  int64_t end = 0;
  size_t lane = 0;
};

struct Call {
  int64_t start = 0;
  int64_t end = 0;
};

std::vector<uint32_t> ListOf(const OpenRanges& open, size_t lane) {
  std::vector<uint32_t> list;
  open.ForEach(lane, [&](uint32_t range) {
    list.push_back(range);
    return true;
  });
  return list;
}

/// The definition itself: every range that starts no later and ends no earlier than the call.
std::vector<uint32_t> BruteForce(const std::vector<Interval>& ranges, const Call& call,
                                 size_t lane) {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].lane == lane && ranges[i].start <= call.start && ranges[i].end >= call.end) {
      list.push_back(i);
    }
  }
  return list;
}

TEST(OpenRanges, EqualsBruteForceForAnyRanges) {
  // Nested, crossing, empty and never closed ones.
  test::CheckRandomCases([] {
    std::vector<Interval> ranges(AnyIn<size_t>(0, 101));
    for (Interval& range : ranges) {
      range.start = AnyByte();
      const uint8_t length = AnyByte();
      const uint8_t kind = AnyByte();
      range.end = kind % 7 == 0 ? kNeverClosed : range.start + length % 64;
      range.lane = kind % 3u;
    }
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::vector<std::pair<uint8_t, uint8_t>> calls(AnyIn<size_t>(0, 101));
    for (auto& [start, length] : calls) {
      start = AnyByte();
      length = AnyByte();
    }
    std::sort(calls.begin(), calls.end());

    OpenRanges open;
    size_t next = 0;
    for (const auto& [start, length] : calls) {
      const Call call = {start, int64_t{start} + length % 16};
      for (; next < ranges.size() && ranges[next].start <= call.start; ++next) {
        open.Push(static_cast<uint32_t>(next), ranges[next].start, ranges[next].end,
                  ranges[next].lane);
      }
      open.MoveTo(call.start, call.end);
      for (size_t lane = 0; lane < 3; ++lane) {
        const std::vector<uint32_t> expected = BruteForce(ranges, call, lane);
        Require(ListOf(open, lane) == expected);
        Require(open.CountOf(lane) == expected.size());
        Require(open.Innermost(lane) == (expected.empty() ? OpenRanges::kNone : expected.back()));
      }
    }
  });
}

TEST(OpenRanges, VersionStaysWhileNothingChanges) {
  OpenRanges open;
  open.Push(0, 0, 100, 0);
  open.MoveTo(10, 20);
  const uint64_t version = open.version();
  open.MoveTo(30, 40);
  EXPECT_EQ(open.version(), version);
  open.MoveTo(101, 102);
  EXPECT_NE(open.version(), version);
  EXPECT_EQ(open.CountOf(0), 0u);
}

TEST(OpenRanges, TheSamePlaceTwice) {
  OpenRanges open;
  open.Push(0, 0, 15, 0);  // Ends within the call: hidden.
  open.MoveTo(10, 20);
  const uint64_t version = open.version();
  open.MoveTo(10, 20);
  EXPECT_EQ(open.version(), version);
  EXPECT_EQ(open.CountOf(0), 0u);
  open.Push(1, 10, 25, 0);
  open.MoveTo(10, 20);
  EXPECT_EQ(ListOf(open, 0), std::vector<uint32_t>{1});
}

TEST(OpenRanges, ForEachStopsWhenTold) {
  OpenRanges open;
  for (uint32_t i = 0; i < 5; ++i) open.Push(i, 0, 100 - i, 1);
  open.MoveTo(1, 2);
  std::vector<uint32_t> seen;
  open.ForEach(1, [&](uint32_t range) {
    seen.push_back(range);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace oplens::parse::range_sweep_test
