#ifndef OPLENS_BASE_UTF8_H_
#define OPLENS_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens {

/// Length of the valid UTF-8 sequence at `text[i]`, 0 if there is none (RFC 3629: no overlong
/// forms, no surrogates, at most U+10FFFF). `i` must be less than the text's size.
size_t Utf8Length(std::string_view text, size_t i);

/// The characters that AppendUtf8 replaces by '_'.
enum class Utf8Hidden : uint8_t {
  kNothing,
  kControls,  ///< Control characters (with U+0080..U+009F), line separators, and direction changes
              ///< (U+202E): all that changes how other text is shown.
  kControlsAndBlanks,  ///< Also every kind of blank.
};

/// Appends `text` as valid UTF-8: each maximal invalid subpart becomes U+FFFD (The Unicode
/// Standard, section 3.9), each character of `hidden` '_'.
void AppendUtf8(std::string_view text, Utf8Hidden hidden, std::string* out);

/// Makes a text, such as a file name, safe for one line of a terminal: valid UTF-8 without
/// kControls.
std::string LineText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_UTF8_H_
