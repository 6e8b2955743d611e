#include "record/text_ids.h"

#include <gtest/gtest.h>

#include <string>

namespace oplens::record::text_ids_test {
namespace {

TEST(TextIds, KeepsTheNumberOfEachText) {
  TextIds ids;
  constexpr int kCount = 50'000;
  // Lengths 1 to 16 and beyond, which the hash treats apart.
  const auto text_of = [](int i) {
    return std::to_string(i) + std::string(static_cast<size_t>(i % 40), 'x');
  };
  bool is_new = false;
  for (int i = 0; i < kCount; ++i) {
    ids.Get(text_of(i), &is_new) = i;
    EXPECT_TRUE(is_new) << i;
  }
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(ids.Get(text_of(i), &is_new), i);
    EXPECT_FALSE(is_new) << i;
  }
}

TEST(TextIds, TellsZeroBytesApart) {
  TextIds ids;
  bool is_new = false;
  for (size_t size = 0; size < 40; ++size) {
    ids.Get(std::string(size, '\0'), &is_new);
    EXPECT_TRUE(is_new) << size;
  }
}

}  // namespace
}  // namespace oplens::record::text_ids_test
