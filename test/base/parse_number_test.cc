#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace oplens::parse_number_test {
namespace {

TEST(ParseNumberTest, TheWholeText) {
  int64_t number = 0;
  EXPECT_TRUE(ParseNumber("-12", &number));
  EXPECT_EQ(number, -12);
  double fraction = 0;
  EXPECT_TRUE(ParseNumber("1e3", &fraction));
  EXPECT_EQ(fraction, 1000);
}

TEST(ParseNumberTest, OtherTextsLeaveTheNumber) {
  int64_t number = 7;
  for (const std::string_view text :
       {"", " 1", "1 ", "+1", "1.5", "x", "-", "9223372036854775808", "0x10"}) {
    EXPECT_FALSE(ParseNumber(text, &number)) << text;
    EXPECT_EQ(number, 7) << text;
  }
}

}  // namespace
}  // namespace oplens::parse_number_test
