#include "record/inject/tick_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "record/inject/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace oplens::record::inject {
namespace {

#ifdef __x86_64__

constexpr uint64_t kValidTicks = uint64_t{1} << 22;
/// Over this time the rate is measured: two readings that are 50 ns off make it wrong by 2 in a
/// million.
constexpr int64_t kRateNs = 50'000'000;
/// Readings that took longer than this were interrupted.
constexpr uint64_t kQuickTicks = 1000;

/// The same moment on both clocks.
struct Moment {
  uint64_t ticks;
  int64_t ns;
  bool quick;  ///< The two are less than kQuickTicks apart.
};

// The first moment, from which the rate is measured. Written once, before g_use.
Moment g_first;
std::atomic<bool> g_use{false};
std::atomic<uint64_t> g_scale{0};  ///< ns per 2^32 ticks; 0: not known yet.

Moment Read() noexcept {
  Moment moment = {};
  for (int i = 0; i < 3 && !moment.quick; ++i) {
    const uint64_t before = __rdtsc();
    moment.ns = MonotonicNow();
    const uint64_t passed = __rdtsc() - before;
    moment.ticks = before + passed / 2;
    moment.quick = passed < kQuickTicks;
  }
  return moment;
}

/// Whether the counter runs at one rate, in sleep states too.
bool HasConstantRate() noexcept {
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantBit = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
}

bool SystemUsesCounter() noexcept {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[4] = {};
  const ssize_t size = read(file, name, sizeof name);
  close(file);
  return size == sizeof name && std::memcmp(name, "tsc\n", sizeof name) == 0;
}

uint64_t ScaleAt(const Moment& moment) noexcept {
  uint64_t scale = g_scale.load(std::memory_order_relaxed);
  if (scale != 0 || !moment.quick) return scale;
  const int64_t ns = moment.ns - g_first.ns;
  if (ns < kRateNs || moment.ticks <= g_first.ticks) return 0;
  const double rate = static_cast<double>(ns) / static_cast<double>(moment.ticks - g_first.ticks);
  // Counters of 0.25 to 64 GHz.
  if (rate > 4 || rate < 1.0 / 64) return 0;
  scale = static_cast<uint64_t>(rate * static_cast<double>(uint64_t{1} << 32));
  g_scale.store(scale, std::memory_order_relaxed);
  return scale;
}

#endif

}  // namespace

#ifdef __x86_64__

bool UseTicks() noexcept {
  if (g_use.load(std::memory_order_acquire)) return true;
  if (!HasConstantRate() || !SystemUsesCounter()) return false;
  g_first = Read();
  if (!g_first.quick) return false;
  g_use.store(true, std::memory_order_release);
  return true;
}

int64_t SetClock(markers::DirectClock* clock) noexcept {
  clock->valid_ticks = 0;
  if (!g_use.load(std::memory_order_acquire)) return inject::Now();
  const Moment moment = Read();
  const int64_t now_ns = moment.ns + g_clock_offset_ns;
  clock->scale = ScaleAt(moment);
  if (!moment.quick || clock->scale == 0) return now_ns;
  clock->set_ticks = moment.ticks;
  clock->set_ns = now_ns;
  clock->valid_ticks = kValidTicks;
  return now_ns;
}

#else

bool UseTicks() noexcept { return false; }

int64_t SetClock(markers::DirectClock*) noexcept { return inject::Now(); }

#endif

}  // namespace oplens::record::inject
