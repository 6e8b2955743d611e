#ifndef OPLENS_BASE_SATURATING_H_
#define OPLENS_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

// Arithmetic for times from hostile files: results that do not fit become the nearest value that
// does.

namespace oplens {

constexpr int64_t SaturatingSum(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? Limits::min() : Limits::max();
}
constexpr void SaturatingAdd(int64_t* sum, int64_t value) { *sum = SaturatingSum(*sum, value); }

constexpr int64_t SaturatingDifference(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? Limits::max() : Limits::min();
}

constexpr int64_t SaturatingProduct(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? Limits::max() : Limits::min();
}

}  // namespace oplens

#endif  // OPLENS_BASE_SATURATING_H_
