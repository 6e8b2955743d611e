#ifndef OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
#define OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_

#include "parse/model/trace.h"

namespace oplens::parse {

/// Sets Synchronization::event_record of the waits for events that have none yet: the last
/// recording of the event, in its process and context, whose call began before the call that waits.
/// Both tables of CUPTI name the event alone.
void LinkEventRecords(Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_EVENT_RECORDS_H_
