#ifndef OPLENS_OPS_FAMILIES_ATTENTION_PAIRS_H_
#define OPLENS_OPS_FAMILIES_ATTENTION_PAIRS_H_

#include <cstdint>

#include "base/checked.h"

namespace oplens::ops {

/// Which keys a query sees. Query i and key j are j - i - shift apart, where the shift is 0, or
/// keys - queries when the last query stands over the last key. The query sees the keys that are at
/// most `left` before it and at most `right` after it.
struct Visibility {
  static constexpr int64_t kUnlimited = -1;  ///< As every negative number.
  int64_t left = kUnlimited;
  int64_t right = kUnlimited;  ///< 0: causal.
  bool bottom_right = false;   ///< The shift is keys - queries.
};

/// The pairs of a query and a key that it sees, by a closed formula. An extent below 0 has none;
/// extents whose sum does not fit into 64 bits overflow where `seen` limits.
Checked VisiblePairs(int64_t queries, int64_t keys, const Visibility& seen);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_ATTENTION_PAIRS_H_
