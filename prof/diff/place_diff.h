#ifndef OPLENS_PROF_DIFF_PLACE_DIFF_H_
#define OPLENS_PROF_DIFF_PLACE_DIFF_H_

#include <cstddef>
#include <vector>

#include "prof/diff/align_places.h"
#include "prof/diff/diff.h"
#include "prof/diff/side.h"

namespace oplens::prof {

/// The table `operators` of a comparison: a row per pair of places, with GPU time per step. Its
/// first figure adds up to all GPU work of a step, on each side.
struct PlaceDiff {
  DiffTable table;
  std::vector<PlacePair> pairs;  ///< By row of the table.
  size_t other_shapes = 0;       ///< Calls with other shapes.
};

PlaceDiff DiffPlaces(const Side& base, const Side& now, Alignment alignment);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_PLACE_DIFF_H_
