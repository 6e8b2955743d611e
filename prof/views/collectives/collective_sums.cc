#include "prof/views/collectives/collective_sums.h"

#include <cmath>

namespace oplens::prof {
namespace {

/// Of a byte: as fine as factors are.
constexpr double kCollectiveSumsParts = static_cast<double>(int64_t{1} << 50);

}  // namespace

std::optional<double> GbPerSecond(std::optional<double> bytes, int64_t time_ns) {
  if (!bytes || time_ns <= 0) return std::nullopt;
  return *bytes / static_cast<double>(time_ns);  // 1e9 B/s is 1 B/ns.
}

void CollectiveSums::Add(const CollectiveRow& row) {
  const CollectiveSet::Call& call = row.call;
  const int64_t transfer = row.share.transfer_ns;
  const bool has_size = call.size_bytes >= 0;
  ++calls;
  if (has_size) {
    ++sized;
    bytes += call.size_bytes;
  }
  if (call.exposed_ns >= 0) {
    ++exposed;
    exposed_ns += call.exposed_ns;
  }
  if (call.latency_ns < 0) return;
  ++timed;
  latency_ns += call.latency_ns;
  if (has_size) {
    seen_bytes += call.size_bytes;
    seen_ns += call.latency_ns;
  }
  if (transfer < 0) {
    unmatched_ns += call.latency_ns;
    return;
  }
  ++matched;
  transfer_ns += transfer;
  wait_ns += row.wait_ns();
  if (!has_size) return;
  algo_bytes += call.size_bytes;
  algo_ns += transfer;
  if (const auto factor = BusFactor(call.kind, row.group_size())) {
    bus_parts += Checked(std::llround(*factor * kCollectiveSumsParts)) * call.size_bytes;
    bus_ns += transfer;
  }
}

std::optional<double> CollectiveSums::bus_bytes() const {
  const auto parts = bus_parts.Approximate();
  return parts ? std::optional(*parts / kCollectiveSumsParts) : std::nullopt;
}

}  // namespace oplens::prof
