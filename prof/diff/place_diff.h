#ifndef OPLENS_PROF_DIFF_PLACE_DIFF_H_
#define OPLENS_PROF_DIFF_PLACE_DIFF_H_

#include <cstddef>
#include <vector>

#include "prof/diff/align_places.h"
#include "prof/diff/diff.h"
#include "prof/diff/side.h"

namespace oplens::prof {

/// The table `operators` of a comparison: a row for each pair of places, with the time on the GPU
/// of a step. Its first figure adds up to all that the GPUs did in a step, on each side.
struct PlaceDiff {
  DiffTable table;
  std::vector<PlacePair> pairs;  ///< By row of the table.
  size_t other_shapes = 0;       ///< Calls on other shapes.
};

PlaceDiff DiffPlaces(const Side& base, const Side& now, Alignment alignment);

/// The values of a place by sample: 0 where it did not run.
template <typename Value>
std::vector<double> BySample(const Side& side, std::optional<size_t> place, Value value_of) {
  std::vector<double> values(side.samples().size(), 0);
  if (!place) return values;
  for (const PlaceSums& sums : side.places()[*place].sums) {
    values[sums.sample] = static_cast<double>(value_of(sums));
  }
  return values;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_PLACE_DIFF_H_
