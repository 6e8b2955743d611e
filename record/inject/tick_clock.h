#ifndef OPLENS_RECORD_INJECT_TICK_CLOCK_H_
#define OPLENS_RECORD_INJECT_TICK_CLOCK_H_

#include <cstdint>

#include "record/inject/clock.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace oplens::record::inject {

/// Now() at half of its cost, for one thread: the processor's counter, which the system's clock is
/// made from, set by that clock every 2^22 ticks (1 to 2 ms). Differs from it by less than a
/// microsecond, by which it may step back. Zero-initialised memory is a clock that was not set yet.
class TickClock {
 public:
  int64_t Now() noexcept {
#ifdef __x86_64__
    const uint64_t passed = __rdtsc() - set_ticks_;
    if (__builtin_expect(passed < valid_ticks_, 1)) {
      return set_ns_ + static_cast<int64_t>(passed * scale_ >> 32);
    }
#endif
    return Set();
  }

 private:
  int64_t Set() noexcept;

  uint64_t set_ticks_;
  int64_t set_ns_;        ///< Since 1970.
  uint64_t valid_ticks_;  ///< 0: asks the system.
  uint64_t scale_;        ///< ns per 2^32 ticks.
};

/// Whether the system's clock is made from a counter of constant rate. Until this has been called
/// TickClock asks the system.
bool UseTicks() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_TICK_CLOCK_H_
