#ifndef OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_
#define OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/checked.h"
#include "base/sums.h"

namespace oplens::prof {

/// Figures of events that are alike.
template <typename Number>
struct EventFigures {
  Number host_self_ns{};
  Number host_total_ns{};
  Number device_self_ns{};
  Number device_total_ns{};
  Number host_bytes{};
  Number host_self_bytes{};
  Number device_bytes{};
  Number device_self_bytes{};

  static constexpr std::tuple kMembers{
      &EventFigures::host_self_ns,   &EventFigures::host_total_ns,
      &EventFigures::device_self_ns, &EventFigures::device_total_ns,
      &EventFigures::host_bytes,     &EventFigures::host_self_bytes,
      &EventFigures::device_bytes,   &EventFigures::device_self_bytes};
};

/// The first of events; less is earlier. Of those that start together the longest comes first.
struct FirstEvent {
  int64_t start_ns = INT64_MAX;
  int64_t shorter_ns = INT64_MAX;  ///< Than possible.

  static constexpr std::tuple kMembers{&FirstEvent::start_ns, &FirstEvent::shorter_ns};
  void Merge(const FirstEvent& other) { *this = std::min(*this, other); }
  friend auto operator<=>(const FirstEvent&, const FirstEvent&) = default;
};

/// Sums over events that are alike: calls of one name, or device events of one.
struct EventSums : EventFigures<Checked> {
  Count calls;
  FirstEvent first;

  static constexpr auto kMembers =
      std::tuple_cat(std::tuple{&EventSums::calls}, EventFigures<Checked>::kMembers,
                     std::tuple{&EventSums::first});

  /// An event of this length.
  void Add(int64_t start_ns, int64_t length_ns) {
    ++calls;
    first.Merge({start_ns, INT64_MAX - length_ns});
  }
};

/// A row: events that are alike.
struct EventRow : EventFigures<int64_t> {
  std::string_view name;
  bool device = false;  ///< Of what a GPU did, else of calls.
  int64_t calls = 0;
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

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_
