#include "parse/source/repair_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Reads the four hexadecimal digits of an escape \uXXXX at `at`; false if there is none.
bool ReadCodeUnit(std::string_view text, size_t at, unsigned* unit) {
  if (text.size() < at + 6 || text.substr(at, 2) != "\\u") return false;
  const char* const begin = text.data() + at + 2;
  const auto result = std::from_chars(begin, begin + 4, *unit, 16);
  return result.ec == std::errc{} && result.ptr == begin + 4;
}

size_t SkipDigits(std::string_view word, size_t at) {
  while (at < word.size() && IsDigit(word[at])) ++at;
  return at;
}

template <typename T>
bool Fits(std::string_view word) {
  T value{};
  return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc{};
}

/// Whether it is a JSON number that 64 bits can hold.
bool IsGoodNumber(std::string_view word) {
  const size_t first = word.starts_with('-') ? 1 : 0;
  size_t at = SkipDigits(word, first);
  if (at == first || (word[first] == '0' && at > first + 1)) return false;
  if (at == word.size()) return Fits<int64_t>(word) || Fits<uint64_t>(word);
  if (word[at] == '.') {
    const size_t fraction = at + 1;
    at = SkipDigits(word, fraction);
    if (at == fraction) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    const size_t exponent = at;
    at = SkipDigits(word, exponent);
    if (at == exponent) return false;
  }
  return at == word.size() && Fits<double>(word);
}

class JsonRepairer {
 public:
  JsonRepairer(std::string_view text, JsonQuotes quotes) : text_(text), quotes_(quotes) {
    out_.reserve(text.size() + 16);
  }

  std::string Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        CopyString();
      } else if (c == ',') {
        CopyComma();
      } else if (IsBlank(c) || c == '{' || c == '}' || c == '[' || c == ']' || c == ':') {
        Nest(c);
        out_.push_back(c);
        ++at_;
      } else {
        CopyWord();
      }
    }
    return std::move(out_);
  }

 private:
  void Nest(char c) {
    if (c == '{' || c == '[') {
      nesting_.push_back(c);
      key_ = c == '{';
    } else if (c == '}' || c == ']') {
      if (!nesting_.empty()) nesting_.pop_back();
      key_ = false;
    } else if (c == ':') {
      key_ = false;
    }
  }

  size_t SkipBlanks(size_t at) const {
    while (at < text_.size() && IsBlank(text_[at])) ++at;
    return at;
  }

  /// Whether the quote at at_ ends the string: what follows it is what JSON has there.
  bool EndsString() const {
    if (quotes_ == JsonQuotes::kEscaped) return true;
    const size_t next = SkipBlanks(at_ + 1);
    if (next == text_.size()) return true;
    const char c = text_[next];
    if (key_) return c == ':';
    const bool object = nesting_.empty() || nesting_.back() == '{';
    const size_t after = SkipBlanks(next + 1);
    if (c == ',') return !object || (after < text_.size() && text_[after] == '"');
    if (c != (object ? '}' : ']')) return false;
    return after == text_.size() || std::string_view(",}]").find(text_[after]) != std::string::npos;
  }

  void CopyString() {
    out_.push_back('"');
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (EndsString()) {
          ++at_;
          break;
        }
        out_.append("\\\"");
        ++at_;
        continue;
      }
      if (c == '\\') {
        CopyEscape();
      } else {
        CopyCharacter();
      }
    }
    out_.push_back('"');
  }

  void CopyEscape() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    unsigned unit = 0;
    if (next == 'u' && ReadCodeUnit(text_, at_, &unit)) return CopyCodeUnit(unit);
    if (next != '\0' && std::string_view("\"\\/bfnrt").find(next) != std::string_view::npos) {
      out_.append(text_.substr(at_, 2));
      at_ += 2;
    } else {
      out_.append("\\\\");
      ++at_;
    }
  }

  /// A surrogate is valid only in a pair.
  void CopyCodeUnit(unsigned unit) {
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    unsigned low = 0;
    size_t length = 6;
    if (high && ReadCodeUnit(text_, at_ + 6, &low) && low >= 0xDC00 && low < 0xE000) length = 12;
    if (length == 6 && unit >= 0xD800 && unit < 0xE000) {
      out_.append(kReplacement);
    } else {
      out_.append(text_.substr(at_, length));
    }
    at_ += length;
  }

  void CopyCharacter() {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20) {
      out_.append(fmt::format("\\u{:04x}", static_cast<unsigned>(c)));
      ++at_;
      return;
    }
    const size_t length = c < 0x80 ? 1 : Utf8Length(text_, at_);
    out_.append(length == 0 ? kReplacement : text_.substr(at_, length));
    at_ += length == 0 ? 1 : length;
  }

  void CopyComma() {
    size_t next = at_ + 1;
    while (next < text_.size() && (IsBlank(text_[next]) || text_[next] == ',')) ++next;
    const bool last = next < text_.size() && (text_[next] == '}' || text_[next] == ']');
    if (!last) out_.push_back(',');
    key_ = !nesting_.empty() && nesting_.back() == '{';
    at_ = next;
  }

  void CopyWord() {
    const size_t begin = at_;
    while (at_ < text_.size() && !IsBlank(text_[at_]) &&
           std::string_view(",:{}[]\"").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "true" || word == "false" || word == "null" || IsGoodNumber(word)) {
      out_.append(word);
      return;
    }
    // As a string, whose bytes are fixed like any other's.
    const size_t end = at_;
    const std::string_view whole = text_;
    text_ = whole.substr(0, end);
    at_ = begin;
    CopyString();
    text_ = whole;
    at_ = end;
  }

  std::string_view text_;
  JsonQuotes quotes_;
  size_t at_ = 0;
  bool key_ = false;     // A string at at_ would be a key.
  std::string nesting_;  // Open brackets.
  std::string out_;
};

}  // namespace

std::string RepairJson(std::string_view text, JsonQuotes quotes) {
  return JsonRepairer(text, quotes).Run();
}

}  // namespace oplens::parse
