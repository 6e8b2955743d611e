#include "ops/kernels/word_match.h"

#include <cstddef>

namespace oplens::ops {
namespace {

/// Returns the part before the first `mark` and removes both from `text`.
std::string_view TakeUpTo(char mark, std::string_view* text) {
  const size_t end = text->find(mark);
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return part;
}

bool HoldsPart(std::string_view words, std::string_view part) {
  if (part.starts_with('^')) return words.starts_with(part.substr(1));
  return words.find(part) != std::string_view::npos;
}

bool HoldsAll(std::string_view words, std::string_view parts) {
  while (!parts.empty()) {
    if (!HoldsPart(words, TakeUpTo('&', &parts))) return false;
  }
  return true;
}

}  // namespace

bool HoldsAny(std::string_view words, std::string_view alternatives) {
  while (!alternatives.empty()) {
    if (HoldsAll(words, TakeUpTo('|', &alternatives))) return true;
  }
  return false;
}

}  // namespace oplens::ops
