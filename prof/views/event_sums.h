#ifndef OPLENS_PROF_VIEWS_EVENT_SUMS_H_
#define OPLENS_PROF_VIEWS_EVENT_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"

namespace oplens::prof {

/// Sums over events that are alike: calls of one name, or device events of one.
struct EventSums {
  int64_t calls = 0;
  Checked host_self_ns;
  Checked host_total_ns;
  Checked device_self_ns;
  Checked device_total_ns;
  Checked host_bytes;
  Checked host_self_bytes;
  Checked device_bytes;
  Checked device_self_bytes;
  /// Of the first event: its start and how much it is shorter than possible; less is earlier.
  std::pair<int64_t, int64_t> first{INT64_MAX, INT64_MAX};

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->calls);
    bytes->Values(&self->host_self_ns, &self->host_total_ns, &self->device_self_ns,
                  &self->device_total_ns, &self->host_bytes, &self->host_self_bytes,
                  &self->device_bytes, &self->device_self_bytes, &self->first);
  }

  void Add(const EventSums& other) {
    calls += other.calls;
    host_self_ns += other.host_self_ns;
    host_total_ns += other.host_total_ns;
    device_self_ns += other.device_self_ns;
    device_total_ns += other.device_total_ns;
    host_bytes += other.host_bytes;
    host_self_bytes += other.host_self_bytes;
    device_bytes += other.device_bytes;
    device_self_bytes += other.device_self_bytes;
    first = std::min(first, other.first);
  }
  /// An event of this length. Those that start together come longest first.
  void Count(int64_t start_ns, int64_t length_ns) {
    ++calls;
    first = std::min(first, {start_ns, INT64_MAX - length_ns});
  }
};

/// A row: events that are alike.
struct EventRow {
  std::string_view name;
  bool device = false;  ///< Of what a GPU did, else of calls.
  int64_t calls = 0;
  int64_t host_self_ns = 0;
  int64_t host_total_ns = 0;
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t host_bytes = 0;
  int64_t host_self_bytes = 0;
  int64_t device_bytes = 0;
  int64_t device_self_bytes = 0;
  std::string_view shapes = {};              ///< "[[2, 3], []]"; "": not asked for.
  std::vector<std::string_view> stack = {};  ///< Innermost frame first.
};

/// One call, where each is a row.
struct EventCall {
  uint32_t name = 0;  ///< Number of a text of the run.
  int64_t start_ns = 0;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_EVENT_SUMS_H_
