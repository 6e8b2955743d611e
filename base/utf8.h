#ifndef OPLENS_BASE_UTF8_H_
#define OPLENS_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oplens {

/// Length of the valid UTF-8 sequence at `text[i]`, 0 when there is none (RFC 3629: no overlong
/// forms, no surrogates, at most U+10FFFF). `i` is within the text.
size_t Utf8Length(std::string_view text, size_t i);

/// What AppendUtf8 writes as '_'.
enum class Utf8Hidden : uint8_t {
  kNothing,
  kControls,  ///< Control characters (U+0080..U+009F are some), line separators, and what turns the
              ///< direction of writing (U+202E): all that changes how other text is shown.
  kControlsAndBlanks,  ///< And every blank, however wide.
};

/// Appends `text` as valid UTF-8: what is not UTF-8 becomes U+FFFD, one for each longest beginning
/// of a sequence (The Unicode Standard, section 3.9), and what `hidden` names becomes '_'.
void AppendUtf8(std::string_view text, Utf8Hidden hidden, std::string* out);

/// A text for one line of a terminal, such as the name of a file in a message: valid UTF-8 without
/// kControls, so that it neither ends the line nor changes what is around it.
std::string LineText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_UTF8_H_
