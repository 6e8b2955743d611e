#ifndef OPLENS_BASE_SATURATING_H_
#define OPLENS_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace oplens {

/// a + b, or the largest value instead of wrapping: sums of times that a hostile file gives. Both
/// must not be negative.
constexpr int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

/// The same of numbers of any sign: the largest or the smallest value instead of wrapping.
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? Limits::min() : Limits::max();
}

/// a - b likewise.
constexpr int64_t SaturatingDifference(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? Limits::max() : Limits::min();
}

}  // namespace oplens

#endif  // OPLENS_BASE_SATURATING_H_
