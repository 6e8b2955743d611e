#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "base/sums.h"
#include "prof/views/collectives/collective_row.h"

namespace oplens::prof {

/// In 1e9 bytes/s; nullopt if bytes are unknown or the time is not positive.
std::optional<double> GbPerSecond(std::optional<double> bytes, int64_t time_ns);

/// Sums over collective calls. Calls without a value are left out of its sum and counted apart.
struct CollectiveSums {
  Count calls;
  Count timed;    ///< Of known latency.
  Count matched;  ///< Of known wait.
  Count sized;    ///< Of known size.
  Count exposed;  ///< Of known exposed time.
  Sum bytes;
  Sum latency_ns;  ///< wait_ns + transfer_ns + unmatched_ns
  Sum wait_ns;
  Sum transfer_ns;
  Sum unmatched_ns;
  Sum exposed_ns;
  // Of calls of known size:
  Sum algo_bytes;  ///< matched,
  Sum algo_ns;
  Checked bus_parts;  ///< matched with a bus factor, in 2^-50 bytes,
  Sum bus_ns;
  Sum seen_bytes;  ///< with a latency.
  Sum seen_ns;

  void Add(const CollectiveRow& row);
  /// Sum of bytes times factor; nullopt on overflow.
  std::optional<double> bus_bytes() const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_SUMS_H_
