#include "base/id_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>

#include "test/support/random_cases.h"

namespace oplens::id_map_test {
namespace {

using test::AnyBool;
using test::AnyByte;
using test::AnyIn;
using test::Require;

TEST(IdMap, BehavesAsAMapUnderInsertAndErase) {
  test::CheckRandomCases([] {
    IdMap map;
    std::unordered_map<int64_t, uint32_t> reference;
    uint32_t value = 0;
    for (int steps = AnyIn(0, 101); steps > 0; --steps) {
      if (AnyIn(0, 10) == 0) map.Reserve(AnyByte());
      const bool insert = AnyBool();
      // Few ids, far apart: runs of colliding slots come and go.
      const int64_t id = (int64_t{AnyByte()} % 32) * (int64_t{1} << 40) - 7;
      if (insert) {
        const auto it = reference.try_emplace(id, value).first;
        Require(map.FindOrInsert(id, value) == it->second);
        ++value;
      } else {
        const auto it = reference.find(id);
        Require(map.Erase(id) == (it == reference.end() ? IdMap::kNone : it->second));
        if (it != reference.end()) reference.erase(it);
      }
      Require(map.size() == reference.size());
    }
    for (const auto& [id, stored] : reference) Require(map.Find(id) == stored);
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
