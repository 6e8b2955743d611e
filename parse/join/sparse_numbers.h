#ifndef OPLENS_PARSE_JOIN_SPARSE_NUMBERS_H_
#define OPLENS_PARSE_JOIN_SPARSE_NUMBERS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oplens::parse {

/// Numbers of some ranges, 0 of all others: 1.5 bits a range, and 4 bytes a range that has one.
class SparseNumbers {
 public:
  SparseNumbers() = default;
  /// Pairs of a range, below `ranges`, and its number; of several of a range the least counts.
  SparseNumbers(size_t ranges, std::vector<std::pair<uint32_t, uint32_t>> numbers)
      : words_(ranges / kBits + 1, 0), before_(words_.size(), 0) {
    std::sort(numbers.begin(), numbers.end());
    numbers_.reserve(numbers.size());
    for (const auto& [range, number] : numbers) {
      const uint64_t bit = uint64_t{1} << range % kBits;
      if ((words_[range / kBits] & bit) != 0) continue;
      words_[range / kBits] |= bit;
      numbers_.push_back(number);
    }
    uint32_t count = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = count;
      count += static_cast<uint32_t>(std::popcount(words_[i]));
    }
  }

  uint32_t Of(size_t range) const {
    if (words_.empty()) return 0;
    const uint64_t word = words_[range / kBits];
    const uint64_t bit = uint64_t{1} << range % kBits;
    if ((word & bit) == 0) return 0;
    return numbers_[before_[range / kBits] +
                    static_cast<uint32_t>(std::popcount(word & (bit - 1)))];
  }

 private:
  static constexpr size_t kBits = 64;

  std::vector<uint64_t> words_;   // A bit a range.
  std::vector<uint32_t> before_;  // How many have one before each word.
  std::vector<uint32_t> numbers_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_SPARSE_NUMBERS_H_
