#ifndef OPLENS_PARSE_SOURCE_JSON_VALUE_H_
#define OPLENS_PARSE_SOURCE_JSON_VALUE_H_

#include <simdjson.h>

#include <cstdint>
#include <string_view>

namespace oplens::parse {

/// Takes an integer, a number without fraction, or a text that is an integer. For anything else
/// returns false and leaves `value` unchanged.
bool TakeInt(simdjson::dom::element element, int64_t* value);
bool TakeInt(simdjson::dom::element element, int32_t* value);
/// A number; false for anything else.
bool TakeFloat(simdjson::dom::element element, float* value);
/// The text of a string; empty for anything else.
std::string_view TextOf(simdjson::dom::element element);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_JSON_VALUE_H_
