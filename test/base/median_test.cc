#include "base/median.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace oplens::median_test {
namespace {

TEST(MedianTest, OfEvenAndOdd) {
  EXPECT_EQ(MedianOf({}), 0);
  EXPECT_EQ(MedianOf({7}), 7);
  EXPECT_EQ(MedianOf({3, 1, 2}), 2);
  EXPECT_EQ(MedianOf({4, 1, 3, 2}), 2.5);
}

TEST(MedianTest, TheLowerOfTwo) {
  EXPECT_EQ(LowerMedianOf(std::vector<int64_t>{7}), 7);
  EXPECT_EQ(LowerMedianOf(std::vector<int64_t>{9, 1, 5}), 5);
  EXPECT_EQ(LowerMedianOf(std::vector<int64_t>{4, 1, 3, 2}), 2);
  EXPECT_EQ(LowerMedianOf(std::vector<double>{0.5, 0.25}), 0.25);
}

}  // namespace
}  // namespace oplens::median_test
