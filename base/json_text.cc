#include "base/json_text.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/append_format.h"
#include "base/byte_scan.h"
#include "base/utf8.h"

namespace oplens {
namespace {

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view kEscapes = "\"\\bfnrt";
    const size_t escape = kEscaped.find(c);
    if (escape != std::string_view::npos) {
      out->push_back('\\');
      out->push_back(kEscapes[escape]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendFormat(out, "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
  }
}

/// Whether `text` needs no escapes.
bool IsPlain(std::string_view text) {
  SixteenAnswers special{};
  ForEachSixteenBytes(text, [&](SixteenBytes c) {
    special |= (c < 0x20) | (c >= 0x80) | (c == '\\') | (c == '"');
  });
  return !AnyOf(special);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  if (IsPlain(text)) {
    const size_t begin = out->size();
    out->append(text.size() + 2, '"');
    text.copy(out->data() + begin + 1, text.size());
    return;
  }
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kNothing, &valid);
  out->push_back('"');
  AppendEscaped(valid, out);
  out->push_back('"');
}

void AppendJsonNumber(double value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  std::array<char, 64> digits;  // Of at most 25.
  char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
  out->append(digits.data(), end);
}

}  // namespace oplens
