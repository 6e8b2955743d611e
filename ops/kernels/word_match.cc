#include "ops/kernels/word_match.h"

#include <algorithm>
#include <utility>

namespace oplens::ops {
namespace {

bool HoldsPart(const WordText& words, std::string_view part) {
  if (part.starts_with('^')) return words.text().starts_with(part.substr(1));
  return words.Holds(part);
}

}  // namespace

WordText::WordText(std::string text) : text_(std::move(text)) {
  for (size_t i = 0; i + 1 < text_.size(); ++i) pairs_.set(PairAt(text_, i));
}

size_t WordText::PairAt(std::string_view text, size_t place) {
  // Six bits tell '_', letters of one case and digits apart.
  constexpr unsigned kMask = 63;
  const auto bits = [&](size_t i) { return static_cast<unsigned char>(text[i]) & kMask; };
  return bits(place) << 6 | bits(place + 1);
}

bool WordText::Holds(std::string_view word) const {
  if (word.size() >= 2 && !(pairs_[PairAt(word, 0)] && pairs_[PairAt(word, word.size() - 2)])) {
    return false;
  }
  return text_.find(word) != std::string::npos;
}

bool HoldsAny(const WordText& words, std::string_view alternatives) {
  const char* const end = alternatives.data() + alternatives.size();
  bool holds = true;  // All parts of this alternative so far.
  for (const char* begin = alternatives.data(); begin < end;) {
    const char* const stop = std::find_if(begin, end, [](char c) { return c == '|' || c == '&'; });
    holds = holds && HoldsPart(words, {begin, stop});
    const bool is_last = stop == end || *stop == '|';
    if (is_last && holds) return true;
    if (is_last) holds = true;
    begin = stop + 1;
  }
  return false;
}

}  // namespace oplens::ops
