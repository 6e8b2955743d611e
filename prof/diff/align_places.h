#ifndef OPLENS_PROF_DIFF_ALIGN_PLACES_H_
#define OPLENS_PROF_DIFF_ALIGN_PLACES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "prof/diff/side.h"

namespace oplens::prof {

/// Places of both runs that are the same.
struct PlacePair {
  std::optional<size_t> base;  ///< Index in Side::places(); nullopt: it is new,
  std::optional<size_t> now;   ///< or removed.
};

struct Alignment {
  std::vector<PlacePair> pairs;  ///< Each place of each side occurs once.
  /// Places of gaps too large to align in order, of both sides; 0: none.
  size_t unordered = 0;
};

/// Pairs the places of two runs. Places with equal keys are the same. The longest common
/// subsequence of these, in the order of a step, cuts the rest into gaps. Within a gap, pairs in
/// order
///
/// 1. calls of one op of one layer and direction, whatever their shapes;
/// 2. calls of one op and direction with the same shapes: a renamed layer;
/// 3. kernels without an op: only if both sides have equally many of a layer that run equally often
///    per step.
///
/// Rule 1 is also tried across gaps, for calls that have a layer. If a gap has more than kMostEdits
/// places on a side, rule 3 is left out, and rule 2 goes by key and order over all gaps. O(n log n)
/// in places.
Alignment AlignPlaces(const Side& base, const Side& now);

inline constexpr size_t kMostEdits = 4096;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_ALIGN_PLACES_H_
