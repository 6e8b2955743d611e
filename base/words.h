#ifndef OPLENS_BASE_WORDS_H_
#define OPLENS_BASE_WORDS_H_

#include <string_view>
#include <vector>

namespace oplens {

/// A text without the blanks around it.
inline std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The words of a list such as "op, dir": at least one, which may be empty.
inline std::vector<std::string_view> WordsOf(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t comma = list.find(',');
    words.push_back(Trim(list.substr(0, comma)));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace oplens

#endif  // OPLENS_BASE_WORDS_H_
