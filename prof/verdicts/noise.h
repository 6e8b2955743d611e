#ifndef OPLENS_PROF_VERDICTS_NOISE_H_
#define OPLENS_PROF_VERDICTS_NOISE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace oplens::prof {

enum class Verdict : uint8_t {
  kUnknown,  ///< Too few steps to compare it with their spread.
  kSame,     ///< Within the noise of the steps.
  kChanged,
};
/// "unknown", "same", "changed"
std::string_view WordOf(Verdict verdict);

/// With fewer steps on a side, their spread is no estimate of the mean's.
inline constexpr size_t kFewSteps = 5;

/// Probability that a comparison of equal runs reports any row of a table.
inline constexpr double kRowFalseAlarm = 0.001;
/// Probability that it reports a change of the total, or of any part of it.
inline constexpr double kTotalFalseAlarm = 0.005;
/// A smaller change of the length of a step is no change: two recordings of one program differ by
/// this much in clocks and temperature, which no step of a single recording shows.
inline constexpr double kLeastChange = 0.005;

/// How far the mean of `now` may differ from that of `base` by chance, and whether it differs more.
///
/// With at least kFewSteps on each side the band is t * max(r, b). r: robust standard error of the
/// difference of means, from 1.4826 * the median absolute deviation of each side. b: the same from
/// 200 bootstrap resamples of each side with a fixed seed, which includes the outliers that r
/// ignores; only computed if the change exceeds t * r. t: the quantile of Student's distribution,
/// with Welch's degrees of freedom, such that the probability that any of `comparisons` unchanged
/// figures is outside is at most `false_alarm` (Bonferroni).
///
/// With fewer steps the verdict is `unknown`, except `changed` if every step of one side is less
/// than every step of the other, and the change exceeds the spread of either and t times Welch's
/// standard error, for one comparison; a side with one step has no spread, so the verdict stays
/// `unknown`. Equal means are the same whatever the spread.
struct Noise {
  std::optional<double> band;
  Verdict verdict = Verdict::kUnknown;
};
Noise NoiseOf(std::span<const double> base, std::span<const double> now, size_t comparisons,
              double false_alarm = kRowFalseAlarm);

/// The verdict on the lengths of the steady steps of two runs, at kTotalFalseAlarm: as NoiseOf, but
/// a change below kLeastChange is the same, and with few steps lengths that are all equal tell
/// nothing of their spread.
Noise NoiseOfSteps(std::span<const double> base, std::span<const double> now);

double MeanOf(std::span<const double> values);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_NOISE_H_
