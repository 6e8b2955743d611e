#ifndef OPLENS_PARSE_SOURCE_REPAIR_JSON_H_
#define OPLENS_PARSE_SOURCE_REPAIR_JSON_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// Fixes broken JSON. In strings: control characters, backslashes that escape nothing, bytes that
/// are not UTF-8. Become strings: words unknown to JSON (NaN, Infinity, N/A) and integers beyond 64
/// bits. Removed: commas before a closing bracket. Other errors stay.
std::string RepairJson(std::string_view text);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_REPAIR_JSON_H_
