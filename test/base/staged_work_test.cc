#include "base/staged_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace oplens::staged_work_test {
namespace {

constexpr size_t kStages = 3;

/// Numbers items at their places, and keeps which items each stage did.
class Numbers {
 public:
  Numbers(size_t places, size_t count)
      : made(count), done(kStages), items_(places), count_(count) {}

  StagedWork Work() {
    return {.begin =
                [this](size_t place) {
                  items_[place] = begun++;
                  return items_[place] < count_;
                },
            .make = [this](size_t place) { made[items_[place]] = true; },
            .stages = kStages,
            .go_on =
                [this](size_t place, size_t stage) {
                  const size_t item = items_[place];
                  EXPECT_TRUE(made[item]);
                  done[stage].push_back(item);
                  if (stage == failing_stage_ && item >= failing_item_)
                    throw std::runtime_error(std::to_string(item));
                  return true;
                }};
  }

  /// The stage throws the item's number for this item and all after it.
  void FailAt(size_t item, size_t stage) {
    failing_item_ = item;
    failing_stage_ = stage;
  }

  // No lock: a stage does one item at a time.
  size_t begun = 0;
  std::vector<uint8_t> made;
  std::vector<std::vector<size_t>> done;

 private:
  std::vector<size_t> items_;  // By place.
  size_t count_;
  size_t failing_item_ = 0;
  size_t failing_stage_ = kStages;
};

std::vector<size_t> FirstNumbers(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

/// What a run throws; "" if nothing.
std::string ThrownBy(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// Two items at two places, of which the second fails before the first goes on.
class TwoItems {
 public:
  /// For StagedWork::begin.
  bool Begin(size_t place) {
    items_[place] = begun_++;
    return begun_ <= 2;
  }
  bool IsSecond(size_t place) const { return items_[place] == 1; }
  [[noreturn]] void FailSecond() {
    second_failed_ = true;
    second_failed_.notify_all();
    throw std::runtime_error("second");
  }
  void AwaitFailure() const { second_failed_.wait(false); }

 private:
  std::vector<size_t> items_ = std::vector<size_t>(2);  // By place.
  size_t begun_ = 0;
  std::atomic<bool> second_failed_ = false;
};

/// Threads beside the caller, and places of each.
class StagedWorkTest : public testing::TestWithParam<std::tuple<size_t, size_t>> {
 protected:
  const size_t places_ = (std::get<0>(GetParam()) + 1) * std::get<1>(GetParam());
  Team team_{std::get<0>(GetParam())};
};

TEST_P(StagedWorkTest, EachStageDoesAllItemsInTheirOrder) {
  for (const size_t count : std::initializer_list<size_t>{0, 1, 2, 1000}) {
    Numbers numbers(places_, count);
    DoInStages(&team_, places_, numbers.Work());
    for (const auto& items : numbers.done) EXPECT_EQ(items, FirstNumbers(count));
  }
}

TEST_P(StagedWorkTest, OfAFailureEarlierItemsGoThroughAllStages) {
  for (size_t stage = 0; stage < kStages; ++stage) {
    Numbers numbers(places_, 1000);
    numbers.FailAt(50, stage);
    EXPECT_EQ(ThrownBy([&] { DoInStages(&team_, places_, numbers.Work()); }), "50");
    for (size_t i = 0; i < kStages; ++i) {
      EXPECT_GE(numbers.done[i].size(), i <= stage ? 51U : 50U) << stage;
      EXPECT_LE(numbers.done[i].size(), i < stage ? 51U + places_ : 51U) << stage;
    }
  }
}

TEST_P(StagedWorkTest, OneThreadCarriesAnItem) {
  std::vector<std::thread::id> threads(places_);
  size_t begun = 0;
  std::atomic<int> others = 0;
  DoInStages(&team_, places_,
             {.begin =
                  [&](size_t place) {
                    threads[place] = std::this_thread::get_id();
                    return begun++ < 500;
                  },
              .stages = kStages,
              .go_on =
                  [&](size_t place, size_t) {
                    if (threads[place] != std::this_thread::get_id()) ++others;
                    return true;
                  }});
  EXPECT_EQ(begun, 501U);
  EXPECT_EQ(others, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, StagedWorkTest,
                         testing::Combine(testing::Values(0, 1, 2, 7), testing::Values(1, 2, 3)));

TEST(StagedWorkOfTwoTest, WhileAnItemWaitsItsThreadBeginsAnother) {
  Team team(1);
  std::atomic<int> begun = 0;
  std::vector<int> items(4);  // By place.
  std::vector<int> done;
  DoInStages(&team, items.size(),
             {.begin =
                  [&](size_t place) {
                    items[place] = begun;
                    begun = items[place] + 1;
                    begun.notify_all();
                    return items[place] < 10;
                  },
              .go_on =
                  [&](size_t place, size_t) {
                    // The other thread holds the second item, whose turn is after this.
                    for (int seen = begun; items[place] == 0 && seen < 3; seen = begun) {
                      begun.wait(seen);
                    }
                    done.push_back(items[place]);
                    return true;
                  }});
  EXPECT_EQ(done, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(StagedWorkOfTwoTest, AStageThatFailsForALaterItemFirstIsNotTheFirstFailure) {
  Team team(1);
  TwoItems items;
  // The first stage of the second item fails before the second of the first does.
  const StagedWork work = {.begin = [&](size_t place) { return items.Begin(place); },
                           .stages = 2,
                           .go_on =
                               [&](size_t place, size_t stage) {
                                 if (items.IsSecond(place)) items.FailSecond();
                                 if (stage == 0) return true;
                                 items.AwaitFailure();
                                 throw std::runtime_error("first");
                               }};
  EXPECT_EQ(ThrownBy([&] { DoInStages(&team, 2, work); }), "first");
}

TEST(StagedWorkOfTwoTest, WhatWasThrownForAnItemThatIsNotWantedIsDropped) {
  Team team(1);
  for (int i = 0; i < 200; ++i) {
    TwoItems items;
    int taken = 0;
    const StagedWork work = {.begin = [&](size_t place) { return items.Begin(place); },
                             .make =
                                 [&](size_t place) {
                                   if (items.IsSecond(place)) items.FailSecond();
                                 },
                             .go_on =
                                 [&](size_t, size_t) {
                                   items.AwaitFailure();
                                   ++taken;
                                   return false;
                                 }};
    EXPECT_EQ(ThrownBy([&] { DoInStages(&team, 2, work); }), "");
    EXPECT_EQ(taken, 1);
  }
}

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

class OrderedWorkTest : public testing::TestWithParam<size_t> {
 protected:
  static int MostAtOnce() { return static_cast<int>((GetParam() + 1) * kItemsOfThread); }
};

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
  EXPECT_EQ(ThrownBy(run), "50");
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
  EXPECT_LE(made, MostAtOnce());
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
  EXPECT_LE(next, 51 + MostAtOnce());
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
}  // namespace oplens::staged_work_test
