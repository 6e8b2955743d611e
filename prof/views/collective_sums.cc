#include "prof/views/collective_sums.h"

#include <cmath>

#include "base/saturating.h"

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
  CollectiveSums of;
  const CollectiveSet::Call& call = row.call;
  const int64_t transfer = row.share.transfer_ns;
  const bool has_size = call.size_bytes >= 0;
  of.calls = 1;
  of.sized = has_size ? 1 : 0;
  of.bytes = has_size ? call.size_bytes : 0;
  of.exposed = call.exposed_ns >= 0 ? 1 : 0;
  of.exposed_ns = of.exposed > 0 ? call.exposed_ns : 0;
  if (call.latency_ns >= 0) {
    of.timed = 1;
    of.latency_ns = call.latency_ns;
    of.seen_bytes = of.bytes;
    of.seen_ns = has_size ? call.latency_ns : 0;
    of.matched = transfer >= 0 ? 1 : 0;
    (of.matched > 0 ? of.transfer_ns : of.unmatched_ns) =
        of.matched > 0 ? transfer : call.latency_ns;
    of.wait_ns = of.matched > 0 ? row.wait_ns() : 0;
  }
  if (of.matched > 0 && has_size) {
    of.algo_bytes = call.size_bytes;
    of.algo_ns = transfer;
    if (const auto factor = BusFactor(call.kind, row.group_size())) {
      of.bus_parts = Checked(std::llround(*factor * kCollectiveSumsParts)) * call.size_bytes;
      of.bus_ns = transfer;
    }
  }
  Merge(of);
}

void CollectiveSums::Merge(const CollectiveSums& other) {
  using Sums = CollectiveSums;
  for (const auto sum : {&Sums::calls, &Sums::timed, &Sums::matched, &Sums::sized, &Sums::exposed,
                         &Sums::bytes, &Sums::latency_ns, &Sums::wait_ns, &Sums::transfer_ns,
                         &Sums::unmatched_ns, &Sums::exposed_ns, &Sums::algo_bytes, &Sums::algo_ns,
                         &Sums::bus_ns, &Sums::seen_bytes, &Sums::seen_ns}) {
    SaturatingAdd(&(this->*sum), other.*sum);
  }
  bus_parts += other.bus_parts;
}

std::optional<double> CollectiveSums::bus_bytes() const {
  const auto parts = bus_parts.Approximate();
  return parts ? std::optional(*parts / kCollectiveSumsParts) : std::nullopt;
}

}  // namespace oplens::prof
