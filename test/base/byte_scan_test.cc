#include "base/byte_scan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace oplens {
namespace {

/// Whether one of the bytes that are handed on is `wanted`.
bool Finds(const std::string& text, unsigned char wanted) {
  SixteenAnswers found{};
  ForEachSixteenBytes(text, [&](SixteenBytes bytes) { found |= bytes == wanted; });
  return AnyOf(found);
}

TEST(ForEachSixteenBytes, HandsOnEachByteAndNoOther) {
  for (size_t size = 0; size < 70; ++size) {
    // Bytes that are not the text's stand before and after it.
    const std::string around(size + 40, '!');
    for (size_t at = 0; at < size; ++at) {
      std::string text = around;
      text.replace(20, size, size, 'a');
      text[20 + at] = '\xFE';
      const std::string own = text.substr(20, size);
      EXPECT_TRUE(Finds(own, 0xFE)) << at << " of " << size;
      EXPECT_EQ(Finds(own, 'a'), size > 1) << size;
      SixteenAnswers other{};
      ForEachSixteenBytes(std::string_view(text).substr(20, size),
                          [&](SixteenBytes bytes) { other |= bytes == '!'; });
      EXPECT_FALSE(AnyOf(other)) << size;
    }
  }
  EXPECT_FALSE(Finds("", 0));
}

}  // namespace
}  // namespace oplens
