#ifndef OPLENS_PARSE_RECORDS_COMMUNICATION_CALL_H_
#define OPLENS_PARSE_RECORDS_COMMUNICATION_CALL_H_

#include "parse/model/op_call.h"
#include "parse/model/string_pool.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// The call that a collective is: {'mod': 'c10d', 'op': 'all_reduce', 'args': [the whole buffer as
/// one tensor of one dimension, world_size=N]}. The whole buffer of a gather is its output, of a
/// scatter its input. What is not known is left out; the name of a collective that is none of
/// these stays as recorded.
OpCall CommunicationCall(const Communication& communication, const StringPool& strings);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_RECORDS_COMMUNICATION_CALL_H_
