#include "base/id_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace oplens::id_pages_test {
namespace {

/// Ids close to each other, with others far from them.
int64_t SomeId(std::mt19937_64* random) {
  const auto near = static_cast<int64_t>((*random)() % 300) - 150;
  return (*random)() % 4 == 0 ? static_cast<int64_t>((*random)()) : near;
}

TEST(IdPages, IsAMap) {
  std::mt19937_64 random(1);
  IdPages pages;
  std::map<int64_t, uint32_t> map;
  for (uint32_t i = 0; i < 20000; ++i) {
    const int64_t id = SomeId(&random);
    const auto stored = map.find(id);
    ASSERT_EQ(pages.Find(id), stored == map.end() ? IdPages::kNone : stored->second) << id;
    if (i % 3 != 0) continue;
    ASSERT_EQ(pages.FindOrInsert(id, i), map.try_emplace(id, i).first->second);
  }
  for (const auto& [id, value] : map) ASSERT_EQ(pages.Find(id), value);
}

TEST(IdPages, TakesTheExtremes) {
  IdPages pages;
  for (const int64_t id : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                           std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(pages.Find(id), IdPages::kNone);
    EXPECT_EQ(pages.FindOrInsert(id, 7), 7u);
    EXPECT_EQ(pages.FindOrInsert(id, 8), 7u);
  }
  EXPECT_EQ(pages.Find(1), IdPages::kNone);
}

TEST(IdBits, IsASet) {
  std::mt19937_64 random(2);
  IdBits bits;
  std::set<int64_t> set;
  for (int i = 0; i < 20000; ++i) {
    const int64_t id = SomeId(&random);
    ASSERT_EQ(bits.Insert(id), set.insert(id).second) << id;
  }
}

}  // namespace
}  // namespace oplens::id_pages_test
