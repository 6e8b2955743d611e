#ifndef OPLENS_PROF_VIEWS_CALLS_EVENTS_H_
#define OPLENS_PROF_VIEWS_CALLS_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "prof/views/calls/event_run.h"
#include "prof/views/calls/event_sums.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// What a table depends on besides its rows; of several runs that of the latest version.
struct EventTableFacts {
  uint32_t version = 0;  ///< Of the other tool; its rules say which.
  uint32_t device = 0;   ///< What that calls the device; its rules say which.
  char frame_separator = ',';

  void Merge(const EventTableFacts& other) {
    if (std::pair(version, device) < std::pair(other.version, other.device)) *this = other;
  }
};

/// How a table of sorted rows is written.
struct EventTable {
  EventTableFacts facts = {};
  bool memory = false;           ///< Memory was recorded.
  size_t top = 0;                ///< Requested rows; 0: the table's default.
  std::string_view header = {};  ///< Line above the table; "": none.
};

/// Events of one row, found in a run.
struct FoundEvents {
  bool device = false;
  bool annotation = false;
  std::string_view name;
  std::string_view shape;
  std::string_view stack;  ///< Outermost frame first.
  std::string_view overload;
  EventSums sums;
  EventTimesUs us;
};
using TakeEvents = std::function<void(const FoundEvents& events)>;
/// What is asked of events, and whether memory was recorded.
struct FindEvents {
  bool by_shape = false;
  bool by_stack = false;
  bool by_overload = false;
  bool has_memory = false;
  EventTableFacts facts;
};

/// Rules by which events are a document, one table per rank if by rank. Rows come in the order of
/// their first events.
struct EventRules {
  EventOptions run = {};
  bool device = true;                         ///< Includes device events.
  std::span<const std::string_view> by = {};  ///< Words of --by that these rules accept.
  /// Finds the events of a run by rules of their own, and what their table depends on. Returns
  /// false if the run has no events of that kind: its calls are then found by `run`. May be null.
  bool (*find)(const Run& run, FindEvents* find, const TakeEvents& take) = nullptr;
  /// Whether `a` sorts before `b` by a word of --sort. The sort is stable.
  bool (*before)(const EventRow& a, const EventRow& b, std::string_view word) = nullptr;
  std::string (*table)(std::span<const EventRow> rows, const EventTable& table) = nullptr;
};
/// The view `events` by other rules, which must outlive it.
std::unique_ptr<Partial> MakeEventsOf(const ViewOptions& options, const EventRules& rules);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENTS_H_
