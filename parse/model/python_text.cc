#include "parse/model/python_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/byte_scan.h"
#include "base/utf8.h"

namespace oplens {
namespace {

static_assert(std::endian::native == std::endian::little);

/// What WriteInt() may touch: a sign and three times eight digits.
constexpr size_t kIntRoom = 25;
constexpr uint64_t kEightZeros = 0x3030303030303030;
constexpr uint64_t kEightDigits = 100'000'000;

/// The digits of a number below kEightDigits, the first one in the lowest byte: all of a size are
/// split at once, as P. Khuong describes ("How to print integers really fast", 2017).
uint64_t DigitsOf(uint64_t number) {
  const uint64_t fours = number / 10'000 + ((number % 10'000) << 32);
  // Below 10,000 a hundredth is 10,486 / 2^20; below 100 a tenth is 103 / 2^10.
  const uint64_t hundreds = ((fours * 10'486) >> 20) & 0x7F'0000'007F;
  const uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
  const uint64_t tens = ((twos * 103) >> 10) & 0x000F'000F'000F'000F;
  return tens + ((twos - 10 * tens) << 8);
}

/// Writes a number below kEightDigits without zeros before it; returns its end. Touches 8 bytes.
char* WriteFirstDigits(uint64_t number, char* to) {
  const uint64_t digits = DigitsOf(number);
  // Of 0 the last digit stays.
  const int zeros = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  const uint64_t text = (digits | kEightZeros) >> (8 * zeros);
  std::memcpy(to, &text, sizeof text);
  return to + (8 - zeros);
}

/// Writes all eight digits of a number below kEightDigits.
char* WriteEightDigits(uint64_t number, char* to) {
  const uint64_t text = DigitsOf(number) | kEightZeros;
  std::memcpy(to, &text, sizeof text);
  return to + sizeof text;
}

/// Writes a number; returns its end. Most are times of 19 digits, and ids. Touches kIntRoom bytes.
inline char* WriteInt(int64_t value, char* to) {
  auto number = static_cast<uint64_t>(value);
  if (value < 0) {
    *to++ = '-';
    number = 0 - number;
  }
  if (number < 10) {
    *to = static_cast<char>('0' + number);
    return to + 1;
  }
  if (number < kEightDigits) return WriteFirstDigits(number, to);
  const uint64_t before = number / kEightDigits;
  if (before < kEightDigits) {
    to = WriteFirstDigits(before, to);
  } else {
    to = WriteFirstDigits(before / kEightDigits, to);
    to = WriteEightDigits(before % kEightDigits, to);
  }
  return WriteEightDigits(number % kEightDigits, to);
}

void AppendHex(std::string_view prefix, unsigned value, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->append(prefix);
  out->push_back(kDigits[value >> 4]);
  out->push_back(kDigits[value & 15]);
}

/// Escapes what cannot stand in a Python literal between `quote`s, and control characters, C1
/// controls and Unicode line separators, so that every reader sees a record as one line.
void AppendEscaped(std::string_view text, char quote, std::string* out) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if (c == '\\' || c == static_cast<unsigned char>(quote)) {
        out->push_back('\\');
        out->push_back(text[i]);
      } else if (c == '\n') {
        out->append("\\n");
      } else if (c == '\r') {
        out->append("\\r");
      } else if (c == '\t') {
        out->append("\\t");
      } else if (c < 0x20 || c == 0x7F) {
        AppendHex("\\x", c, out);
      } else {
        out->push_back(text[i]);
      }
      ++i;
      continue;
    }
    const size_t length = Utf8Length(text, i);
    if (length == 0) {
      AppendHex("\\udc", c, out);
      ++i;
    } else if (length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      AppendHex("\\x", static_cast<unsigned char>(text[i + 1]), out);
      i += 2;
    } else if (text.substr(i, 2) == "\xE2\x80" &&
               (text[i + 2] == '\xA8' || text[i + 2] == '\xA9')) {
      AppendHex("\\u20", static_cast<unsigned char>(text[i + 2]) - 0x80u, out);
      i += 3;
    } else {
      out->append(text.substr(i, length));
      i += length;
    }
  }
}

}  // namespace

void AppendPythonInt(int64_t value, std::string* out) {
  char digits[kIntRoom];
  out->append(digits, WriteInt(value, digits));
}

void AppendPythonInt(int64_t value, TextEnd* out) {
  char* const digits = out->Room(kIntRoom);
  out->Add(static_cast<size_t>(WriteInt(value, digits) - digits));
}

void AppendPythonFloat(double value, std::string* out) {
  if (std::isnan(value)) {  // Of either sign.
    out->append("nan");
    return;
  }
  // The longest finite number is "-2.2250738585072014e-308".
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const std::string_view text(digits, static_cast<size_t>(end - digits));
  out->append(text);
  if (text.find_first_of(".ei") == std::string_view::npos) out->append(".0");
}

namespace {

/// How a text is written.
struct Quoting {
  char quote;
  bool escaped;  ///< Something in it.
};

/// Nearly every text needs no escape, and kernel names are long.
Quoting QuotingOf(std::string_view text) {
  SixteenAnswers single{};
  SixteenAnswers twofold{};
  SixteenAnswers backslash{};
  SixteenAnswers plain = ~SixteenAnswers{};
  ForEachSixteenBytes(text, [&](SixteenBytes c) {
    single |= c == '\'';
    twofold |= c == '"';
    backslash |= c == '\\';
    // As signed numbers, those after 0x7F to 0xFF are at most 0.
    plain &= reinterpret_cast<SixteenAnswers>(c + 1) > 0x20;
  });
  const bool any_single = AnyOf(single);
  const bool any_twofold = AnyOf(twofold);
  return {any_single && !any_twofold ? '"' : '\'',
          AnyOf(backslash | ~plain) || (any_single && any_twofold)};
}

}  // namespace

void AppendPythonString(std::string_view text, std::string* out) {
  const Quoting quoting = QuotingOf(text);
  out->push_back(quoting.quote);
  if (quoting.escaped) {
    AppendEscaped(text, quoting.quote, out);
  } else {
    out->append(text);
  }
  out->push_back(quoting.quote);
}

void AppendPythonString(std::string_view text, TextEnd* out) {
  const Quoting quoting = QuotingOf(text);
  std::string escaped;
  if (quoting.escaped) {
    AppendEscaped(text, quoting.quote, &escaped);
    text = escaped;
  }
  char* const to = out->Room(text.size() + 2);
  to[0] = quoting.quote;
  text.copy(to + 1, text.size());
  to[text.size() + 1] = quoting.quote;
  out->Add(text.size() + 2);
}

}  // namespace oplens
