#ifndef OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_
#define OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/checked.h"
#include "base/sums.h"

namespace oplens::prof {

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

/// Times in us, as PyTorch adds them.
struct EventTimesUs {
  double host_self = 0;
  double host_total = 0;
  double device_self = 0;
  double device_total = 0;

  EventTimesUs& operator+=(const EventTimesUs& more) {
    host_self += more.host_self;
    host_total += more.host_total;
    device_self += more.device_self;
    device_total += more.device_total;
    return *this;
  }
};

/// Start of the first event of several; at equal starts the longest comes first.
struct FirstEvent {
  int64_t start_ns = INT64_MAX;
  int64_t shorter_ns = INT64_MAX;  ///< INT64_MAX - length.

  void Merge(const FirstEvent& other) { *this = std::min(*this, other); }
  friend auto operator<=>(const FirstEvent&, const FirstEvent&) = default;
};

/// Sums over calls, or over device events, of one name.
struct EventSums : EventFigures<Checked> {
  Count calls;
  FirstEvent first;

  static constexpr auto kMembers =
      std::tuple_cat(std::tuple{&EventSums::calls}, EventFigures<Checked>::kMembers,
                     std::tuple{&EventSums::first});

  void Add(int64_t start_ns, int64_t length_ns) {
    ++calls;
    first.Merge({start_ns, INT64_MAX - length_ns});
  }
};

struct EventRow : EventFigures<int64_t> {
  std::string_view name;
  bool device = false;  ///< Work of a GPU; otherwise a call.
  int64_t calls = 0;
  std::string_view shapes = {};              ///< "[[2, 3], []]"; "" unless grouped by shape.
  std::vector<std::string_view> stack = {};  ///< Innermost frame first.
  std::string_view overload = {};            ///< "" unless grouped by overload.
  bool annotation = false;                   ///< A label of the user.
  std::optional<EventTimesUs> us = {};       ///< Under rules that add floats.
};

/// One call, if each is a row.
struct EventCall {
  uint32_t name = 0;  ///< Number of a text of EventRun.
  int64_t start_ns = 0;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENT_SUMS_H_
