#ifndef OPLENS_PROF_VIEWS_EVENT_FIELDS_H_
#define OPLENS_PROF_VIEWS_EVENT_FIELDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "prof/views/events.h"
#include "prof/views/view.h"

namespace oplens::prof {

/// What a view of events is asked for.
struct EventPlan {
  /// UsageError for a word of --by that does not go with the rules.
  EventPlan(const ViewOptions& options, const EventRules& rules);

  bool shape = false;
  bool stack = false;
  bool rank = false;
  bool call = false;   ///< Each call is a row.
  bool total = false;  ///< All is one row.
  std::string sort;    ///< A word of EventRules::before; "": none.
  size_t top;
};

/// The fields of its rows: name and kind, the words of --by, the others.
std::vector<Field> FieldsOf(const EventPlan& plan);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_EVENT_FIELDS_H_
