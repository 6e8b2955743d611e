#ifndef OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
#define OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_

#include "parse/model/trace.h"

namespace oplens::parse {

/// Sets a missing Synchronization::event_record to the last record of the event, in its process and
/// context, whose call began before the waiting call. CUPTI's tables link them only by the event.
void LinkEventRecords(Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
