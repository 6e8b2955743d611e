#include "base/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/lazy.h"
#include "base/threads.h"

namespace oplens::team_test {
namespace {

class TeamTest : public testing::TestWithParam<size_t> {};

TEST_P(TeamTest, EachPieceIsDoneOnceEveryTime) {
  Team team(GetParam());
  for (const size_t count : {0U, 1U, 2U, 1000U}) {
    for (int call = 0; call < 20; ++call) {
      std::vector<int> done(count, 0);
      team.Each(count, [&](size_t i) { ++done[i]; });
      EXPECT_EQ(done, std::vector<int>(count, 1));
    }
  }
}

TEST_P(TeamTest, TheFirstFailureByNumberIsThrownAndTheTeamGoesOn) {
  Team team(GetParam());
  std::atomic<int> done = 0;
  try {
    team.Each(100, [&](size_t i) {
      ++done;
      if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "7");
  }
  EXPECT_EQ(done, 100);
  team.Each(3, [&](size_t) { ++done; });
  EXPECT_EQ(done, 103);
}

TEST_P(TeamTest, TheCallerDoesOtherWorkUntilItJoins) {
  std::vector<int> done(100, 0);
  Team team(GetParam());
  for (int call = 0; call < 20; ++call) {
    team.Begin(done.size(), [&](size_t i) { ++done[i]; });
    team.Join();
    EXPECT_EQ(done, std::vector<int>(done.size(), call + 1));
  }
  team.Begin(1, [](size_t) { throw std::runtime_error("later"); });
  EXPECT_THROW(team.Join(), std::runtime_error);
  // Work that nobody waits for ends before the team does.
  team.Begin(done.size(), [&](size_t i) { ++done[i]; });
}

TEST_P(TeamTest, WorkInsideHasOneThread) {
  const int before = ThreadLimit();
  SetThreadLimit(4);
  Team team(GetParam());
  std::atomic<int> most = 0;
  team.Each(50, [&](size_t) { most = std::max(most.load(), ThreadLimit()); });
  EXPECT_EQ(most, GetParam() == 0 ? 4 : 1);
  EXPECT_EQ(ThreadLimit(), 4);
  SetThreadLimit(before);
}

TEST(TeamOfOneTest, BeginsInOrder) {
  std::vector<size_t> order;
  Team(0).Each(5, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST_P(TeamTest, ALazyValueIsMadeOnce) {
  Team team(GetParam());
  std::atomic<int> made = 0;
  std::atomic<int64_t> sum = 0;
  Lazy<std::string> text;
  team.Each(500, [&](size_t) {
    sum += static_cast<int64_t>(text.Get([&] {
                                      ++made;
                                      return std::string("four");
                                    })
                                    .size());
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 2000);
}

TEST_P(TeamTest, ALazyValueThatFailsIsMadeByTheNextWhoAsks) {
  Team team(GetParam());
  std::atomic<int> tried = 0;
  std::atomic<int> failed = 0;
  const Lazy<int> number;
  team.Each(500, [&](size_t) {
    try {
      EXPECT_EQ(number.Get([&] {
        if (++tried <= 3) throw std::runtime_error("no");
        return 4;
      }),
                4);
    } catch (const std::runtime_error&) {
      ++failed;
    }
  });
  EXPECT_EQ(tried, 4);
  EXPECT_EQ(failed, 3);
}

TEST(LazyTest, WhatMakeThrowsIsThrownAndItIsMadeAgain) {
  const Lazy<int> number;
  EXPECT_THROW(number.Get([]() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(number.Get([] { return 3; }), 3);
}

TEST(InParts, EveryItemIsInOnePartAndPartsAreInOrder) {
  const int before = ThreadLimit();
  for (const int threads : {1, 3}) {
    SetThreadLimit(threads);
    for (const size_t count : {0U, 1U, 7U, 1000U}) {
      const size_t parts = CountParts(count, 10);
      EXPECT_LE(parts, threads == 1 ? 1U : count);
      std::vector<int> done(count, 0);
      std::vector<size_t> begins(parts, count);
      InParts(count, parts, [&](size_t part, size_t begin, size_t end) {
        begins[part] = begin;
        for (size_t i = begin; i < end; ++i) ++done[i];
      });
      EXPECT_EQ(done, std::vector<int>(count, 1));
      EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
    }
    EXPECT_EQ(CountParts(19, 10), 1U);
    EXPECT_EQ(CountParts(100'000, 10), threads == 1 ? 1U : 12U);
    EXPECT_THROW(InParts(1000, CountParts(1000, 10),
                         [](size_t, size_t, size_t) { throw std::runtime_error("part"); }),
                 std::runtime_error);
  }
  SetThreadLimit(before);
}

INSTANTIATE_TEST_SUITE_P(Threads, TeamTest, testing::Values(0, 1, 3, 8));

}  // namespace
}  // namespace oplens::team_test
