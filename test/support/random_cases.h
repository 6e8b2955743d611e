#ifndef OPLENS_TEST_SUPPORT_RANDOM_CASES_H_
#define OPLENS_TEST_SUPPORT_RANDOM_CASES_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace oplens::test {

// Checks of random cases by rapidcheck, without its headers, which are slow to compile.

/// Runs `one` on a hundred random cases, the first ones small. The running test fails at the first
/// case in which a Require() does not hold, or `one` throws; the numbers of a smaller such case are
/// printed.
void CheckRandomCases(const std::function<void()>& one);

/// Ends the case, as one that fails, unless `holds`. Only within CheckRandomCases().
void Require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// A number of the case from `begin` to `end` - 1; near to `begin` in the first cases.
int64_t AnyInt64(int64_t begin, int64_t end);
template <typename T>
T AnyIn(T begin, T end) {
  return static_cast<T>(AnyInt64(static_cast<int64_t>(begin), static_cast<int64_t>(end)));
}
/// A number of the case below `end`, any of them in all cases.
size_t AnyIndex(size_t end);
/// A number of the case; small in the first cases.
uint8_t AnyByte();
bool AnyBool();

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_RANDOM_CASES_H_
