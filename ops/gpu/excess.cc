#include "ops/gpu/excess.h"

#include <algorithm>

namespace oplens::ops {
namespace {

constexpr double kRoof = 100;
constexpr int64_t kMicrosecondNs = 1000;
/// Of the rate of DRAM: the L2 caches of GPUs give 2 to 5 times as much.
constexpr double kMostOfCache = 500;

/// The time that the kernel may have taken.
double LongestNs(const ExcessCase& kernel) {
  return static_cast<double>(kernel.duration_ns) +
         static_cast<double>(kernel.whole_microseconds ? kMicrosecondNs : 0);
}

/// `percent` of a roof, were the time the longest that it may be.
double LeastPercent(const ExcessCase& kernel, double percent) {
  return percent * static_cast<double>(kernel.duration_ns) / LongestNs(kernel);
}

bool IsOfCache(const ExcessCase& kernel, double percent) {
  if (kernel.gpu->l2_bytes <= 0 || percent > kMostOfCache) return false;
  const auto l2 = static_cast<double>(kernel.gpu->l2_bytes);
  const double reads_cached =
      kernel.repeated_bytes > 0 ? static_cast<double>(kernel.repeated_bytes) : l2;
  const double least = std::max(static_cast<double>(kernel.bytes) - reads_cached - l2, 0.0);
  constexpr double kNsPerS = 1e9;
  return least * kNsPerS <= static_cast<double>(kernel.gpu->dram_bytes_per_s) * LongestNs(kernel);
}

}  // namespace

ReasonSet ExcessReasons(const ExcessCase& kernel) {
  ReasonSet reasons;
  const double math = kernel.roofline->percent_of_math.value_or(0);
  if (math > kRoof) {
    if (math <= kRoof * kernel.fewer_flops) {
      reasons.Add(Reason::kWinograd);
    } else if (LeastPercent(kernel, math) <= kRoof) {
      reasons.Add(Reason::kClock);
    }
  }
  const double dram = kernel.roofline->percent_of_dram.value_or(0);
  if (dram > kRoof) {
    const double least = LeastPercent(kernel, dram);
    if (least <= kRoof) {
      reasons.Add(Reason::kClock);
    } else if (IsOfCache(kernel, least)) {
      reasons.Add(Reason::kCache);
    }
  }
  return reasons;
}

}  // namespace oplens::ops
