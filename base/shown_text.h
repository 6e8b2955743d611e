#ifndef OPLENS_BASE_SHOWN_TEXT_H_
#define OPLENS_BASE_SHOWN_TEXT_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// A text from the input, shortened and made safe for a terminal, for messages.
inline std::string ShownText(std::string_view text) {
  constexpr size_t kMaxChars = 80;
  std::string shown(text.substr(0, kMaxChars));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace oplens::prof

#endif  // OPLENS_BASE_SHOWN_TEXT_H_
