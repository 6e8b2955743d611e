#include "base/id_numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace oplens::id_numbers_test {
namespace {

TEST(IdNumbers, InTheOrderOfFirstMeeting) {
  IdNumbers numbers;
  EXPECT_EQ(numbers.Find(0), IdNumbers::kNone);
  EXPECT_EQ(numbers.Of(70), 0u);
  EXPECT_EQ(numbers.Of(0), 1u);
  EXPECT_EQ(numbers.Of(0), 1u);
  EXPECT_EQ(numbers.Of(70), 0u);
  EXPECT_EQ(numbers.Of(INT64_MIN), 2u);
  EXPECT_EQ(numbers.Find(0), 1u);
  EXPECT_EQ(numbers.Find(1), IdNumbers::kNone);
  EXPECT_EQ(numbers.ids(), (std::vector<int64_t>{70, 0, INT64_MIN}));
}

}  // namespace
}  // namespace oplens::id_numbers_test
