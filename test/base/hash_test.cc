#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace oplens::hash_test {
namespace {

TEST(HashTest, OfFilesStaysWhatItIs) {
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(StableHash("foobar"), 0x85944171f73967e8u);
}

TEST(HashTest, NumbersMixInOrder) {
  std::set<uint64_t> seen;
  for (int64_t a = -8; a < 8; ++a) {
    for (int64_t b = -8; b < 8; ++b) seen.insert(MixHash(MixHash(0, a), b));
  }
  EXPECT_EQ(seen.size(), 256u);
}

TEST(HashTest, ProductsFold) {
  EXPECT_EQ(FoldedProduct(3, 5), 15u);
  EXPECT_EQ(FoldedProduct(UINT64_MAX, 2), 1u ^ (UINT64_MAX - 1));
}

TEST(HashTest, OfTextsDependsOnEveryByteAndTheLength) {
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

TEST(HashTest, AMapFindsViews) {
  TextMap<int> map;
  map.emplace("one", 1);
  EXPECT_EQ(map.find(std::string_view("one"))->second, 1);
  EXPECT_EQ(map.find(std::string_view("two")), map.end());
}

}  // namespace
}  // namespace oplens::hash_test
