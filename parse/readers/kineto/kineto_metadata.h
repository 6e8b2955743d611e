#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_METADATA_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_METADATA_H_

#include <simdjson.h>

#include <string_view>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Takes a member of the document beside the events: the schema version, the devices, the place in
/// a distributed run, and baseTimeNanoseconds, which was subtracted from all times. Others are left
/// out. Answers whether it is a member that PyTorch's profiler writes and other tools do not.
bool TakeKinetoMember(std::string_view key, simdjson::dom::element value, Trace* trace);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_METADATA_H_
