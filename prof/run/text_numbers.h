#ifndef OPLENS_PROF_RUN_TEXT_NUMBERS_H_
#define OPLENS_PROF_RUN_TEXT_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace oplens::prof {

/// Numbers distinct texts; 0 is the empty text.
class TextNumbers {
 public:
  TextNumbers() = default;
  TextNumbers(const TextNumbers&) = delete;
  TextNumbers& operator=(const TextNumbers&) = delete;

  uint32_t NumberOf(std::string_view text);
  std::string_view TextOf(uint32_t number) const { return texts_[number]; }

 private:
  TextMap<uint32_t> numbers_;
  std::vector<std::string_view> texts_{std::string_view()};  // Views into numbers_.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TEXT_NUMBERS_H_
