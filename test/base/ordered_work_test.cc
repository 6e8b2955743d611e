#include "base/ordered_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace oplens::ordered_work_test {
namespace {

struct Piece {
  int number = 0;
  int square = 0;
};

/// Numbers pieces without end.
auto Numbered(int* next) {
  return [next](Piece* piece) {
    piece->number = (*next)++;
    return true;
  };
}

class OrderedWorkTest : public testing::TestWithParam<size_t> {};

/// Squares of 0 to count - 1, in the order in which they are taken.
std::vector<int> Squares(size_t threads, int count) {
  std::vector<int> squares;
  int next = 0;
  DoInOrder<Piece>(
      threads,
      [&](Piece* piece) {
        piece->number = next++;
        return piece->number < count;
      },
      [](Piece* piece) { piece->square = piece->number * piece->number; },
      [&](Piece* piece) { squares.push_back(piece->square); });
  return squares;
}

TEST_P(OrderedWorkTest, PiecesOfAnUnknownNumberComeInOrder) {
  for (const int count : {0, 1, 2, 1000}) {
    std::vector<int> expected;
    for (int i = 0; i < count; ++i) expected.push_back(i * i);
    EXPECT_EQ(Squares(GetParam(), count), expected);
  }
}

TEST_P(OrderedWorkTest, WhatNextThrowsComesBehindEarlierPieces) {
  int next = 0;
  std::vector<int> taken;
  const auto run = [&] {
    DoInOrder<Piece>(
        GetParam(),
        [&](Piece* piece) {
          piece->number = next++;
          if (piece->number == 100) throw std::runtime_error("next");
          return true;
        },
        [](Piece*) {}, [&](Piece* piece) { taken.push_back(piece->number); });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(taken.size(), 100U);
  EXPECT_EQ(next, 101);
}

TEST_P(OrderedWorkTest, TheFirstFailureIsThrown) {
  int next = 0;
  size_t taken = 0;
  const auto run = [&] {
    DoInOrder<Piece>(
        GetParam(), Numbered(&next),
        [](Piece* piece) {
          if (piece->number >= 50) throw std::runtime_error(std::to_string(piece->number));
        },
        [&](Piece*) { ++taken; });
  };
  try {
    run();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "50");
  }
  EXPECT_EQ(taken, 50U);
}

TEST_P(OrderedWorkTest, WhatTakeThrowsEndsTheWork) {
  std::atomic<int> made = 0;
  const auto run = [&] {
    DoInOrder<Piece>(
        GetParam(), [](Piece*) { return true; }, [&](Piece*) { ++made; },
        [](Piece*) { throw std::runtime_error("full"); });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_LE(made, static_cast<int>(PlacesFor(GetParam())));
}

TEST_P(OrderedWorkTest, NothingIsTakenAfterTheLastThatIsWanted) {
  int next = 0;
  std::vector<int> taken;
  DoInOrder<Piece>(
      GetParam(), Numbered(&next),
      [](Piece* piece) {
        if (piece->number > 50) throw std::runtime_error("dropped");
      },
      [&](Piece* piece) {
        taken.push_back(piece->number);
        return piece->number < 50;
      });
  EXPECT_EQ(taken.size(), 51U);
  EXPECT_LE(next, 51 + static_cast<int>(PlacesFor(GetParam())));
}

TEST_P(OrderedWorkTest, TheCallerMakesPiecesWhileOthersAreNotReady) {
  // The first piece ends only when a later one was made.
  std::atomic<int> next = 0;
  std::atomic<bool> second_made = GetParam() == 0;
  DoInOrder<Piece>(
      std::min<size_t>(GetParam(), 1),
      [&](Piece* piece) {
        piece->number = next++;
        return piece->number < 2;
      },
      [&](Piece* piece) {
        if (piece->number == 1) second_made = true;
        second_made.notify_all();
        if (piece->number == 0) second_made.wait(false);
      },
      [](Piece*) {});
  EXPECT_TRUE(second_made);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedWorkTest, testing::Values(0, 1, 2, 7));

}  // namespace
}  // namespace oplens::ordered_work_test
