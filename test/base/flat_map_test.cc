#include "base/flat_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace oplens::flat_map_test {
namespace {

struct Mixed {
  uint64_t operator()(int64_t key) const { return SpreadBits(static_cast<uint64_t>(key)); }
};
/// All keys have one hash.
struct Alike {
  uint64_t operator()(int64_t) const { return 5; }
};

TEST(FlatMapTest, AKeyThatIsThereKeepsItsValue) {
  FlatMap<int64_t, int64_t, Mixed> map;
  EXPECT_EQ(map.Find(7), nullptr);
  const auto [first, is_new] = map.TryEmplace(7, 70);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(first, 70);
  const auto [again, is_new_again] = map.TryEmplace(7, 71);
  EXPECT_FALSE(is_new_again);
  EXPECT_EQ(again, 70);
  again = 72;
  EXPECT_EQ(map[7], 72);
  EXPECT_EQ(map[8], 0);
  EXPECT_EQ(map.size(), 2);
}

template <typename Hash>
void ExpectsAMap(const std::vector<std::pair<int16_t, uint64_t>>& writes) {
  std::map<int64_t, uint64_t> expected;  // Sums that wrap: any two numbers may be added.
  FlatMap<int64_t, uint64_t, Hash> map;
  for (const auto& [key, value] : writes) {
    expected[key] += value;
    map[key] += value;
  }
  RC_ASSERT(map.size() == expected.size());
  for (const auto& [key, value] : expected) {
    RC_ASSERT(map.Find(key) != nullptr);
    RC_ASSERT(*map.Find(key) == value);
    RC_ASSERT((map.Find(key + 1) != nullptr) == expected.contains(key + 1));
  }
}

RC_GTEST_PROP(FlatMapProperty, IsAMap, (const std::vector<std::pair<int16_t, uint64_t>>& writes)) {
  ExpectsAMap<Mixed>(writes);
  ExpectsAMap<Alike>(writes);
}

}  // namespace
}  // namespace oplens::flat_map_test
