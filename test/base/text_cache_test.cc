#include "base/text_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace oplens::text_cache_test {
namespace {

constexpr size_t kMuch = size_t{1} << 30;

TEST(TextCacheTest, AnEntryIsMadeOnceAndKept) {
  Epochs epochs;
  TextCache<int> cache(&epochs, kMuch);
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

// Asks for texts of no use until a generation ends.
void EndGeneration(TextCache<int>* cache) {
  static int count = 0;
  bool is_new = false;
  for (const int64_t generation = cache->generation(); cache->generation() == generation;) {
    cache->Get(fmt::format("useless {}", ++count), &is_new);
  }
}

TEST(TextCacheTest, UsedEntriesOutliveGenerationsWithoutMoving) {
  Epochs epochs;
  TextCache<int> cache(&epochs, 1000);
  bool is_new = false;
  auto* kept = cache.Get("kept", &is_new);
  auto* left = cache.Get("left", &is_new);
  const int64_t left_id = left->id;
  kept->value = 1;
  left->value = 2;
  for (int i = 0; i < 5; ++i) {
    EndGeneration(&cache);
    EXPECT_EQ(cache.Get("kept", &is_new), kept);
    EXPECT_FALSE(is_new);
  }
  EXPECT_EQ(kept->value, 1);
  left = cache.Get("left", &is_new);
  EXPECT_TRUE(is_new) << "forgotten, so made anew";
  EXPECT_EQ(left->value, 0);
  EXPECT_NE(left->id, left_id);
}

TEST(TextCacheTest, AnEntryOfTheLastGenerationIsStillThere) {
  Epochs epochs;
  TextCache<int> cache(&epochs, 1000);
  bool is_new = false;
  cache.Get("text", &is_new)->value = 7;
  EndGeneration(&cache);
  EXPECT_EQ(cache.Get("text", &is_new)->value, 7);
  EXPECT_FALSE(is_new);
}

TEST(TextCacheTest, APinKeepsWhatWasForgotten) {
  Epochs epochs;
  TextCache<int> cache(&epochs, 1000);
  const Epochs::Pin pin = epochs.Current();
  bool is_new = false;
  const auto* entry = cache.Get("a text that is too long to be held in place", &is_new);
  for (int i = 0; i < 5; ++i) EndGeneration(&cache);
  EXPECT_EQ(entry->text, "a text that is too long to be held in place");
}

TEST(TextCacheTest, HugeTextsEndGenerations) {
  Epochs epochs;
  TextCache<int> cache(&epochs, 1000);
  bool is_new = false;
  for (int i = 0; i < 100; ++i) cache.Get(std::string(100000, static_cast<char>(i)), &is_new);
  EXPECT_EQ(cache.generation(), 99);
}

RC_GTEST_PROP(TextCacheTest, EqualTextsShareAnEntry, (std::string a, std::string b)) {
  Epochs epochs;
  TextCache<int> cache(&epochs, kMuch);
  bool is_new = false;
  const auto* first = cache.Get(a, &is_new);
  const auto* second = cache.Get(b, &is_new);
  RC_ASSERT((first == second) == (a == b));
  RC_ASSERT((first->id == second->id) == (a == b));
}

}  // namespace
}  // namespace oplens::text_cache_test
