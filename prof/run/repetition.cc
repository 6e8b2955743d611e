#include "prof/run/repetition.h"

#include <algorithm>
#include <vector>

namespace oplens::prof {

std::optional<Repetition> FindRepetition(std::span<const uint64_t> sequence) {
  const size_t n = sequence.size();
  if (n < 2 || n > UINT32_MAX) return std::nullopt;
  // same[p]: of the items counted from the last, how many from the p-th on are those from the
  // 0-th on (the Z function). The last p + same[p] items then have period p.
  std::vector<uint32_t> same(n, 0);
  const auto from_end = [&](size_t i) { return sequence[n - 1 - i]; };
  Repetition best;
  size_t best_size = 0;
  size_t left = 0;
  size_t right = 0;  // [left, right) is the match that reaches furthest.
  for (size_t p = 1; p < n; ++p) {
    size_t match = p < right ? std::min<size_t>(right - p, same[p - left]) : 0;
    while (p + match < n && from_end(match) == from_end(p + match)) ++match;
    same[p] = static_cast<uint32_t>(match);
    if (p + match > right) {
      left = p;
      right = p + match;
    }
    const size_t count = (p + match) / p;
    // Shorter periods come first, and their multiples reach no further.
    if (count >= static_cast<size_t>(kLeastRepetitions) && p + match > best_size) {
      best_size = p + match;
      best = {static_cast<int64_t>(p), static_cast<int64_t>(count)};
    }
  }
  if (best.count == 0 || 2 * best.period * best.count < static_cast<int64_t>(n)) {
    return std::nullopt;
  }
  // The shortest period of one item only is a loop over a kernel, whatever it is a part of.
  if (best.period == 1) return std::nullopt;
  return best;
}

}  // namespace oplens::prof
