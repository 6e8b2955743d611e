#include "base/ratio.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace oplens::ratio_test {
namespace {

TEST(RatioTest, OfNumbers) {
  EXPECT_EQ(Ratio(int64_t{1}, int64_t{4}), 0.25);
  EXPECT_EQ(Ratio(3.0, 2.0), 1.5);
  EXPECT_EQ(Ratio(int64_t{3000}, int64_t{2}, 1e-3), 1e-3 * 3000.0 / 2.0);
  EXPECT_EQ(Percent(int64_t{1}, int64_t{3}), 100.0 * 1.0 / 3.0);
  EXPECT_EQ(Percent(-1.0, 2.0), -50);
}

TEST(RatioTest, OfNothingIsUnknown) {
  EXPECT_EQ(Ratio(int64_t{1}, int64_t{0}), std::nullopt);
  EXPECT_EQ(Ratio(1.0, -2.0), std::nullopt);
  EXPECT_EQ(Percent(int64_t{0}, int64_t{0}), std::nullopt);
}

}  // namespace
}  // namespace oplens::ratio_test
