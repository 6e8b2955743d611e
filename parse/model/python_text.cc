#include "parse/model/python_text.h"

#include <charconv>
#include <cmath>

#include "base/byte_scan.h"
#include "base/utf8.h"

namespace oplens {
namespace {

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
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out->append(digits, end);
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

/// The characters in a text that affect quoting.
struct Characters {
  bool single = false;   ///< '
  bool twofold = false;  ///< "
  bool special = false;  ///< Backslash, control or not ASCII.
};

/// Nearly every text needs no escape, and kernel names are long.
Characters LookAt(std::string_view text) {
  SixteenAnswers single{};
  SixteenAnswers twofold{};
  SixteenAnswers special{};
  ForEachSixteenBytes(text, [&](SixteenBytes c) {
    single |= c == '\'';
    twofold |= c == '"';
    special |= (c < 0x20) | (c >= 0x7F) | (c == '\\');
  });
  return {AnyOf(single), AnyOf(twofold), AnyOf(special)};
}

}  // namespace

void AppendPythonString(std::string_view text, std::string* out) {
  const Characters found = LookAt(text);
  const char quote = found.single && !found.twofold ? '"' : '\'';
  if (found.special || (found.single && found.twofold)) {
    out->push_back(quote);
    AppendEscaped(text, quote, out);
    out->push_back(quote);
    return;
  }
  const size_t begin = out->size();
  out->append(text.size() + 2, quote);
  text.copy(out->data() + begin + 1, text.size());
}

}  // namespace oplens
