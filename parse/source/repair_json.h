#ifndef OPLENS_PARSE_SOURCE_REPAIR_JSON_H_
#define OPLENS_PARSE_SOURCE_REPAIR_JSON_H_

#include <string>
#include <string_view>

namespace oplens::parse {

/// Whether quotes inside of strings are escaped. Bare ones are told from those that end a string by
/// what follows them: a colon after a key, and after a value a comma and a key, or a closing
/// bracket and what may follow that.
enum class JsonQuotes : unsigned char { kEscaped, kBare };

/// Fixes broken JSON. In strings: control characters, backslashes that escape nothing, bytes that
/// are not UTF-8. Become strings: words unknown to JSON (NaN, Infinity, N/A) and integers beyond 64
/// bits. Removed: commas before a closing bracket. Other errors stay.
std::string RepairJson(std::string_view text, JsonQuotes quotes);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_REPAIR_JSON_H_
