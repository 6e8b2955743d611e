#include "base/recent_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace oplens::recent_map_test {
namespace {

struct Mixed {
  uint64_t operator()(int64_t key) const {
    const uint64_t hash = static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
  }
};
/// All keys have one hash.
struct Alike {
  uint64_t operator()(int64_t) const { return 5; }
};

TEST(RecentMapTest, KeepsTheLastKeysAndForgetsOldOnes) {
  RecentMap<int64_t, int64_t, Mixed> map(1000);
  EXPECT_EQ(map.Find(7), nullptr);
  for (int64_t i = 0; i < 10000; ++i) {
    map[i] = i + 1;
    for (const int64_t back : {int64_t{0}, int64_t{1}, int64_t{999}}) {
      if (i < back) continue;
      ASSERT_NE(map.Find(i - back), nullptr);
      EXPECT_EQ(*map.Find(i - back), i - back + 1);
    }
    EXPECT_EQ(map.Find(i - 2000), nullptr);
  }
}

TEST(RecentMapTest, AKeyThatIsWrittenAgainKeepsItsValue) {
  RecentMap<int64_t, int64_t, Mixed> map(10);
  map[-1] = 5;
  for (int64_t i = 0; i < 1000; ++i) {
    map[i] = i;
    if (i % 5 == 0) {
      EXPECT_EQ(map[-1], 5);
    }
  }
}

RC_GTEST_PROP(RecentMapProperty, IsAMapWhileItHoldsAll,
              (const std::vector<std::pair<int8_t, uint64_t>>& writes)) {
  std::map<int64_t, uint64_t> expected;  // Sums that wrap: any two numbers may be added.
  RecentMap<int64_t, uint64_t, Mixed> map(256);
  RecentMap<int64_t, uint64_t, Alike> alike(256);
  for (const auto& [key, value] : writes) {
    expected[key] += value;
    map[key] += value;
    alike[key] += value;
  }
  for (int64_t key = -128; key < 128; ++key) {
    const auto place = expected.find(key);
    const bool there = place != expected.end();
    RC_ASSERT((map.Find(key) != nullptr) == there);
    RC_ASSERT((alike.Find(key) != nullptr) == there);
    if (there) RC_ASSERT(*map.Find(key) == place->second);
    if (there) RC_ASSERT(*alike.Find(key) == place->second);
  }
}

}  // namespace
}  // namespace oplens::recent_map_test
