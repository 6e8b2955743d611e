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

}  // namespace oplens

#endif  // OPLENS_BASE_SATURATING_H_
