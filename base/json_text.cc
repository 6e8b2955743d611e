#include "base/json_text.h"

#include "base/append_format.h"
#include "base/utf8.h"

namespace oplens {
namespace {

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendFormat(out, "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
  }
}

/// Whether `text` needs no escapes.
bool IsPlain(std::string_view text) {
  bool special = false;
  for (const char character : text) {
    const auto c = static_cast<unsigned char>(character);
    special |= (c < 0x20) | (c >= 0x80) | (c == '\\') | (c == '"');
  }
  return !special;
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  if (IsPlain(text)) {
    out->append(text);
  } else {
    std::string valid;
    AppendUtf8(text, Utf8Hidden::kNothing, &valid);
    AppendEscaped(valid, out);
  }
  out->push_back('"');
}

}  // namespace oplens
