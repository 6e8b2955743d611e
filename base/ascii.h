#ifndef OPLENS_BASE_ASCII_H_
#define OPLENS_BASE_ASCII_H_

#include <string>
#include <string_view>

// Characters of ASCII, whatever the locale: false for all bytes beyond.

namespace oplens {

/// Whether `c` is one of 0 to 9.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }

/// Whether a name of C may begin with `c`, and whether it may go on with it.
constexpr bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }
constexpr bool IsNameCharacter(char c) { return IsNameStart(c) || IsDigit(c); }

/// Whether `c` is a blank, a tab or the end of a line: what JSON has between words.
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The small letter of a capital one; other bytes as they are.
constexpr char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string ToLowerText(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ToLower(c);
  return lower;
}

}  // namespace oplens

#endif  // OPLENS_BASE_ASCII_H_
