#ifndef OPLENS_RECORD_INJECT_CLOCK_H_
#define OPLENS_RECORD_INJECT_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace oplens::record::inject {

/// Add this to CLOCK_MONOTONIC to get the time since 1970. `record` sets one value for all
/// processes of a recording, before the first event.
extern int64_t g_clock_offset_ns;

inline int64_t MonotonicNow() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The common clock of markers and activity: ns since 1970, unaffected by changes of the system
/// time.
inline int64_t Now() noexcept { return MonotonicNow() + g_clock_offset_ns; }

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_CLOCK_H_
