#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_

#include <cstdint>
#include <optional>
#include <tuple>

#include "base/checked.h"
#include "base/sums.h"
#include "prof/views/collectives/collective_row.h"

namespace oplens::prof {

/// 1e9 bytes/s; nullopt where one is not known, or there is no time.
std::optional<double> GbPerSecond(std::optional<double> bytes, int64_t time_ns);

/// Sums over calls of collectives. What is not known of a call is left out, and has its own sum.
struct CollectiveSums {
  Count calls;
  Count timed;    ///< Of known latency.
  Count matched;  ///< Of known waiting.
  Count sized;    ///< Of known size.
  Count exposed;  ///< Of known exposed time.
  Sum bytes;
  Sum latency_ns;  ///< wait_ns + transfer_ns + unmatched_ns
  Sum wait_ns;
  Sum transfer_ns;
  Sum unmatched_ns;
  Sum exposed_ns;
  // Of calls of known size,
  Sum algo_bytes;  ///< that are matched,
  Sum algo_ns;
  Checked bus_parts;  ///< that are and have a factor, in 2^-50 bytes,
  Sum bus_ns;
  Sum seen_bytes;  ///< that have a latency.
  Sum seen_ns;

  static constexpr std::tuple kMembers{
      &CollectiveSums::calls,        &CollectiveSums::timed,      &CollectiveSums::matched,
      &CollectiveSums::sized,        &CollectiveSums::exposed,    &CollectiveSums::bytes,
      &CollectiveSums::latency_ns,   &CollectiveSums::wait_ns,    &CollectiveSums::transfer_ns,
      &CollectiveSums::unmatched_ns, &CollectiveSums::exposed_ns, &CollectiveSums::algo_bytes,
      &CollectiveSums::algo_ns,      &CollectiveSums::bus_parts,  &CollectiveSums::bus_ns,
      &CollectiveSums::seen_bytes,   &CollectiveSums::seen_ns};

  void Add(const CollectiveRow& row);
  /// Bytes times factor; nullopt where they are too many.
  std::optional<double> bus_bytes() const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_
