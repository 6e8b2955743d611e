#ifndef OPLENS_BASE_JSON_TEXT_H_
#define OPLENS_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace oplens {

/// Appends `text` as a JSON string; invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace oplens

#endif  // OPLENS_BASE_JSON_TEXT_H_
