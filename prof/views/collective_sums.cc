#include "prof/views/collective_sums.h"

#include "base/saturating.h"

namespace oplens::prof {

std::optional<double> GbPerSecond(std::optional<double> bytes, int64_t time_ns) {
  if (!bytes || time_ns <= 0) return std::nullopt;
  return *bytes / static_cast<double>(time_ns);  // 1e9 B/s is 1 B/ns.
}

void CollectiveSums::Add(const CollectiveRow& row) {
  const CollectiveSet::Call& call = *row.call;
  const int64_t transfer = row.share.transfer_ns;
  const bool has_size = call.size_bytes >= 0;
  ++calls;
  if (has_size) {
    ++sized;
    bytes = SaturatingSum(bytes, call.size_bytes);
  }
  if (call.exposed_ns >= 0) {
    ++exposed;
    exposed_ns = SaturatingSum(exposed_ns, call.exposed_ns);
  }
  if (call.latency_ns < 0) return;
  ++timed;
  // Together, so that one that no longer fits does not part the sum from its parts.
  const int64_t sum_ns = SaturatingSum(latency_ns, call.latency_ns);
  const bool fits = sum_ns < INT64_MAX;
  if (fits) latency_ns = sum_ns;
  if (has_size) {
    seen_bytes = SaturatingSum(seen_bytes, call.size_bytes);
    seen_ns = SaturatingSum(seen_ns, call.latency_ns);
  }
  if (transfer < 0) {
    if (fits) unmatched_ns += call.latency_ns;
    return;
  }
  ++matched;
  if (fits) transfer_ns += transfer;
  if (!has_size) return;
  algo_bytes = SaturatingSum(algo_bytes, call.size_bytes);
  algo_ns = SaturatingSum(algo_ns, transfer);
  if (const auto factor = BusFactor(call.kind, row.group_size())) {
    bus_bytes += *factor * static_cast<double>(call.size_bytes);
    bus_ns = SaturatingSum(bus_ns, transfer);
  }
}

}  // namespace oplens::prof
