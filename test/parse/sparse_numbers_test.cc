#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "parse/join/forward_backward.h"

namespace oplens::parse::sparse_numbers_test {
namespace {

TEST(SparseNumbers, NoneHasNoNumber) {
  EXPECT_EQ(SparseNumbers().Of(0), 0u);
  EXPECT_EQ(SparseNumbers(0, {}).Of(0), 0u);
}

TEST(SparseNumbers, AreThoseThatWereGiven) {
  std::minstd_rand random(3);
  for (const size_t ranges : {1u, 63u, 64u, 65u, 1000u}) {
    std::map<uint32_t, uint32_t> expected;
    std::vector<std::pair<uint32_t, uint32_t>> given;
    for (uint32_t i = 0; i < ranges / 3 + 1; ++i) {
      const auto range = static_cast<uint32_t>(random() % ranges);
      given.emplace_back(range, i + 1);
      expected.try_emplace(range, i + 1);
    }
    const SparseNumbers numbers(ranges, given);
    for (uint32_t i = 0; i < ranges; ++i) {
      EXPECT_EQ(numbers.Of(i), expected.count(i) == 0 ? 0 : expected[i]) << i;
    }
  }
}

}  // namespace
}  // namespace oplens::parse::sparse_numbers_test
