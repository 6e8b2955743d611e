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

/// How a table of rows in their order is written.
struct EventTable {
  bool memory = false;           ///< Memory was recorded.
  size_t top = 0;                ///< Rows that were asked for; 0: as many as the table has.
  std::string_view header = {};  ///< A line above it; "": none.
};

/// Rules by which events are a document, of a table a rank where ranks are asked for. Rows come in
/// the order of their first events.
struct EventRules {
  EventOptions run = {};
  bool device = true;                         ///< With rows of device events.
  std::span<const std::string_view> by = {};  ///< Words of --by that go with them.
  /// Whether a row comes before another by a word of --sort; those that are equal stay as they are.
  bool (*before)(const EventRow& a, const EventRow& b, std::string_view word) = nullptr;
  std::string (*table)(std::span<const EventRow> rows, const EventTable& table) = nullptr;
};
/// The same view by other rules, which outlive it.
std::unique_ptr<Partial> MakeEventsOf(const ViewOptions& options, const EventRules& rules);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_EVENTS_H_
