#include "base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace oplens::checked_test {
namespace {

TEST(Checked, CountsExactly) {
  EXPECT_EQ((Checked(2) * 3 + 4 - 1).Value(), 9);
  EXPECT_EQ((Checked(-7) / 2).Value(), -3);  // Towards zero.
  EXPECT_EQ(Checked().Value(), 0);
  Checked sum = 5;
  sum += 6;
  sum *= -2;
  EXPECT_EQ(sum.Value(), -22);
}

TEST(Checked, HoldsTheLimits) {
  EXPECT_EQ(Checked(INT64_MAX).Value(), INT64_MAX);
  EXPECT_EQ(Checked(INT64_MIN).Value(), INT64_MIN);
  EXPECT_EQ((Checked(INT64_MAX) + 1).Value(), std::nullopt);
  EXPECT_EQ((Checked(INT64_MIN) - 1).Value(), std::nullopt);
  EXPECT_EQ((Checked(INT64_MIN) * -1).Value(), std::nullopt);
  EXPECT_EQ((Checked(INT64_MIN) / -1).Value(), std::nullopt);
}

TEST(Checked, MayExceed64BitsOnTheWay) {
  EXPECT_EQ((Checked(INT64_MAX) * INT64_MAX / INT64_MAX).Value(), INT64_MAX);
  EXPECT_EQ((Checked(INT64_MAX) + 1 - 1).Value(), INT64_MAX);
}

TEST(Checked, OverflowOf128BitsSticks) {
  const Checked large = Checked(INT64_MAX) * INT64_MAX;
  Checked overflow = large * 5;
  EXPECT_EQ(overflow.Value(), std::nullopt);
  EXPECT_EQ((overflow * 0).Value(), std::nullopt);
  EXPECT_EQ((overflow - overflow).Value(), std::nullopt);
  EXPECT_EQ((overflow / 1000).Value(), std::nullopt);
  EXPECT_EQ((1 + overflow).Value(), std::nullopt);
  Checked sum = large;
  for (int i = 0; i < 3; ++i) sum += large;
  EXPECT_EQ(sum.Value(), std::nullopt);
  EXPECT_EQ((sum - sum).Value(), std::nullopt);
}

TEST(Checked, DivisionByZeroIsAnOverflow) {
  EXPECT_EQ((Checked(1) / 0).Value(), std::nullopt);
  EXPECT_EQ((Checked(0) / 0).Value(), std::nullopt);
}

TEST(Checked, ComparesValuesAndOverflows) {
  EXPECT_TRUE(Checked(3) == Checked(1) + 2);
  EXPECT_FALSE(Checked(3) == Checked(4));
  EXPECT_FALSE(Checked(0) == Checked(0) / 0);
}

}  // namespace
}  // namespace oplens::checked_test
