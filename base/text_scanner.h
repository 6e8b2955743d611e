#ifndef OPLENS_BASE_TEXT_SCANNER_H_
#define OPLENS_BASE_TEXT_SCANNER_H_

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace oplens {

/// A forward cursor in a short text, for hand-written parsers. The text must outlive it.
class TextScanner {
 public:
  TextScanner() = default;
  explicit TextScanner(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  size_t place() const { return place_; }
  void MoveTo(size_t place) { place_ = place; }
  bool AtEnd() const { return place_ == text_.size(); }
  std::string_view rest() const { return text_.substr(place_); }

  char Peek() const { return AtEnd() ? '\0' : text_[place_]; }
  /// Consumes and returns the next character, which must exist.
  char Next() { return text_[place_++]; }
  /// Consumes `c` if it comes next.
  bool Take(char c) {
    if (AtEnd() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  /// Consumes `word` if it comes next.
  bool Take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    place_ += word.size();
    return true;
  }
  /// Consumes and returns the longest run of characters for which `is(c)` holds.
  template <typename Is>
  std::string_view TakeWhile(Is is) {
    const size_t begin = place_;
    while (!AtEnd() && is(text_[place_])) ++place_;
    return text_.substr(begin, place_ - begin);
  }
  void SkipBlanks() { TakeWhile(IsBlank); }

 private:
  std::string_view text_;
  size_t place_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_TEXT_SCANNER_H_
