#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oplens::prof {

/// Two clocks' difference at one moment.
struct ClockLag {
  int64_t time_ns = 0;  ///< By the first clock.
  int64_t lag_ns = 0;
};

/// How far one clock is ahead of another, at any time.
struct ClockFit {
  int64_t time_ns = 0;    ///< By this clock,
  int64_t offset_ns = 0;  ///< at which it is this far ahead.
  double drift = 0;       ///< Further lead per ns of this clock.
  size_t count = 0;       ///< Moments that the fit is based on.

  int64_t At(int64_t at_ns) const;
};

/// Fits moments of which less than half are wrong. Without drift the fit is their median (the lower
/// of two). It has a drift only if there are at least 16 moments, the drift halves their median
/// distance, and it is at most 1,000 ppm, as of real clocks. O(n log n).
ClockFit FitClock(std::vector<ClockLag> lags);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_CLOCK_FIT_H_
