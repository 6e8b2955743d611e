#ifndef OPLENS_BASE_TEXT_SCANNER_H_
#define OPLENS_BASE_TEXT_SCANNER_H_

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace oplens {

/// A place in a short text that somebody wrote, which goes forward: what parsers by hand take words
/// and characters with. The text must outlive it.
class TextScanner {
 public:
  TextScanner() = default;
  explicit TextScanner(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  /// The place of the next character, from 0.
  size_t place() const { return place_; }
  void MoveTo(size_t place) { place_ = place; }
  bool AtEnd() const { return place_ == text_.size(); }
  /// What is left of the text.
  std::string_view rest() const { return text_.substr(place_); }

  /// The next character; 0 at the end.
  char Peek() const { return AtEnd() ? '\0' : text_[place_]; }
  /// The next character, which there must be; moves behind it.
  char Next() { return text_[place_++]; }
  /// Moves behind `c` if it is the next character.
  bool Take(char c) {
    if (AtEnd() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  /// Moves behind `word` if the text goes on with it.
  bool Take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    place_ += word.size();
    return true;
  }
  /// The longest run of characters that `is(c)` is true of; moves behind it.
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
