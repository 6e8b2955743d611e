#ifndef OPLENS_OPS_KERNELS_WORD_MATCH_H_
#define OPLENS_OPS_KERNELS_WORD_MATCH_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops {

/// A text in which many words are sought, most of them in vain.
class WordText {
 public:
  explicit WordText(std::string text);

  const std::string& text() const { return text_; }
  /// Whether the word occurs; "" does.
  bool Holds(std::string_view word) const;

 private:
  friend class WordPattern;

  static constexpr size_t kPairs = 4096;
  static uint16_t PairAt(std::string_view text, size_t place);

  std::string text_;
  std::bitset<kPairs> pairs_;  // Of neighbouring bytes, by hash.
};

/// A pattern of a table over words (AsWords): '|' separates alternatives, '&' parts that must all
/// occur. "_sort_" is a whole word, "sort" matches anywhere, a leading "^" only at the beginning.
class WordPattern {
 public:
  /// Keeps views of `text`.
  explicit WordPattern(std::string_view text);

  bool empty() const { return parts_.empty(); }
  bool Matches(const WordText& words) const;

 private:
  struct Part {
    std::string_view word;
    uint16_t first_pair, last_pair;  // Of WordText; equal for words below two bytes.
    bool is_anchored;
    bool is_last;  // Of its alternative.
  };

  static bool Occurs(const Part& part, const WordText& words);

  std::vector<Part> parts_;
};

/// Whether words match a pattern that is used once.
bool HoldsAny(const WordText& words, std::string_view pattern);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_WORD_MATCH_H_
