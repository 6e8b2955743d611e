#include "base/entry_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace oplens::entry_index_test {
namespace {

/// A list whose entries are found by their text; `bits`: of the hash, few of which collide.
class Texts {
 public:
  explicit Texts(uint64_t bits) : bits_(bits) {}

  uint32_t NumberOf(const std::string& text) {
    const auto hash_of = [this](const std::string& one) {
      return std::hash<std::string>{}(one)&bits_;
    };
    const uint32_t found =
        index_.Find(hash_of(text), [&](uint32_t one) { return texts_[one] == text; });
    if (found != EntryIndex::kNone) return found;
    const auto number = static_cast<uint32_t>(texts_.size());
    index_.Add(hash_of(text), number);
    texts_.push_back(text);
    return number;
  }

 private:
  uint64_t bits_;
  std::vector<std::string> texts_;
  EntryIndex index_;
};

TEST(EntryIndexTest, FindsWhatWasAddedWhateverTheHash) {
  for (const uint64_t bits : {UINT64_MAX, uint64_t{7}, uint64_t{0}}) {
    Texts texts(bits);
    for (int pass = 0; pass < 2; ++pass) {
      for (uint32_t i = 0; i < 500; ++i) {
        ASSERT_EQ(texts.NumberOf(std::to_string(i * 37)), i) << bits;
      }
    }
  }
}

TEST(EntryIndexTest, AnEmptyOneFindsNothing) {
  EXPECT_EQ(EntryIndex().Find(5, [](uint32_t) { return true; }), EntryIndex::kNone);
}

}  // namespace
}  // namespace oplens::entry_index_test
