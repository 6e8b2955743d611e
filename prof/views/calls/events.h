#ifndef OPLENS_PROF_VIEWS_CALLS_EVENTS_H_
#define OPLENS_PROF_VIEWS_CALLS_EVENTS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "prof/views/calls/event_run.h"
#include "prof/views/calls/event_sums.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// How a table of sorted rows is written.
struct EventTable {
  bool memory = false;           ///< Memory was recorded.
  size_t top = 0;                ///< Requested rows; 0: the table's default.
  std::string_view header = {};  ///< Line above the table; "": none.
};

/// Rules by which events are a document, one table per rank if by rank. Rows come in the order of
/// their first events.
struct EventRules {
  EventOptions run = {};
  bool device = true;                         ///< Includes device events.
  std::span<const std::string_view> by = {};  ///< Words of --by that these rules accept.
  /// Whether `a` sorts before `b` by a word of --sort. The sort is stable.
  bool (*before)(const EventRow& a, const EventRow& b, std::string_view word) = nullptr;
  std::string (*table)(std::span<const EventRow> rows, const EventTable& table) = nullptr;
};
/// The view `events` by other rules, which must outlive it.
std::unique_ptr<Partial> MakeEventsOf(const ViewOptions& options, const EventRules& rules);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENTS_H_
