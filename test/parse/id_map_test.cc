#include "base/id_map.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace oplens::id_map_test {
namespace {

TEST(IdMap, BehavesAsAMapUnderInsertAndErase) {
  rc::check([] {
    const auto steps = *rc::gen::container<std::vector<std::pair<bool, uint8_t>>>(
        rc::gen::arbitrary<std::pair<bool, uint8_t>>());
    IdMap map;
    std::unordered_map<int64_t, uint32_t> reference;
    uint32_t value = 0;
    for (const auto& [insert, small] : steps) {
      // Few ids, far apart: runs of colliding slots come and go.
      const int64_t id = (int64_t{small} % 32) * (int64_t{1} << 40) - 7;
      if (insert) {
        const auto it = reference.try_emplace(id, value).first;
        RC_ASSERT(map.FindOrInsert(id, value) == it->second);
        ++value;
      } else {
        const auto it = reference.find(id);
        RC_ASSERT(map.Erase(id) == (it == reference.end() ? IdMap::kNone : it->second));
        if (it != reference.end()) reference.erase(it);
      }
      RC_ASSERT(map.size() == reference.size());
    }
    for (const auto& [id, stored] : reference) RC_ASSERT(map.Find(id) == stored);
  });
}

TEST(IdMap, ExtremeIds) {
  IdMap map;
  EXPECT_EQ(map.Find(0), IdMap::kNone);
  EXPECT_EQ(map.Erase(0), IdMap::kNone);
  map.FindOrInsert(INT64_MIN, 1);
  map.FindOrInsert(INT64_MAX, 2);
  map.FindOrInsert(0, 3);
  EXPECT_EQ(map.Find(INT64_MIN), 1u);
  EXPECT_EQ(map.Find(INT64_MAX), 2u);
  EXPECT_EQ(map.Find(0), 3u);
  EXPECT_EQ(map.Find(-1), IdMap::kNone);
}

}  // namespace
}  // namespace oplens::id_map_test
