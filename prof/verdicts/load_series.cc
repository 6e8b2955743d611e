#include "prof/verdicts/load_series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/median.h"
#include "prof/verdicts/change_point.h"

namespace oplens::prof {
namespace {

/// Least spread of compared shares: below it is rounding.
constexpr double kLeastEpisodeSpread = 0.001;
/// Least share of a step that something costs for good,
constexpr double kLeastForGood = 0.005;
/// in the mean over all steps if it comes at times, and in each of these,
constexpr double kLeastAtTimes = 0.003;
constexpr double kLeastInStep = 0.015;
/// and if there are too few steps for a test.
constexpr double kLeastUntested = 0.02;

/// Median of a value and its neighbours.
double SmoothAt(const std::vector<double>& values, size_t i) {
  const size_t first = i == 0 ? 0 : i - 1;
  const size_t last = std::min(values.size() - 1, i + 1);
  return MedianOf({values.begin() + static_cast<std::ptrdiff_t>(first),
                   values.begin() + static_cast<std::ptrdiff_t>(last) + 1});
}

/// What grows slowly began before the step `since`, from which on it is at its `level`.
size_t BeginOf(const std::vector<double>& shares, double level, size_t since) {
  constexpr double kPart = 0.25;
  const double least = std::max(kPart * level, 4 * kLeastEpisodeSpread);
  while (since > 0 && SmoothAt(shares, since - 1) > least) --since;
  return since;
}

/// Spearman's correlation of values with their places: 1 if each is larger than the one before.
double RiseOf(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  double squares = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double distance = static_cast<double>(rank) - static_cast<double>(order[rank]);
    squares += distance * distance;
  }
  const auto n = static_cast<double>(values.size());
  return 1 - 6 * squares / (n * (n * n - 1));
}

/// What rises over the whole series, such as a GPU that gets hot, has no one level.
std::optional<Episode> Rising(const std::vector<double>& shares) {
  constexpr double kLeastRise = 0.8;
  constexpr double kCertain = 8;
  if (RiseOf(shares) < kLeastRise) return std::nullopt;
  const size_t part = shares.size() / 4;
  std::vector<double> steps;
  for (size_t i = 1; i < shares.size(); ++i) steps.push_back(std::abs(shares[i] - shares[i - 1]));
  const double spread = std::max(kLeastEpisodeSpread, MedianOf(std::move(steps)));
  const std::vector<double> first(shares.begin(),
                                  shares.begin() + static_cast<std::ptrdiff_t>(part));
  const std::vector<double> last(shares.end() - static_cast<std::ptrdiff_t>(part), shares.end());
  const double level = MedianOf(last);
  if (level < kLeastForGood || level - MedianOf(first) < kCertain * spread) return std::nullopt;
  Episode episode;
  episode.since = BeginOf(shares, level, shares.size() - part);
  episode.grows = true;
  episode.tested = true;
  for (size_t i = *episode.since; i < shares.size(); ++i) episode.slow.push_back(i);
  return episode;
}

bool Grows(const std::vector<double>& shares, size_t since) {
  constexpr size_t kLeast = 9;
  constexpr double kMore = 1.4;
  const size_t count = shares.size() - since;
  if (count < kLeast) return false;
  const auto median = [&](size_t first, size_t size) {
    const auto begin = shares.begin() + static_cast<std::ptrdiff_t>(first);
    return MedianOf({begin, begin + static_cast<std::ptrdiff_t>(size)});
  };
  const size_t third = count / 3;
  const double early = median(since, third);
  const double middle = median(since + third, third);
  const double late = median(shares.size() - third, third);
  return early > 0 && late > kMore * early && middle > early && late >= middle;
}

std::optional<Episode> AtTimes(const std::vector<double>& shares) {
  constexpr double kDeviationOfMedianAbsolute = 1.4826;
  constexpr double kFar = 8;
  const double median = MedianOf(shares);
  std::vector<double> distances;
  for (const double share : shares) distances.push_back(std::abs(share - median));
  const double spread =
      std::max(kLeastEpisodeSpread, kDeviationOfMedianAbsolute * MedianOf(std::move(distances)));
  const double limit = std::max(0.0, median) + std::max(kLeastInStep, kFar * spread);
  Episode episode;
  double sum = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= limit) continue;
    episode.slow.push_back(i);
    sum += shares[i];
  }
  // Once is no habit.
  if (episode.slow.size() < 2) return std::nullopt;
  if (sum < kLeastAtTimes * static_cast<double>(shares.size())) return std::nullopt;
  episode.tested = true;
  return episode;
}

}  // namespace

double MeanAt(const std::vector<double>& values, const std::vector<size_t>& places) {
  double sum = 0;
  for (const size_t place : places) sum += values[place];
  return places.empty() ? 0 : sum / static_cast<double>(places.size());
}

std::optional<Episode> EpisodeOf(const LoadSeries& series) {
  const std::vector<double>& shares = series.shares;
  if (shares.empty()) return std::nullopt;
  Episode episode;
  if (shares.size() < kLeastSteps) {
    const double mean =
        std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
    if (mean < kLeastUntested) return std::nullopt;
    episode.since = 0;
  } else {
    const SeriesLevel level = LevelOf(shares, kLeastEpisodeSpread);
    if (level.level < kLeastForGood || !IsCertain(level, shares.size())) {
      if (auto rising = Rising(shares)) return rising;
      return AtTimes(shares);
    }
    episode.since = BeginOf(shares, level.level, level.since);
    episode.grows = Grows(shares, *episode.since);
    episode.tested = true;
  }
  for (size_t i = *episode.since; i < shares.size(); ++i) episode.slow.push_back(i);
  return episode;
}

}  // namespace oplens::prof
