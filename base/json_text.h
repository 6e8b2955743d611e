#ifndef OPLENS_BASE_JSON_TEXT_H_
#define OPLENS_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace oplens {

/// Appends `text` as a JSON string; invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

/// Appends the shortest decimal number that reads back as `value`, with a fraction or an exponent;
/// "null" if it is not finite.
void AppendJsonNumber(double value, std::string* out);

}  // namespace oplens

#endif  // OPLENS_BASE_JSON_TEXT_H_
