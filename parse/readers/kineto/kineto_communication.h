#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_

#include <simdjson.h>

#include <string_view>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Takes one argument of an event about a collective ("Collective name", "In msg nelems", ...) into
/// `communication`; returns false if it is something else.
bool TakeCommunication(std::string_view key, simdjson::dom::element value, StringPool* strings,
                       Communication* communication);

/// Whether a label is a collective's: "nccl:all_reduce", with the library in front.
bool IsCollectiveLabel(std::string_view name);

/// Takes the inputs of such a label ("Input Dims", "Input type"): sets the name without the
/// library, the total number of elements, and the data type if all have the same. Returns false and
/// sets nothing if no extents are recorded.
bool TakeLabelInputs(std::string_view name, simdjson::dom::object args, StringPool* strings,
                     Communication* communication);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_
