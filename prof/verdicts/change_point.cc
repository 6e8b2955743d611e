#include "prof/verdicts/change_point.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/median.h"

namespace oplens::prof {
namespace {

double MedianOfSpan(std::span<const double> values) {
  return MedianOf({values.begin(), values.end()});
}

/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double kDeviationOfMedian = 1.4826;

/// Spread of neighbouring values: a change of level affects only one difference.
double SpreadOfNext(std::span<const double> values) {
  std::vector<double> differences;
  for (size_t i = 1; i < values.size(); ++i) {
    differences.push_back(std::abs(values[i] - values[i - 1]));
  }
  if (differences.empty()) return 0;
  return MedianOf(std::move(differences)) * kDeviationOfMedian / std::sqrt(2.0);
}

/// Distances of values from the medians of the two parts.
std::vector<double> ChangePointResiduals(std::span<const double> values, size_t split,
                                         const SeriesLevel& level) {
  std::vector<double> residuals;
  for (size_t i = 0; i < values.size(); ++i) {
    residuals.push_back(values[i] - (i < split ? level.before : level.level));
  }
  return residuals;
}

/// How much autocorrelation widens the spread of the mean: the many steps of a GPU's hot phase say
/// little. With the correlation r of neighbours, sqrt((1 + r) / (1 - r)).
double FollowingFactor(const std::vector<double>& residuals) {
  constexpr double kMost = 0.95;
  double squares = 0;
  double products = 0;
  for (size_t i = 0; i < residuals.size(); ++i) {
    squares += residuals[i] * residuals[i];
    if (i > 0) products += residuals[i] * residuals[i - 1];
  }
  const double r = squares > 0 ? std::clamp(products / squares, 0.0, kMost) : 0;
  return std::sqrt((1 + r) / (1 - r));
}

/// The spread on which standard errors are based.
double ChangePointSpreadOf(std::span<const double> values, size_t split, const SeriesLevel& level,
                           double least) {
  std::vector<double> residuals = ChangePointResiduals(values, split, level);
  const double factor = FollowingFactor(residuals);
  for (double& residual : residuals) residual = std::abs(residual);
  return factor * std::max(least, MedianOf(std::move(residuals)) * kDeviationOfMedian);
}

std::vector<double> Clipped(std::span<const double> values, double spread) {
  constexpr double kUsual = 5;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 8] - kUsual * spread;
  const double high = sorted[sorted.size() - 1 - sorted.size() / 8] + kUsual * spread;
  std::vector<double> clipped;
  for (const double value : values) clipped.push_back(std::clamp(value, low, high));
  return clipped;
}

/// The split whose parts' means are farthest apart, in standard errors.
size_t BestSplit(const std::vector<double>& values) {
  constexpr size_t kLeastPart = 3;
  double sum = 0;
  for (const double value : values) sum += value;
  double before = 0;
  double best = -1;
  size_t split = 0;
  const auto all = static_cast<double>(values.size());
  for (size_t i = 1; i < values.size(); ++i) {
    before += values[i - 1];
    if (i < kLeastPart || values.size() - i < kLeastPart) continue;
    const auto count = static_cast<double>(i);
    const double distance = std::abs((sum - before) / (all - count) - before / count) *
                            std::sqrt(count * (all - count) / all);
    if (distance <= best) continue;
    best = distance;
    split = i;
  }
  return split;
}

}  // namespace

SeriesLevel LevelOf(std::span<const double> values, double least_spread) {
  SeriesLevel whole;
  whole.count = values.size();
  if (values.empty()) return whole;
  whole.level = MedianOfSpan(values);
  const double next = std::max(least_spread, SpreadOfNext(values));
  const std::vector<double> clipped = Clipped(values, next);
  const auto errors = [](double level, double spread, double count) {
    return level / spread * std::sqrt(count);
  };
  whole.deviations = errors(whole.level, ChangePointSpreadOf(clipped, 0, whole, next),
                            static_cast<double>(values.size()));
  const size_t split = BestSplit(clipped);
  if (split == 0) return whole;
  SeriesLevel parted;
  parted.level = MedianOfSpan(values.subspan(split));
  parted.before = MedianOfSpan(values.first(split));
  parted.since = split;
  parted.count = values.size() - split;
  const double spread = ChangePointSpreadOf(clipped, split, parted, next);
  parted.deviations = errors(parted.level, spread, static_cast<double>(parted.count));
  const double each = static_cast<double>(split) * static_cast<double>(parted.count) /
                      static_cast<double>(values.size());
  constexpr double kCertain = 6;
  const bool changed = errors(parted.level - parted.before, spread, each) > kCertain &&
                       parted.before < parted.level / 2;
  return changed ? parted : whole;
}

bool IsCertain(const SeriesLevel& level, size_t count) {
  if (count < kLeastSteps) return false;
  constexpr double kCertain = 8;
  constexpr double kOfFew = 80;
  return level.deviations > kCertain + kOfFew / static_cast<double>(count);
}

}  // namespace oplens::prof
