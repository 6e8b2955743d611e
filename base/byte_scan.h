#ifndef OPLENS_BASE_BYTE_SCAN_H_
#define OPLENS_BASE_BYTE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace oplens {

/// 16 bytes that are compared at once; the result of a comparison has 0 for no and -1 for yes.
using SixteenBytes = unsigned char __attribute__((vector_size(16)));
using SixteenAnswers = signed char __attribute__((vector_size(16)));

inline bool AnyOf(SixteenAnswers answers) {
  uint64_t halves[2];
  static_assert(sizeof halves == sizeof answers);
  std::memcpy(halves, &answers, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/// Calls `f` with bytes of `text`, until it had each at least once, in no order.
template <typename F>
void ForEachSixteenBytes(std::string_view text, F f) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  SixteenBytes bytes;
  if (text.size() >= sizeof bytes) {
    for (const char* p = begin; p + sizeof bytes < end; p += sizeof bytes) {
      std::memcpy(&bytes, p, sizeof bytes);
      f(bytes);
    }
    std::memcpy(&bytes, end - sizeof bytes, sizeof bytes);
  } else if (text.size() >= sizeof(uint64_t)) {
    // The first and the last 8 bytes hold all.
    uint64_t halves[2];
    std::memcpy(&halves[0], begin, sizeof halves[0]);
    std::memcpy(&halves[1], end - sizeof halves[1], sizeof halves[1]);
    std::memcpy(&bytes, halves, sizeof bytes);
  } else if (text.size() >= sizeof(uint32_t)) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, begin, sizeof first);
    std::memcpy(&last, end - sizeof last, sizeof last);
    const uint32_t quarters[4] = {first, last, first, last};
    std::memcpy(&bytes, quarters, sizeof bytes);
  } else if (!text.empty()) {
    const auto at = [&](size_t i) { return uint32_t{static_cast<unsigned char>(text[i])}; };
    const uint32_t all = at(0) | at(text.size() / 2) << 8 | at(text.size() - 1) << 16 | at(0) << 24;
    const uint32_t quarters[4] = {all, all, all, all};
    std::memcpy(&bytes, quarters, sizeof bytes);
  } else {
    return;
  }
  f(bytes);
}

}  // namespace oplens

#endif  // OPLENS_BASE_BYTE_SCAN_H_
