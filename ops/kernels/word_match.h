#ifndef OPLENS_OPS_KERNELS_WORD_MATCH_H_
#define OPLENS_OPS_KERNELS_WORD_MATCH_H_

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>

namespace oplens::ops {

/// A text in which many words are sought, most of them in vain.
class WordText {
 public:
  explicit WordText(std::string text);

  const std::string& text() const { return text_; }
  /// Whether the word occurs; "" does.
  bool Holds(std::string_view word) const;

 private:
  static constexpr size_t kPairs = 4096;
  static size_t PairAt(std::string_view text, size_t place);

  std::string text_;
  std::bitset<kPairs> pairs_;  // Of neighbouring bytes, by hash.
};

/// Whether words (AsWords) match a pattern of a table: '|' separates alternatives, '&' parts that
/// must all occur. "_sort_" is a whole word, "sort" matches anywhere, a leading "^" only at the
/// beginning.
bool HoldsAny(const WordText& words, std::string_view alternatives);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_WORD_MATCH_H_
