#ifndef OPLENS_BASE_LITERAL_TOKEN_H_
#define OPLENS_BASE_LITERAL_TOKEN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/ascii.h"

// The tokens of Python literals, for LiteralScanner. All functions read only [p, end).
namespace oplens::literal {

inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

/// Whether `c` may continue a name or number; true for all non-ASCII UTF-8 bytes.
inline bool IsNameByte(char c) {
  return IsDigit(c) || IsLetter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

template <size_t N>
bool WordAt(const char* p, const char* end, const char (&word)[N]) {
  constexpr size_t kLength = N - 1;
  const auto left = static_cast<size_t>(end - p);
  return left >= kLength && std::memcmp(p, word, kLength) == 0 &&
         (left == kLength || !IsNameByte(p[kLength]));
}

/// Whether `c` ends the plain part of a string: its quote, a backslash, or a forbidden byte.
inline bool EndsRun(char c, char quote) {
  return c == quote || c == '\\' || c == '\n' || c == '\r' || c == '\0';
}

/// The first byte from `p` on that ends the plain part of a string, or `end`. Checks 16 bytes at a
/// time: strings are nine tenths of a record, so this loop bounds the reading speed.
inline const char* FindRunEnd(const char* p, const char* end, char quote) {
  using Bytes = unsigned char __attribute__((vector_size(16)));
  using Words = uint64_t __attribute__((vector_size(16)));
  if constexpr (std::endian::native == std::endian::little) {
    const Bytes quotes = Bytes{} + static_cast<unsigned char>(quote);
    while (end - p >= 16) {
      Bytes bytes;
      std::memcpy(&bytes, p, sizeof bytes);
      // NUL, \n and \r are matched with all controls up to \r; the other ones are rare.
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

/// Decodes the escape whose backslash is at `p`, appends it to `out` (may be null), and returns the
/// byte after it. If malformed, returns nullptr and sets `*what` to the reason.
const char* DecodeEscape(const char* p, const char* end, std::string* out, const char** what);

/// Decodes the pair of \u surrogate escapes by which JSON writes one character beyond 16 bits.
/// Returns the byte after it; nullptr if there is none at `p`.
const char* DecodeSurrogatePair(const char* p, const char* end, std::string* out);

struct NumberToken {
  const char* end = nullptr;  ///< nullptr if there is no number.
  bool is_integer = false;    ///< Neither point nor exponent.
};

/// Finds the extent of an unsigned number.
NumberToken MeasureNumber(const char* p, const char* end);

/// The nearest double of a token accepted by MeasureNumber; inf above the range, 0 below it.
double ParseDouble(std::string_view token);

}  // namespace oplens::literal

#endif  // OPLENS_BASE_LITERAL_TOKEN_H_
