#ifndef OPLENS_PROF_DIFF_ALIGN_PLACES_H_
#define OPLENS_PROF_DIFF_ALIGN_PLACES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "prof/diff/side.h"

namespace oplens::prof {

/// What of the new run is the same as what of the base.
struct PlacePair {
  std::optional<size_t> base;  ///< Into Side::places(); nullopt: it is new,
  std::optional<size_t> now;   ///< or it is gone.
};

struct Alignment {
  std::vector<PlacePair> pairs;  ///< Each place of each side once.
  /// Places of the gap that was too large for its order, of both sides; 0: none was.
  size_t unordered = 0;
};

/// Pairs the places of two runs. Those with equal keys are the same. The longest common subsequence
/// of these, in the order in which they run in a step, cuts the rest into gaps; in a gap, in their
/// order, are paired
///
/// 1. calls of one op of one layer and direction, whatever their shapes;
/// 2. calls of one op and direction on the same shapes: a layer of another name;
/// 3. kernels without an op: only where both sides have equally many of a layer that run equally
///    often in a step.
///
/// The first of these is also tried across gaps, of calls that have a layer. Of a gap with more
/// than kMostEdits places on a side the third is left out, and the second goes by key and order
/// over all of them. O(n log n) in places.
Alignment AlignPlaces(const Side& base, const Side& now);

inline constexpr size_t kMostEdits = 4096;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_ALIGN_PLACES_H_
