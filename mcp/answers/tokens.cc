#include "mcp/answers/tokens.h"

namespace oplens::mcp {
namespace {

bool IsSmall(char c) { return c >= 'a' && c <= 'z'; }
bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsSmall(c) || IsCapital(c); }
bool IsFigure(char c) { return c >= '0' && c <= '9'; }
bool IsLineEnd(char c) { return c == '\n' || c == '\r' || c == '\t'; }
bool IsSign(char c) {
  return static_cast<unsigned char>(c) < 0x80 && !IsLetter(c) && !IsFigure(c) && !IsLineEnd(c) &&
         c != ' ';
}

}  // namespace

size_t TokensOf(std::string_view text) {
  size_t tokens = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    const char first = text[i++];
    if (IsLetter(first)) {
      while (i < text.size() && IsLetter(text[i]) &&
             !(IsCapital(text[i]) && IsSmall(text[i - 1]))) {
        ++i;
      }
      tokens += (i - begin + 3) / 4;
    } else if (first == ' ') {
      while (i < text.size() && text[i] == ' ') ++i;
      if (i - begin > 1 || (i < text.size() && IsFigure(text[i]))) ++tokens;
    } else if (IsSign(first)) {
      while (i < text.size() && IsSign(text[i])) ++i;
      tokens += (i - begin + 1) / 2;
    } else {
      ++tokens;
    }
  }
  return tokens;
}

}  // namespace oplens::mcp
