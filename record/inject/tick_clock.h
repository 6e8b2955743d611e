#ifndef OPLENS_RECORD_INJECT_TICK_CLOCK_H_
#define OPLENS_RECORD_INJECT_TICK_CLOCK_H_

#include <cstdint>

#include "nvtx_annotate/vocabulary/direct_calls.h"

namespace oplens::record::inject {

// Now() at half of its cost, for one thread: the processor's counter, which the system's clock is
// made from, set by that clock every 2^22 ticks (1 to 2 ms). Differs from it by less than a
// microsecond, by which it may step back. A zero-initialised clock was not set yet.

/// Sets the clock; returns the time. `valid_ticks` stays 0 where the counter cannot be used.
int64_t SetClock(markers::DirectClock* clock) noexcept;

/// Whether the system's clock is made from a counter of constant rate. Until this has been called
/// clocks ask the system.
bool UseTicks() noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_TICK_CLOCK_H_
