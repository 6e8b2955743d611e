#ifndef OPLENS_BASE_LITERAL_TOKEN_H_
#define OPLENS_BASE_LITERAL_TOKEN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ascii.h"

// The tokens of Python literals: what LiteralScanner is made of. All of them take the bytes from
// `p` up to `end` and read nothing beyond.
namespace oplens::literal {

inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

/// Whether a byte may go on a name or a number; all of UTF-8's bytes beyond ASCII may.
inline bool IsNameByte(char c) {
  return IsDigit(c) || IsLetter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether the whole word stands at `p`.
template <size_t N>
bool WordAt(const char* p, const char* end, const char (&word)[N]) {
  constexpr size_t kLength = N - 1;
  const auto left = static_cast<size_t>(end - p);
  return left >= kLength && std::memcmp(p, word, kLength) == 0 &&
         (left == kLength || !IsNameByte(p[kLength]));
}

/// Whether a byte ends the plain part of a string: its quote, an escape, or what may not stand in
/// one.
inline bool EndsRun(char c, char quote) {
  return c == quote || c == '\\' || c == '\n' || c == '\r' || c == '\0';
}

/// The first byte from `p` on that ends the plain part of a string, or `end`. Sixteen bytes at a
/// time: strings are nine tenths of a record, and this loop bounds the speed of reading it.
inline const char* FindRunEnd(const char* p, const char* end, char quote) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  using Words = uint64_t __attribute__((vector_size(16)));
  if constexpr (std::endian::native == std::endian::little) {
    const Bytes quotes = Bytes{} + static_cast<unsigned char>(quote);
    while (end - p >= 16) {
      Bytes bytes;
      std::memcpy(&bytes, p, sizeof bytes);
      // NUL, \n and \r are caught with all controls up to \r; the others of them are rare.
      const auto hits = (bytes == quotes) | (bytes == '\\') | (bytes <= '\r');
      Words words;
      std::memcpy(&words, &hits, sizeof words);
      if ((words[0] | words[1]) == 0) {
        p += 16;
        continue;
      }
      p += (words[0] != 0 ? std::countr_zero(words[0]) : 64 + std::countr_zero(words[1])) / 8;
      if (EndsRun(*p, quote)) return p;
      ++p;
    }
  }
  while (p != end && !EndsRun(*p, quote)) ++p;
  return p;
}

/// Decodes the escape whose backslash is at `p`, appends it to `out` unless that is null, and
/// returns the byte after it. Malformed: nullptr, and `what` says why.
const char* DecodeEscape(const char* p, const char* end, std::string* out, const char** what);

/// Decodes the two \u escapes, surrogates, that JSON has for one character beyond 16 bits. Returns
/// the byte after them; nullptr where there are none at `p`.
const char* DecodeSurrogatePair(const char* p, const char* end, std::string* out);

/// The extent of a number token.
struct NumberToken {
  const char* end = nullptr;  ///< nullptr when there is no number.
  bool is_integer = false;    ///< Neither point nor exponent.
};

/// Measures an unsigned number.
NumberToken MeasureNumber(const char* p, const char* end);

/// The nearest double of a token that MeasureNumber accepted; inf beyond the range, 0 below it.
double ParseDouble(std::string_view token);

}  // namespace oplens::literal

#endif  // OPLENS_BASE_LITERAL_TOKEN_H_
