#ifndef OPLENS_RECORD_INJECT_TICK_CLOCK_H_
#define OPLENS_RECORD_INJECT_TICK_CLOCK_H_

#include <cstdint>

#include "record/inject/clock.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace oplens::record::inject {

/// MonotonicNow() at half of its cost, for one thread: the processor's counter, which the system's
/// clock is made from, set by that clock every 2^22 ticks (1 to 2 ms). Differs from it by less than
/// a microsecond, and never steps back: ranges stay nested. Zero-initialised memory is a clock that
/// was not set yet.
class TickClock {
 public:
  int64_t MonotonicNow() noexcept { return NotBefore(Reading()); }
  int64_t Now() noexcept { return MonotonicNow() + g_clock_offset_ns; }
  /// Now() for those who see to it themselves that it does not step back.
  int64_t RoughNow() noexcept { return Reading() + g_clock_offset_ns; }

 private:
  int64_t Reading() noexcept {
#ifdef __x86_64__
    const uint64_t passed = __rdtsc() - set_ticks_;
    if (__builtin_expect(passed < valid_ticks_, 1)) {
      return set_ns_ + static_cast<int64_t>(passed * scale_ >> 32);
    }
#endif
    return Set();
  }
  int64_t Set() noexcept;
  int64_t NotBefore(int64_t now_ns) noexcept {
    if (now_ns > last_ns_) last_ns_ = now_ns;
    return last_ns_;
  }

  uint64_t set_ticks_;
  int64_t set_ns_;
  uint64_t valid_ticks_;  ///< 0: asks the system.
  uint64_t scale_;        ///< ns per 2^32 ticks.
  int64_t last_ns_;       ///< What it said last.
};

/// Whether the system's clock is made from a counter of constant rate. Until this has been called
/// TickClock asks the system.
bool UseTicks() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_TICK_CLOCK_H_
