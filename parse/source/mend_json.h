#ifndef OPLENS_PARSE_SOURCE_MEND_JSON_H_
#define OPLENS_PARSE_SOURCE_MEND_JSON_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// A text that was meant to be JSON, mended: control characters, backslashes that escape nothing
/// and bytes that are not UTF-8 in strings; bare words that JSON has not (NaN, Infinity, N/A) and
/// numbers that it cannot hold (an integer beyond 64 bits) become strings; commas before a closing
/// bracket go. What is beyond that comes back as it is.
std::string MendJson(std::string_view text);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_MEND_JSON_H_
