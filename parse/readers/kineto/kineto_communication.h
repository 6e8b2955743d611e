#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_

#include <simdjson.h>

#include <string_view>

#include "parse/model/trace.h"

namespace oplens::parse {

/// Takes one argument of an event if it tells of a collective ("Collective name", "In msg nelems",
/// ...); false when it is something else. `communication` is filled bit by bit.
bool TakeCommunication(std::string_view key, simdjson::dom::element value, StringPool* strings,
                       Communication* communication);

/// Whether a label is that of a collective: "nccl:all_reduce", with the library in front.
bool IsCollectiveLabel(std::string_view name);

/// What the inputs of such a label tell ("Input Dims", "Input type"): sets the name without the
/// library, the elements of all inputs together, and their data type where it is one. False, with
/// nothing set, where no extents are recorded.
bool TakeLabelInputs(std::string_view name, simdjson::dom::object args, StringPool* strings,
                     Communication* communication);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_COMMUNICATION_H_
