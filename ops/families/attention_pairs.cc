#include "ops/families/attention_pairs.h"

#include <algorithm>
#include <optional>

namespace oplens::ops {
namespace {

/// The sum over 0 <= i < rows of i + first, cut to between 0 and `most`.
Checked SumOfRows(int64_t rows, int64_t first, int64_t most) {
  // Rows before `start` have nothing, those from `full` on have `most`.
  const int64_t start = std::min(rows, std::max<int64_t>(0, first == INT64_MIN ? rows : -first));
  if (first >= most) return Checked(rows) * most;
  const std::optional<int64_t> limit = (Checked(most) - first).Value();
  const int64_t full = std::max(start, std::min(rows, limit.value_or(rows)));
  const Checked growing = Checked(full) - start;
  const Checked least = Checked(start) + first;
  return growing * least + growing * (growing - 1) / 2 + (Checked(rows) - full) * most;
}

/// The pairs whose key is at most `after` behind its query. `after` may be negative.
Checked PairsUpTo(int64_t queries, int64_t keys, Checked shift, Checked after) {
  const std::optional<int64_t> first = (shift + after + 1).Value();
  // A sum that does not fit is an overflow of the result.
  if (!first) return Checked(INT64_MAX) * INT64_MAX * INT64_MAX;
  return SumOfRows(queries, *first, keys);
}

}  // namespace

Checked VisiblePairs(int64_t queries, int64_t keys, const Visibility& seen) {
  if (queries <= 0 || keys <= 0) return 0;
  // A window that is as wide as the longer side cuts nothing.
  const int64_t longest = std::max(queries, keys);
  const auto limits = [&](int64_t side) { return side >= 0 && side < longest; };
  const Checked shift = seen.bottom_right ? Checked(keys) - queries : Checked(0);
  Checked pairs =
      limits(seen.right) ? PairsUpTo(queries, keys, shift, seen.right) : Checked(queries) * keys;
  if (limits(seen.left)) {
    pairs = pairs - PairsUpTo(queries, keys, shift, Checked(-1) - seen.left);
  }
  return pairs;
}

}  // namespace oplens::ops
