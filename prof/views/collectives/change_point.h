#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_CHANGE_POINT_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_CHANGE_POINT_H_

#include <cstddef>
#include <span>

namespace oplens::prof {

/// How large the values of a series are, and since when.
struct SeriesLevel {
  double level = 0;       ///< Median of the values from `since` on.
  double before = 0;      ///< Of those before; 0 where there are none.
  size_t since = 0;       ///< Place of the first value of the level; 0: all are of it.
  size_t count = 0;       ///< Values from there on.
  double deviations = 0;  ///< How many standard errors the level is away from 0.
};

/// Splits a series where it changes most, if it does by so much that chance does not explain it,
/// and answers what it is from there on. Robust: single values that are far off count as if they
/// were at the border of what is usual. The spread is that of one value to the next or that around
/// the two medians, whichever is larger, and at least `least_spread` > 0. O(n log n).
SeriesLevel LevelOf(std::span<const double> values, double least_spread);

/// Whether a level is more than chance explains: its standard errors are more than 8, and more the
/// fewer values the series has, whose spread is then known less well. `count`: of the whole series.
bool IsCertain(const SeriesLevel& level, size_t count);

/// Series of fewer values say nothing.
inline constexpr size_t kLeastSteps = 8;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_CHANGE_POINT_H_
