#ifndef OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
#define OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_

#include "parse/model/trace.h"

namespace oplens::parse {

/// Sets a missing Synchronization::event_record of waits for events: the last recording of the
/// event, in its process and context, whose call began before the waiting call. CUPTI's tables link
/// them only by the event.
void LinkEventRecords(Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
