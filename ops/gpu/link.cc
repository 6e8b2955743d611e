#include "ops/gpu/link.h"

#include <algorithm>
#include <iterator>

namespace oplens::ops {
namespace {

struct LinkRate {
  int compute_capability;
  int64_t bytes_per_s;
};

constexpr int64_t kGiga = 1'000'000'000;

// Half of what the documents give for both directions (docs/costs.md, "Collectives").
constexpr LinkRate kLinkRates[] = {
    {60, 80 * kGiga},      // P100: 4 NVLinks.
    {70, 150 * kGiga},     // V100: 6.
    {75, 50 * kGiga},      // TU102: 2.
    {80, 300 * kGiga},     // A100: 12.
    {86, 56'250'000'000},  // GA102: 4.
    {89, 32 * kGiga},      // PCI Express 4.0 x16.
    {90, 450 * kGiga},     // H100: 18.
    {100, 900 * kGiga},    // B200: 18 of the fifth generation.
    {103, 900 * kGiga},    // B300: the same.
    {120, 64 * kGiga},     // PCI Express 5.0 x16.
};

}  // namespace

int64_t MostLinkBytesPerS(const Gpu& gpu) {
  if (!gpu.IsNvidia()) return 0;
  const auto* const rate = std::find_if(
      std::begin(kLinkRates), std::end(kLinkRates),
      [&](const LinkRate& row) { return row.compute_capability == gpu.compute_capability; });
  return rate == std::end(kLinkRates) ? 0 : rate->bytes_per_s;
}

ReasonSet LinkReasons(const LinkCase& collective) {
  ReasonSet reasons;
  const auto link = static_cast<double>(MostLinkBytesPerS(*collective.gpu));
  if (link <= 0 || collective.duration_ns <= 0) return reasons;
  constexpr double kMicrosecondNs = 1000;
  constexpr double kNsPerS = 1e9;
  const double longest_ns = static_cast<double>(collective.duration_ns) +
                            (collective.whole_microseconds ? kMicrosecondNs : 0);
  if (static_cast<double>(collective.bytes) * kNsPerS > link * longest_ns) {
    reasons.Add(Reason::kLink);
  }
  return reasons;
}

}  // namespace oplens::ops
