#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oplens::prof {

/// How much later by one clock than by another the same moment was.
struct ClockLag {
  int64_t time_ns = 0;  ///< By the one.
  int64_t lag_ns = 0;
};

/// How far a clock is ahead of another, at any time.
struct ClockFit {
  int64_t time_ns = 0;    ///< By this clock,
  int64_t offset_ns = 0;  ///< at which it is so far ahead.
  double drift = 0;       ///< How much more it is ahead for each ns of it.
  size_t count = 0;       ///< Moments that it is found by.

  int64_t At(int64_t at_ns) const;
};

/// The fit of moments of which less than half are wrong. Without a drift that is the median (the
/// lower of two); it has one where 16 moments and more lie half as far from it in the median, and
/// none where that is more than a clock does (1,000 ppm). O(n log n).
ClockFit FitClock(std::vector<ClockLag> lags);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_
