#include "prof/run/memory_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "test/views/made_memory.h"

namespace oplens::prof::memory_life_test {
namespace {

using test::AddMemory;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

using Events = std::vector<test::MadeMemory>;

Trace TraceOf(const Events& events) {
  Trace trace;
  trace.threads.push_back({1, 1, 0});
  trace.threads.push_back({2, 1, 0});
  for (const test::MadeMemory& event : events) AddMemory(event, &trace);
  return trace;
}

/// Time of the allocation, of the release (or what ended it), -1 where there is none; the state.
using PieceTimes = std::tuple<int64_t, int64_t, std::string>;

std::vector<PieceTimes> PiecesOf(const MemoryLife& memory, size_t pool = 0) {
  std::vector<PieceTimes> pieces;
  const auto time_of = [&](uint32_t place) {
    return place == MemoryLife::kNone ? -1 : memory.EventAt(place).time_ns;
  };
  for (const MemoryLife::Piece& piece : memory.PiecesOf(memory.pools()[pool])) {
    pieces.emplace_back(time_of(piece.begin), time_of(piece.end), MemoryStateWord(piece.state));
  }
  return pieces;
}

std::vector<int64_t> CurveOf(const MemoryLife& memory, size_t pool = 0) {
  const MemoryLife::Pool& of = memory.pools()[pool];
  std::vector<int64_t> curve = {of.base_bytes};
  for (uint32_t place = of.begin; place < of.end; ++place) {
    curve.push_back(memory.AllocatedAt(place));
  }
  return curve;
}

TEST(MemoryLifeTest, PairsByAddress) {
  const Trace trace = TraceOf({{10, 1, 100}, {20, 2, 50}, {30, 1, -100}, {40, 1, 30}});
  const MemoryLife memory(trace);
  ASSERT_EQ(memory.pools().size(), 1u);
  EXPECT_FALSE(memory.pools()[0].told);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(10, 30, "freed"), PieceTimes(20, -1, "alive"),
                                   PieceTimes(40, -1, "alive")));
  EXPECT_THAT(CurveOf(memory), ElementsAre(0, 100, 150, 50, 80));
  EXPECT_EQ(memory.PeakOf(memory.pools()[0], {}), 1);
}

// What is only given back was there before: a base line.
TEST(MemoryLifeTest, ReleaseWithoutAllocation) {
  const Trace trace = TraceOf({{10, 1, 100}, {20, 7, -400}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(10, -1, "alive"), PieceTimes(-1, 20, "only freed")));
  EXPECT_THAT(CurveOf(memory), ElementsAre(400, 500, 100));
  EXPECT_EQ(memory.pools()[0].counts.only_freed, 1);
}

TEST(MemoryLifeTest, PeakMayBeTheBaseLine) {
  const Trace trace = TraceOf({{10, 1, -100}, {20, 2, 50}});
  const MemoryLife memory(trace);
  const MemoryLife::Pool& pool = memory.pools()[0];
  EXPECT_EQ(memory.PeakOf(pool, {}), -1);
  EXPECT_EQ(memory.AllocatedBehind(pool, -1), 100);
  EXPECT_EQ(memory.PeakOf(pool, {{{0, 21}}}), 1) << "of events";
  EXPECT_EQ(memory.PeakOf(pool, {{{0, 11}}}), 0);
  EXPECT_EQ(memory.PeakOf(pool, {{{11, 20}}}), MemoryLife::kNowhere);
}

// The second allocation wins; the first one's memory is gone.
TEST(MemoryLifeTest, AddressGivenOutAgain) {
  const Trace trace = TraceOf({{10, 1, 100}, {20, 1, 30}, {30, 1, -30}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(10, 20, "lost"), PieceTimes(20, 30, "freed")));
  EXPECT_THAT(CurveOf(memory), ElementsAre(0, 100, 30, 0));
  EXPECT_EQ(memory.pools()[0].counts.lost, 1);
}

// At one moment an address is given back before it is given out again, whatever the file's order.
TEST(MemoryLifeTest, EqualTimes) {
  for (const bool swapped : {false, true}) {
    Events events = {{10, 1, 100}, {20, 1, -100}, {20, 1, 30}, {40, 1, -30}};
    if (swapped) std::swap(events[1], events[2]);
    const Trace trace = TraceOf(events);
    const MemoryLife memory(trace);
    EXPECT_THAT(PiecesOf(memory),
                UnorderedElementsAre(PieceTimes(10, 20, "freed"), PieceTimes(20, 40, "freed")))
        << swapped;
    EXPECT_EQ(memory.pools()[0].counts.same_time, 1);
    EXPECT_EQ(memory.pools()[0].counts.lost, 0);
  }
}

TEST(MemoryLifeTest, ManyOfOneAddressAtOneMoment) {
  const Trace trace = TraceOf({{5, 1, 8}, {5, 1, 8}, {5, 1, 8}, {5, 1, -8}, {5, 1, -8}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(5, 5, "freed"), PieceTimes(5, 5, "freed"),
                                   PieceTimes(5, -1, "alive")));
}

// An allocation and its release at one moment, of an address that was free.
// What is taken after the last release of a moment comes behind those that waited for it.
TEST(MemoryLifeTest, NoneOvertakesOneThatWaits) {
  const Trace trace = TraceOf({{10, 1, 8}, {20, 1, 8}, {20, 1, 8}, {20, 1, -8}, {20, 1, 8}});
  const MemoryLife memory(trace);
  size_t alive = 0;
  for (const MemoryLife::Piece& piece : memory.PiecesOf(memory.pools()[0])) {
    if (piece.end == MemoryLife::kNone) {
      ++alive;
    } else {
      EXPECT_LT(piece.begin, piece.end);
    }
  }
  EXPECT_EQ(alive, 1u);
  EXPECT_THAT(CurveOf(memory).back(), 8);
}

TEST(MemoryLifeTest, NoTimeBetween) {
  const Trace trace = TraceOf({{5, 1, 8}, {5, 1, -8}, {6, 1, -8}, {6, 1, 8}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(5, 5, "freed"), PieceTimes(-1, 6, "only freed"),
                                   PieceTimes(6, -1, "alive")));
}

TEST(MemoryLifeTest, OrderOfTheFileSaysNothing) {
  const Trace trace = TraceOf({{30, 1, -100}, {10, 1, 100}, {20, 2, 50}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(10, 30, "freed"), PieceTimes(20, -1, "alive")));
  EXPECT_EQ(memory.pools()[0].counts.out_of_order, 1);
}

// A driver may not say how much it takes back.
TEST(MemoryLifeTest, EventsWithoutASize) {
  const Trace trace = TraceOf({{10, 1, 100}, {20, 1, 0}, {30, 2, 0}, {40, 1, 0}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory), UnorderedElementsAre(PieceTimes(10, 20, "freed")));
  EXPECT_THAT(CurveOf(memory), ElementsAre(0, 100, 0, 0, 0));
  EXPECT_EQ(memory.pools()[0].counts.without_size, 3);
}

TEST(MemoryLifeTest, ReleaseOfAnotherSize) {
  const Trace trace = TraceOf({{10, 1, 100}, {20, 1, -60}});
  const MemoryLife memory(trace);
  EXPECT_THAT(CurveOf(memory), ElementsAre(0, 100, 0));
  EXPECT_EQ(memory.pools()[0].counts.other_size, 1);
}

// Old files tell sizes alone.
TEST(MemoryLifeTest, WithoutAddresses) {
  const Trace trace = TraceOf({{10, 0, 100}, {20, 0, 30}, {30, 0, -100}});
  const MemoryLife memory(trace);
  EXPECT_THAT(PiecesOf(memory),
              UnorderedElementsAre(PieceTimes(10, -1, "unknown"), PieceTimes(20, -1, "unknown")));
  EXPECT_THAT(CurveOf(memory), ElementsAre(0, 100, 130, 30));
  EXPECT_EQ(memory.pools()[0].counts.without_address, 3);
}

// Devices, sources and processes have addresses of their own.
TEST(MemoryLifeTest, PoolsAreApart) {
  const Trace trace =
      TraceOf({{.time_ns = 10, .address = 1, .size_bytes = 8},
               {.time_ns = 20, .address = 1, .size_bytes = 8, .device_id = -1},
               {.time_ns = 30, .address = 1, .size_bytes = 8, .device_id = 1},
               {.time_ns = 40, .address = 1, .size_bytes = 64, .source = MemorySource::kDriver},
               {.time_ns = 50, .address = 1, .size_bytes = -8, .thread = 1},
               {.time_ns = 60, .address = 1, .size_bytes = -8}});
  const MemoryLife memory(trace);
  ASSERT_EQ(memory.pools().size(), 4u);
  std::vector<std::string> names;
  for (const MemoryLife::Pool& pool : memory.pools()) {
    names.push_back(MemoryDeviceName(pool.device_id) + " " +
                    std::string(MemorySourceWord(pool.source)));
  }
  EXPECT_THAT(names,
              ElementsAre("CPU framework", "GPU0 framework", "GPU0 driver", "GPU1 framework"));
  EXPECT_THAT(PiecesOf(memory, 1),
              UnorderedElementsAre(PieceTimes(10, 60, "freed"), PieceTimes(-1, 50, "only freed")));
}

// Totals of the file win over sizes; of several processes they add up, and an event without one
// counts by its size.
TEST(MemoryLifeTest, TotalsOfTheFile) {
  const Trace trace =
      TraceOf({{.time_ns = 10, .address = 1, .size_bytes = 100, .total_bytes = 1100},
               {.time_ns = 20, .address = 2, .size_bytes = 10, .thread = 1},
               {.time_ns = 30, .address = 3, .size_bytes = 5},
               {.time_ns = 40, .address = 4, .size_bytes = 20, .total_bytes = 50, .thread = 1},
               {.time_ns = 50, .address = 1, .size_bytes = -100, .total_bytes = 900}});
  const MemoryLife memory(trace);
  EXPECT_TRUE(memory.pools()[0].told);
  // 1000 of the first process, 20 of the second.
  EXPECT_THAT(CurveOf(memory), ElementsAre(1020, 1120, 1130, 1135, 1155, 950));
}

TEST(MemoryLifeTest, ReserveOfNothingIsNoReserve) {
  const Trace host = TraceOf({{10, 1, 100, 100, 0}});
  const MemoryLife of_host(host);
  EXPECT_EQ(of_host.ReservedAt(of_host.pools()[0], 0), kUnknownId);
  EXPECT_EQ(of_host.pools()[0].counts.over_reserved, 0);
  const Trace gpu = TraceOf({{10, 1, 100, 100, 0}, {20, 2, 50, 150, 400}});
  const MemoryLife of_gpu(gpu);
  EXPECT_EQ(of_gpu.ReservedAt(of_gpu.pools()[0], 0), 0);
  EXPECT_EQ(of_gpu.pools()[0].counts.over_reserved, 1);
}

TEST(MemoryLifeTest, HostileNumbers) {
  Events events;
  for (int32_t device = -5; device < 1000; ++device) {
    events.push_back({INT64_MAX, 1, INT64_MAX, kUnknownId, kUnknownId, device, 99});
    events.push_back({INT64_MIN, 1, INT64_MIN, kUnknownId, kUnknownId, device, 99});
    events.push_back({0, 2, INT64_MAX, INT64_MAX, INT64_MIN, device, 0});
    events.push_back({0, 3, INT64_MIN, 0, INT64_MAX, device, 1});
  }
  const Trace trace = TraceOf(events);
  const MemoryLife memory(trace);
  EXPECT_EQ(memory.pools().size(), MemoryLife::kMaxPools);
  EXPECT_GT(memory.left_out(), 0);
  EXPECT_EQ(MemorySizeOf(trace.memory_events[1]), INT64_MAX);
}

// What is live behind each event is what the curve says, however odd the events are.
RC_GTEST_PROP(MemoryLifePropertyTest, CurveIsTheSumOfPieces, ()) {
  Events events;
  const int count = *rc::gen::inRange(1, 60);
  for (int i = 0; i < count; ++i) {
    events.push_back({*rc::gen::inRange<int64_t>(0, 20), *rc::gen::inRange<int64_t>(1, 5),
                      *rc::gen::inRange<int64_t>(-3, 4)});
  }
  const Trace trace = TraceOf(events);
  const MemoryLife memory(trace);
  const MemoryLife::Pool& pool = memory.pools()[0];
  for (int64_t place = -1; place < pool.end; ++place) {
    int64_t live = 0;
    for (const MemoryLife::Piece& piece : memory.PiecesOf(pool)) {
      if (!piece.LivesAt(place)) continue;
      live +=
          MemorySizeOf(memory.EventAt(piece.begin == MemoryLife::kNone ? piece.end : piece.begin));
    }
    RC_ASSERT(live == memory.AllocatedBehind(pool, place));
  }
  // Each release ends one piece at most, which began before it and lies at its address.
  std::vector<int> uses(events.size(), 0);
  for (const MemoryLife::Piece& piece : memory.PiecesOf(pool)) {
    if (piece.begin != MemoryLife::kNone) RC_ASSERT(memory.EventAt(piece.begin).size_bytes > 0);
    if (piece.end == MemoryLife::kNone) continue;
    const bool lost = piece.state == MemoryState::kLost;
    RC_ASSERT((memory.EventAt(piece.end).size_bytes > 0) == lost);
    RC_ASSERT(lost || uses[piece.end]++ == 0);
    if (piece.begin == MemoryLife::kNone) continue;
    RC_ASSERT(piece.begin < piece.end);
    RC_ASSERT(memory.EventAt(piece.begin).address == memory.EventAt(piece.end).address);
  }
}

}  // namespace
}  // namespace oplens::prof::memory_life_test
