#ifndef OPLENS_PROF_DIFF_NOISE_H_
#define OPLENS_PROF_DIFF_NOISE_H_

#include <cstddef>
#include <optional>
#include <span>

#include "prof/diff/diff.h"

namespace oplens::prof {

/// Under so many steps on a side the spread of the steps says little of that of the mean.
inline constexpr size_t kFewSteps = 5;

/// How often a comparison of equal runs may report any row of a table.
inline constexpr double kRowFalseAlarm = 0.001;
/// How often it may report that the total changed, or any part of it.
inline constexpr double kTotalFalseAlarm = 0.01;

/// How far the mean of `now` may be from that of `base` by chance, and whether it is farther.
///
/// From kFewSteps on each side the band is t * max(r, b): r the robust standard error of the
/// difference of means, of 1.4826 * the median absolute deviation of each side, and b that of 200
/// bootstrap resamples of each side with a fixed seed, which sees the outliers that r does not; t
/// is the quantile of Student's distribution by which one of `comparisons` figures that are all
/// unchanged is outside with a probability of `false_alarm` at most (Bonferroni), its degrees of
/// freedom those of Welch. b is found only where the change is outside of t * r.
///
/// With fewer steps the verdict is `unknown`, but `changed` where every step of one side is less
/// than every one of the other and the change is larger than the spread of either; a side with
/// one step has no spread to compare with, so that the verdict stays `unknown`. Equal means are the
/// same whatever the spread.
struct Noise {
  std::optional<double> band;
  Verdict verdict = Verdict::kUnknown;
};
Noise NoiseOf(std::span<const double> base, std::span<const double> now, size_t comparisons,
              double false_alarm = kRowFalseAlarm);

double MeanOf(std::span<const double> values);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_NOISE_H_
