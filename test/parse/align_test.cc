#include "parse/join/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "test/support/random_cases.h"

namespace oplens::parse::align_test {
namespace {

using Keys = std::vector<uint64_t>;

size_t CountOf(const std::vector<uint32_t>& partners) {
  return partners.size() -
         static_cast<size_t>(std::count(partners.begin(), partners.end(), kUnaligned));
}

/// Partners are alike and in the order of both.
void ExpectSound(const Keys& own, const Keys& other, const std::vector<uint32_t>& partners) {
  ASSERT_EQ(partners.size(), own.size());
  int64_t last = -1;
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] == kUnaligned) continue;
    ASSERT_LT(partners[i], other.size());
    ASSERT_EQ(own[i], other[partners[i]]);
    ASSERT_GT(int64_t{partners[i]}, last);
    last = partners[i];
  }
}

size_t LongestCommon(const Keys& a, const Keys& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

TEST(AlignTest, LongestCommonSubsequence) {
  test::CheckRandomCases([] {
    Keys own(test::AnyIn<size_t>(0, 101));
    Keys other(test::AnyIn<size_t>(0, 101));
    for (uint64_t& key : own) key = test::AnyByte() % 4;
    for (uint64_t& key : other) key = test::AnyByte() % 4;
    if (own.size() + other.size() > kMaxEdits) return;
    const std::vector<uint32_t> partners = Align(own, other, AlignEnds::kBoth);
    ExpectSound(own, other, partners);
    test::Require(CountOf(partners) == LongestCommon(own, other));
  });
}

TEST(AlignTest, TheTailOfTheOtherIsFree) {
  const Keys own = {1, 2, 3};
  const Keys other = {1, 9, 2, 3, 4, 5, 6, 1, 2, 3};
  EXPECT_EQ(Align(own, other, AlignEnds::kTailFree), (std::vector<uint32_t>{0, 2, 3}));
}

TEST(AlignTest, Empty) {
  EXPECT_TRUE(Align({}, Keys{1}, AlignEnds::kBoth).empty());
  EXPECT_EQ(Align(Keys{1}, {}, AlignEnds::kTailFree), std::vector<uint32_t>{kUnaligned});
}

TEST(AlignTest, AnchorsWhereMoreEditsAreNeeded) {
  std::mt19937 random(5);
  Keys own(20000);
  for (uint64_t& key : own) key = random() % 1000;
  Keys other = own;
  // 40 stretches of 30 that only one side has.
  for (size_t i = 0; i < 40; ++i) {
    const Keys inserted(30, 5000 + i);
    other.insert(other.begin() + static_cast<std::ptrdiff_t>(i * 500), inserted.begin(),
                 inserted.end());
  }
  const std::vector<uint32_t> partners = Align(own, other, AlignEnds::kBoth);
  ExpectSound(own, other, partners);
  EXPECT_GT(CountOf(partners), own.size() * 99 / 100);
}

TEST(AlignTest, NothingInCommon) {
  const Keys own(5000, 1);
  const Keys other(5000, 2);
  EXPECT_EQ(CountOf(Align(own, other, AlignEnds::kBoth)), 0u);
}

}  // namespace
}  // namespace oplens::parse::align_test
