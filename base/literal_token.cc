#include "base/literal_token.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace oplens::literal {
namespace {

constexpr uint32_t kLastCodePoint = 0x10ffff;

/// The value of a digit, or -1 if it is not one in that base.
int DigitValue(char c, int base) {
  int value = base;
  if (IsDigit(c)) value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

/// Appends a code point as LiteralScanner::ReadString describes.
void AppendCodePoint(uint32_t code, std::string* out) {
  const auto push = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code >= 0xdc80 && code <= 0xdcff) return push(code & 0xff);
  constexpr uint32_t kReplacement = 0xfffd;
  if (code >= 0xd800 && code <= 0xdfff) code = kReplacement;
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      push(0xe0 | (code >> 12));
    } else {
      push(0xf0 | (code >> 18));
      push(0x80 | ((code >> 12) & 0x3f));
    }
    push(0x80 | ((code >> 6) & 0x3f));
  }
  push(0x80 | (code & 0x3f));
}

/// The byte that a one-letter escape stands for, or -1.
int SimpleEscape(char letter) {
  constexpr std::string_view kLetters = "\\'\"nrtabfv";
  constexpr std::string_view kBytes = "\\'\"\n\r\t\a\b\f\v";
  const size_t at = kLetters.find(letter);
  return at == kLetters.npos ? -1 : kBytes[at];
}

/// The number of hexadecimal digits after the letter of an escape; 0 for other letters.
int HexDigitCount(char letter) {
  switch (letter) {
    case 'x':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

/// Reads exactly `count` (at most 8) hexadecimal digits; nullptr if one is missing.
const char* ReadHex(const char* p, const char* end, int count, uint32_t* code) {
  *code = 0;
  for (; count > 0; --count, ++p) {
    const int value = p == end ? -1 : DigitValue(*p, 16);
    if (value < 0) return nullptr;
    *code = *code * 16 + static_cast<uint32_t>(value);
  }
  return p;
}

/// Reads one to three octal digits.
const char* ReadOctal(const char* p, const char* end, uint32_t* code) {
  *code = 0;
  for (int count = 0; count < 3 && p != end && DigitValue(*p, 8) >= 0; ++count, ++p) {
    *code = *code * 8 + static_cast<uint32_t>(DigitValue(*p, 8));
  }
  return p;
}

const char* SkipDigits(const char* p, const char* end) {
  while (p != end && IsDigit(*p)) ++p;
  return p;
}

/// Power of ten of the first digit of a token accepted by MeasureNumber; exact enough to tell
/// overflow from underflow.
int64_t DecimalMagnitude(std::string_view token) {
  const size_t mantissa_end = std::min(token.find_first_of("eE"), token.size());
  const size_t point = std::min(token.find('.'), mantissa_end);
  const size_t first = token.find_first_of("123456789");
  int64_t exponent = 0;
  if (mantissa_end != token.size()) {
    const char* digits = token.data() + mantissa_end + 1;
    if (*digits == '+') ++digits;
    constexpr int64_t kHuge = int64_t{1} << 62;
    if (std::from_chars(digits, token.data() + token.size(), exponent).ec != std::errc{}) {
      exponent = *digits == '-' ? -kHuge : kHuge;
    }
    exponent = std::clamp(exponent, -kHuge, kHuge);
  }
  return exponent + static_cast<int64_t>(point) - static_cast<int64_t>(first);
}

}  // namespace

const char* DecodeEscape(const char* p, const char* end, std::string* out, const char** what) {
  if (++p == end) {
    *what = "a closing quote is missing";
    return nullptr;
  }
  const char letter = *p;
  if (const int byte = SimpleEscape(letter); byte >= 0) {
    if (out != nullptr) out->push_back(static_cast<char>(byte));
    return p + 1;
  }
  uint32_t code = 0;
  if (DigitValue(letter, 8) >= 0) {
    p = ReadOctal(p, end, &code);
  } else if (const int count = HexDigitCount(letter); count != 0) {
    p = ReadHex(p + 1, end, count, &code);
    if (p == nullptr) {
      *what = "a hexadecimal digit of an escape is missing";
      return nullptr;
    }
  } else if (letter == 'N' || letter == '\n' || letter == '\r' || letter == '\0') {
    // \N{...} would need the list of Unicode names; the others may not occur within a line.
    *what = "an escape is not supported";
    return nullptr;
  } else {
    if (out != nullptr) out->append({'\\', letter});
    return p + 1;
  }
  if (code > kLastCodePoint) {
    *what = "an escape is beyond the last code point";
    return nullptr;
  }
  if (out != nullptr) AppendCodePoint(code, out);
  return p;
}

const char* DecodeSurrogatePair(const char* p, const char* end, std::string* out) {
  constexpr ptrdiff_t kEscapeBytes = 6;
  if (end - p < 2 * kEscapeBytes) return nullptr;
  uint32_t halves[2] = {};
  for (uint32_t& half : halves) {
    if (p[0] != '\\' || p[1] != 'u' || ReadHex(p + 2, end, 4, &half) == nullptr) return nullptr;
    p += kEscapeBytes;
  }
  const bool pair = halves[0] >> 10 == 0xd800 >> 10 && halves[1] >> 10 == 0xdc00 >> 10;
  if (!pair) return nullptr;
  const uint32_t code = 0x10000 + ((halves[0] & 0x3ff) << 10) + (halves[1] & 0x3ff);
  if (out != nullptr) AppendCodePoint(code, out);
  return p;
}

NumberToken MeasureNumber(const char* p, const char* end) {
  const char* const whole = p;
  p = SkipDigits(p, end);
  auto digits = p - whole;
  bool is_integer = true;
  if (p != end && *p == '.') {
    is_integer = false;
    const char* const fraction = ++p;
    p = SkipDigits(p, end);
    digits += p - fraction;
  }
  if (digits == 0) return {};
  if (p != end && (*p == 'e' || *p == 'E')) {
    is_integer = false;
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    const char* const exponent = p;
    p = SkipDigits(p, end);
    if (p == exponent) return {};
  }
  if (p != end && (IsNameByte(*p) || *p == '.')) return {};
  // Python allows no leading zeros, except in zero itself.
  if (is_integer && *whole == '0' && !std::all_of(whole, p, [](char c) { return c == '0'; })) {
    return {};
  }
  return {p, is_integer};
}

double ParseDouble(std::string_view token) {
  double value = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  return DecimalMagnitude(token) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace oplens::literal
