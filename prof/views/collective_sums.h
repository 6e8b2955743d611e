#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_SUMS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_SUMS_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "prof/views/collective_row.h"

namespace oplens::prof {

/// 1e9 bytes/s; nullopt where one is not known, or there is no time.
std::optional<double> GbPerSecond(std::optional<double> bytes, int64_t time_ns);

/// Sums over calls of collectives. What is not known of a call is left out, and has its own sum.
/// All are integers that stop at the largest one, so that the order has no effect.
struct CollectiveSums {
  int64_t calls = 0;
  int64_t timed = 0;    ///< Of known latency.
  int64_t matched = 0;  ///< Of known waiting.
  int64_t sized = 0;    ///< Of known size.
  int64_t exposed = 0;  ///< Of known exposed time.
  int64_t bytes = 0;
  int64_t latency_ns = 0;  ///< wait_ns + transfer_ns + unmatched_ns
  int64_t wait_ns = 0;
  int64_t transfer_ns = 0;
  int64_t unmatched_ns = 0;
  int64_t exposed_ns = 0;
  // Of calls of known size,
  int64_t algo_bytes = 0;  ///< that are matched,
  int64_t algo_ns = 0;
  Checked bus_parts;  ///< that are and have a factor, in 2^-50 bytes,
  int64_t bus_ns = 0;
  int64_t seen_bytes = 0;  ///< that have a latency.
  int64_t seen_ns = 0;

  void Add(const CollectiveRow& row);
  void Merge(const CollectiveSums& other);
  /// Bytes times factor; nullopt where they are too many.
  std::optional<double> bus_bytes() const;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* to, Self* self) {
    to->Counts(&self->calls, &self->timed, &self->matched, &self->sized, &self->exposed);
    to->Sums(&self->bytes, &self->latency_ns, &self->wait_ns, &self->transfer_ns,
             &self->unmatched_ns, &self->exposed_ns, &self->algo_bytes, &self->algo_ns);
    to->Values(&self->bus_parts);
    to->Sums(&self->bus_ns, &self->seen_bytes, &self->seen_ns);
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_SUMS_H_
