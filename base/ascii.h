#ifndef OPLENS_BASE_ASCII_H_
#define OPLENS_BASE_ASCII_H_

#include <string>
#include <string_view>

// ASCII character classes, independent of the locale; false for every byte >= 0x80.

namespace oplens {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }

/// Whether a C identifier may begin with `c`, and whether it may contain `c`.
constexpr bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }
constexpr bool IsNameCharacter(char c) { return IsNameStart(c) || IsDigit(c); }

/// Whether `c` is JSON white space: blank, tab, CR or LF.
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// `c` in lower case if it is A to Z; otherwise unchanged.
constexpr char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string ToLowerText(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ToLower(c);
  return lower;
}

}  // namespace oplens

#endif  // OPLENS_BASE_ASCII_H_
