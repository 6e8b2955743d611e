#ifndef OPLENS_PROF_VERDICTS_CHANGE_POINT_H_
#define OPLENS_PROF_VERDICTS_CHANGE_POINT_H_

#include <cstddef>
#include <span>

namespace oplens::prof {

/// Level of a series, and since when.
struct SeriesLevel {
  double level = 0;       ///< Median of the values from `since` on.
  double before = 0;      ///< Median of the earlier values; 0 if there are none.
  size_t since = 0;       ///< Index of the first value of the level; 0: the whole series.
  size_t count = 0;       ///< Number of values from `since` on.
  double deviations = 0;  ///< The level's distance from 0 in standard errors.
};

/// Splits a series where it changes most, if chance does not explain the change, and returns the
/// level after the split. Robust: outliers count as if at the border of the usual range. The spread
/// is the larger of that between neighbours and that about the two medians, and at least
/// `least_spread` > 0. O(n log n).
SeriesLevel LevelOf(std::span<const double> values, double least_spread);

/// Whether chance does not explain a level: it lies more than 8 standard errors from 0, and more
/// for short series, whose spread is less well known. `count`: of the whole series.
bool IsCertain(const SeriesLevel& level, size_t count);

/// Shorter series say nothing.
inline constexpr size_t kLeastSteps = 8;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_CHANGE_POINT_H_
