#include "test/support/random_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

namespace oplens::test {

void CheckRandomCases(const std::function<void()>& one) { rc::detail::checkGTest(one); }

void Require(bool holds, const char* file, int line) {
  if (!holds) RC_FAIL(fmt::format("{}:{}: what is required does not hold", file, line));
}

int64_t AnyInt64(int64_t begin, int64_t end) { return *rc::gen::inRange<int64_t>(begin, end); }

size_t AnyIndex(size_t end) {
  std::vector<size_t> all(end);
  std::iota(all.begin(), all.end(), size_t{0});
  return *rc::gen::elementOf(all);
}

uint8_t AnyByte() { return *rc::gen::arbitrary<uint8_t>(); }
bool AnyBool() { return *rc::gen::arbitrary<bool>(); }

}  // namespace oplens::test
