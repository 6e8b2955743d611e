#include "base/utf8.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace oplens {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// A character, or the incomplete beginning of one.
struct Sequence {
  size_t length = 1;
  bool valid = false;
  uint32_t code = 0;  // The code point, if valid.
};

/// Valid continuations of a first byte. Only the second byte has narrower bounds than 80..BF, to
/// exclude overlong forms, surrogates and too large numbers.
struct Lead {
  uint8_t first, last;
  uint8_t length;
  uint8_t second_least, second_most;
};

constexpr Lead kLeads[] = {
    {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF}, {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF}, {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F},
};

Sequence ReadSequence(std::string_view text, size_t i) {
  const auto first = static_cast<uint8_t>(text[i]);
  if (first < 0x80) return {1, true, first};
  const auto* lead = std::find_if(std::begin(kLeads), std::end(kLeads), [&](const Lead& row) {
    return first >= row.first && first <= row.last;
  });
  if (lead == std::end(kLeads)) return {};
  uint32_t code = first & (0x7Fu >> lead->length);
  for (size_t k = 1; k < lead->length; ++k) {
    const uint8_t byte = i + k < text.size() ? static_cast<uint8_t>(text[i + k]) : uint8_t{0};
    const uint8_t least = k == 1 ? lead->second_least : uint8_t{0x80};
    const uint8_t most = k == 1 ? lead->second_most : uint8_t{0xBF};
    if (byte < least || byte > most) return {k, false, 0};
    code = (code << 6) | (byte & 0x3Fu);
  }
  return {lead->length, true, code};
}

// The property Bidi_Control of The Unicode Standard: invisible characters that change the direction
// of the text after them.
bool TurnsDirection(uint32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 ||
         TurnsDirection(code);
}

// Unicode's general category Zs except U+1680, which has a visible form.
bool IsBlank(uint32_t code) {
  return code == 0x20 || code == 0xA0 || (code >= 0x2000 && code <= 0x200A) || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

bool IsHidden(uint32_t code, Utf8Hidden hidden) {
  if (hidden == Utf8Hidden::kNothing) return false;
  return IsControl(code) || (hidden == Utf8Hidden::kControlsAndBlanks && IsBlank(code));
}

}  // namespace

size_t Utf8Length(std::string_view text, size_t i) {
  const Sequence sequence = ReadSequence(text, i);
  return sequence.valid ? sequence.length : 0;
}

namespace {

/// How many bytes from the first on lie in [least, most], which is ASCII. Eight at a time.
size_t PlainPrefix(std::string_view text, uint8_t least, uint8_t most) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = kOnes * 0x80;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= text.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    const uint64_t below = (word - kOnes * least) & ~word;
    const uint64_t above = (word + kOnes * (0x7F - most)) | word;
    if (((below | above) & kHighs) != 0) break;
  }
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < least || byte > most) break;
  }
  return i;
}

}  // namespace

void AppendUtf8(std::string_view text, Utf8Hidden hidden, std::string* out) {
  // Nearly every text is ASCII with little to hide.
  const uint8_t least = hidden == Utf8Hidden::kNothing    ? uint8_t{0}
                        : hidden == Utf8Hidden::kControls ? uint8_t{0x20}
                                                          : uint8_t{0x21};
  const uint8_t most = hidden == Utf8Hidden::kNothing ? uint8_t{0x7F} : uint8_t{0x7E};
  for (size_t i = 0; i < text.size();) {
    const size_t plain = PlainPrefix(text.substr(i), least, most);
    out->append(text.substr(i, plain));
    i += plain;
    if (i == text.size()) return;
    const Sequence sequence = ReadSequence(text, i);
    if (!sequence.valid) {
      out->append(kReplacement);
    } else if (IsHidden(sequence.code, hidden)) {
      out->push_back('_');
    } else {
      out->append(text.substr(i, sequence.length));
    }
    i += sequence.length;
  }
}

std::string LineText(std::string_view text) {
  std::string line;
  AppendUtf8(text, Utf8Hidden::kControls, &line);
  return line;
}

}  // namespace oplens
