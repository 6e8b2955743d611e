#include <gtest/gtest.h>

#include <vector>

#include "prof/price/group_instances.h"

namespace oplens::prof::given_work_test {
namespace {

CallKey Key(int64_t number) {
  CallKey key;
  key.number = number;
  key.what = 1;
  return key;
}

// A product of so many FLOPs, with a bias.
Annotation Linear(int64_t id, int64_t flops) {
  Annotation annotation;
  annotation.id = id;
  annotation.price.emplace();
  annotation.price->matmul_like = true;
  annotation.price->forward = {{ops::Part::kForward, {flops, 6, 10}}};
  return annotation;
}

TEST(GivenWorkTest, SpentCallsStaySoForAWhile) {
  GivenWork given;
  EXPECT_FALSE(given.IsSpent(Key(0)));
  for (int64_t i = 0; i < 100000; ++i) given.Spend(Key(i));
  EXPECT_TRUE(given.IsSpent(Key(99999)));
  EXPECT_TRUE(given.IsSpent(Key(99999 - 32767)));
  EXPECT_FALSE(given.IsSpent(Key(0)));
  EXPECT_FALSE(given.CoveredOf(Key(99999)).main);
}

TEST(GivenWorkTest, KeysOfOtherKindsAreOtherCalls) {
  GivenWork given;
  given.Spend(Key(5));
  CallKey other = Key(5);
  other.by = CallKey::By::kNode;
  EXPECT_FALSE(given.IsSpent(other));
  other = Key(5);
  other.what = 2;
  EXPECT_FALSE(given.IsSpent(other));
}

TEST(GivenWorkTest, WhatACallDoesOfTheOneAroundIt) {
  GivenWork given;
  const Annotation inner = Linear(1, 1000);
  const Annotation around = Linear(2, 1000);
  const std::vector<OuterCall> outer = {{&around, 40}, {&inner, 50}};
  WaitingRow row;
  row.resolution.priced = &inner;
  row.outer = outer;
  given.Cover(row, Key(50));
  CallKey key = Key(40);
  key.what = 2;
  EXPECT_TRUE(given.CoveredOf(key).main);
  EXPECT_FALSE(given.IsSpent(key));
  EXPECT_FALSE(given.CoveredOf(Key(50)).main) << "itself";
  given.Spend(key);
  EXPECT_TRUE(given.CoveredOf(key).main);
}

}  // namespace
}  // namespace oplens::prof::given_work_test
