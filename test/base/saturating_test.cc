#include "base/saturating.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace oplens::saturating_test {
namespace {

constexpr int64_t kMost = INT64_MAX;
constexpr int64_t kLeast = INT64_MIN;

TEST(SaturatingTest, Sum) {
  EXPECT_EQ(SaturatingSum(2, -3), -1);
  EXPECT_EQ(SaturatingSum(kMost, -1), kMost - 1);
  EXPECT_EQ(SaturatingSum(kMost, 1), kMost);
  EXPECT_EQ(SaturatingSum(1, kMost), kMost);
  EXPECT_EQ(SaturatingSum(kLeast, -1), kLeast);
  EXPECT_EQ(SaturatingSum(kLeast, kMost), -1);
}

TEST(SaturatingTest, AddStays) {
  int64_t sum = kMost - 1;
  for (int i = 0; i < 3; ++i) SaturatingAdd(&sum, 1);
  EXPECT_EQ(sum, kMost);
}

TEST(SaturatingTest, Difference) {
  EXPECT_EQ(SaturatingDifference(2, 3), -1);
  EXPECT_EQ(SaturatingDifference(kMost, -1), kMost);
  EXPECT_EQ(SaturatingDifference(0, kLeast), kMost);
  EXPECT_EQ(SaturatingDifference(kLeast, 1), kLeast);
}

TEST(SaturatingTest, Product) {
  EXPECT_EQ(SaturatingProduct(-2, 3), -6);
  EXPECT_EQ(SaturatingProduct(kMost, 2), kMost);
  EXPECT_EQ(SaturatingProduct(kLeast, -1), kMost);
  EXPECT_EQ(SaturatingProduct(kMost, -2), kLeast);
  EXPECT_EQ(SaturatingProduct(0, kLeast), 0);
}

}  // namespace
}  // namespace oplens::saturating_test
