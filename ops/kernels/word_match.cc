#include "ops/kernels/word_match.h"

#include <algorithm>
#include <utility>

namespace oplens::ops {

WordText::WordText(std::string text) : text_(std::move(text)) {
  for (size_t i = 0; i + 1 < text_.size(); ++i) pairs_.set(PairAt(text_, i));
}

uint16_t WordText::PairAt(std::string_view text, size_t place) {
  // Six bits tell '_', letters of one case and digits apart.
  constexpr unsigned kMask = 63;
  const auto bits = [&](size_t i) { return static_cast<unsigned char>(text[i]) & kMask; };
  return static_cast<uint16_t>(bits(place) << 6 | bits(place + 1));
}

bool WordText::Holds(std::string_view word) const {
  if (word.size() >= 2 && !(pairs_[PairAt(word, 0)] && pairs_[PairAt(word, word.size() - 2)])) {
    return false;
  }
  return text_.find(word) != std::string::npos;
}

WordPattern::WordPattern(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("|&"), text.size());
    Part part{text.substr(0, end), 0, 0, false, end == text.size() || text[end] == '|'};
    part.is_anchored = part.word.starts_with('^');
    if (part.is_anchored) part.word.remove_prefix(1);
    if (part.word.size() >= 2) {
      part.first_pair = WordText::PairAt(part.word, 0);
      part.last_pair = WordText::PairAt(part.word, part.word.size() - 2);
    }
    parts_.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool WordPattern::Occurs(const Part& part, const WordText& words) {
  if (part.is_anchored) return words.text().starts_with(part.word);
  const bool may =
      part.word.size() < 2 || (words.pairs_[part.first_pair] && words.pairs_[part.last_pair]);
  return may && words.text().find(part.word) != std::string::npos;
}

bool WordPattern::Matches(const WordText& words) const {
  bool holds = true;  // All parts of this alternative so far.
  for (const Part& part : parts_) {
    holds = holds && Occurs(part, words);
    if (part.is_last && holds) return true;
    if (part.is_last) holds = true;
  }
  return false;
}

bool HoldsAny(const WordText& words, std::string_view pattern) {
  return WordPattern(pattern).Matches(words);
}

}  // namespace oplens::ops
