#ifndef OPLENS_BASE_WORDS_H_
#define OPLENS_BASE_WORDS_H_

#include <string_view>
#include <vector>

namespace oplens {

/// `text` without leading and trailing blanks.
inline std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The position of the first comma that separates words; npos for none. Commas inside ( ), [ ] or {
/// } or after a backslash do not: a pattern may hold them.
inline size_t FindComma(std::string_view list) {
  size_t open = 0;
  bool in_class = false;  // Inside a character class of a pattern: [(,] opens nothing.
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(' || c == '{') {
      ++open;
    } else if ((c == ')' || c == '}') && open > 0) {
      --open;
    } else if (c == ',' && open == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// The trimmed words of a list such as "op, dir": at least one, which may be empty.
inline std::vector<std::string_view> WordsOf(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t comma = FindComma(list);
    words.push_back(Trim(list.substr(0, comma)));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace oplens

#endif  // OPLENS_BASE_WORDS_H_
