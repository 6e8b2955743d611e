#include "base/text_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace oplens {
namespace {

TEST(HashTextTest, DependsOnEveryByteAndTheLength) {
  const std::string text(200, 'x');
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    EXPECT_NE(HashText(part), HashText(text)) << size;
    for (size_t i = 0; i < size; ++i) {
      std::string other(part);
      other[i] = 'y';
      EXPECT_NE(HashText(part), HashText(other)) << size << " byte " << i;
    }
  }
}

TEST(TextCacheTest, AnEntryIsMadeOnceAndKept) {
  TextCache<int> cache;
  bool is_new = false;
  for (int i = 0; i < 5000; ++i) {
    auto* entry = cache.Get(fmt::format("text {}", i), &is_new);
    EXPECT_TRUE(is_new);
    EXPECT_EQ(entry->value, 0);
    entry->value = i;
  }
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(cache.Get(fmt::format("text {}", i), &is_new)->value, i);
    EXPECT_FALSE(is_new);
  }
}

TEST(TextCacheTest, UsedEntriesOutliveAdvancesWithoutMoving) {
  TextCache<int> cache;
  bool is_new = false;
  auto* kept = cache.Get("kept", &is_new);
  auto* left = cache.Get("left", &is_new);
  kept->value = 1;
  left->value = 2;
  for (int i = 0; i < 5; ++i) {
    cache.Advance();
    EXPECT_EQ(cache.Get("kept", &is_new), kept);
    EXPECT_FALSE(is_new);
  }
  EXPECT_EQ(kept->value, 1);
  EXPECT_EQ(cache.Get("left", &is_new)->value, 0) << "forgotten, so made anew";
  EXPECT_TRUE(is_new);
}

TEST(TextCacheTest, MemoryIsCountedAndGivenBack) {
  TextCache<int> cache;
  bool is_new = false;
  cache.Get(std::string(100000, 'a'), &is_new);
  EXPECT_GE(cache.young_bytes(), 100000u);
  cache.Advance();
  EXPECT_EQ(cache.young_bytes(), 0u);
  cache.Get(std::string(100000, 'a'), &is_new);
  EXPECT_GE(cache.young_bytes(), 100000u) << "asked for again, so young again";
}

RC_GTEST_PROP(TextCacheTest, EqualTextsShareAnEntry, (std::string a, std::string b)) {
  TextCache<int> cache;
  bool is_new = false;
  const auto* first = cache.Get(a, &is_new);
  const auto* second = cache.Get(b, &is_new);
  RC_ASSERT((first == second) == (a == b));
}

}  // namespace
}  // namespace oplens
