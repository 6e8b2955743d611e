#include "prof/run/text_numbers.h"

namespace oplens::prof {

uint32_t TextNumbers::NumberOf(std::string_view text) {
  if (text.empty()) return 0;
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.push_back(numbers_.emplace(std::string(text), number).first->first);
  return number;
}

}  // namespace oplens::prof
