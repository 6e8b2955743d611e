#include "prof/verdicts/noise.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/median.h"

namespace oplens::prof {
namespace {

constexpr int kResamples = 200;
constexpr uint32_t kSeed = 20231;
// Standard deviation / median absolute deviation of a normal distribution.
constexpr double kNormalMad = 1.4826;

double MadOf(std::span<const double> values) {
  const double median = MedianOf({values.begin(), values.end()});
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  return MedianOf(std::move(distances));
}

/// The squared standard error of the mean, from resamples.
double BootstrapVariance(std::span<const double> values, std::minstd_rand* random) {
  const auto count = static_cast<uint32_t>(values.size());
  double sum = 0;
  double squares = 0;
  const double center = MeanOf(values);
  for (int i = 0; i < kResamples; ++i) {
    double mean = 0;
    for (uint32_t k = 0; k < count; ++k) {
      // Not std::uniform_int_distribution, whose results depend on the library.
      mean += values[(*random)() % count] - center;
    }
    mean /= count;
    sum += mean;
    squares += mean * mean;
  }
  const double n = kResamples;
  // A resample of n values has (n - 1) / n of their variance.
  return (squares - sum * sum / n) / (n - 1) * count / (count - 1);
}

/// Welch's degrees of freedom of a difference of means with these squared standard errors.
double FreedomOf(double base, size_t base_count, double now, size_t now_count) {
  const double sum = base + now;
  const double parts = base * base / static_cast<double>(base_count - 1) +
                       now * now / static_cast<double>(now_count - 1);
  if (parts <= 0 || sum <= 0) return static_cast<double>(base_count + now_count - 2);
  return std::max(1.0, sum * sum / parts);
}

double NoiseQuantileOf(double freedom, size_t comparisons, double false_alarm) {
  const double tail = false_alarm / 2 / static_cast<double>(std::max<size_t>(comparisons, 1));
  const boost::math::students_t_distribution<double> students(freedom);
  return boost::math::quantile(boost::math::complement(students, tail));
}

double SampleVariance(std::span<const double> values) {
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

Noise OfFew(std::span<const double> base, std::span<const double> now, double delta,
            double false_alarm) {
  Noise noise;
  if (base.size() < 2 || now.size() < 2) return noise;
  const double base_error = SampleVariance(base) / static_cast<double>(base.size());
  const double now_error = SampleVariance(now) / static_cast<double>(now.size());
  const double band =
      NoiseQuantileOf(FreedomOf(base_error, base.size(), now_error, now.size()), 1, false_alarm) *
      std::sqrt(base_error + now_error);
  const auto [base_least, base_most] = std::minmax_element(base.begin(), base.end());
  const auto [now_least, now_most] = std::minmax_element(now.begin(), now.end());
  const bool apart = *base_most < *now_least || *now_most < *base_least;
  const double spread = std::max(*base_most - *base_least, *now_most - *now_least);
  if (apart && std::abs(delta) > std::max(spread, band)) noise.verdict = Verdict::kChanged;
  return noise;
}

}  // namespace

std::string_view WordOf(Verdict verdict) {
  constexpr std::string_view kWords[] = {"unknown", "same", "changed"};
  return kWords[static_cast<size_t>(verdict)];
}

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

Noise NoiseOf(std::span<const double> base, std::span<const double> now, size_t comparisons,
              double false_alarm) {
  if (base.empty() || now.empty()) return {};
  const double delta = MeanOf(now) - MeanOf(base);
  if (delta == 0) return {std::nullopt, Verdict::kSame};
  if (base.size() < kFewSteps || now.size() < kFewSteps) {
    return OfFew(base, now, delta, false_alarm);
  }
  const auto robust = [](std::span<const double> values) {
    const double deviation = kNormalMad * MadOf(values);
    return deviation * deviation / static_cast<double>(values.size());
  };
  double base_error = robust(base);
  double now_error = robust(now);
  double band = NoiseQuantileOf(FreedomOf(base_error, base.size(), now_error, now.size()),
                                comparisons, false_alarm) *
                std::sqrt(base_error + now_error);
  if (std::abs(delta) <= band) return {band, Verdict::kSame};
  std::minstd_rand random(kSeed);
  base_error = std::max(base_error, BootstrapVariance(base, &random));
  now_error = std::max(now_error, BootstrapVariance(now, &random));
  band = NoiseQuantileOf(FreedomOf(base_error, base.size(), now_error, now.size()), comparisons,
                         false_alarm) *
         std::sqrt(base_error + now_error);
  return {band, std::abs(delta) > band ? Verdict::kChanged : Verdict::kSame};
}

Noise NoiseOfSteps(std::span<const double> base, std::span<const double> now) {
  const Noise noise = NoiseOf(base, now, 1, kTotalFalseAlarm);
  if (noise.verdict != Verdict::kChanged) return noise;
  const double delta = std::abs(MeanOf(now) - MeanOf(base));
  if (delta < kLeastChange * MeanOf(base)) return {noise.band, Verdict::kSame};
  const auto has_spread = [](std::span<const double> values) {
    return values.size() >= kFewSteps ||
           std::ranges::any_of(values, [&](double value) { return value != values[0]; });
  };
  return has_spread(base) && has_spread(now) ? noise : Noise{noise.band, Verdict::kUnknown};
}

}  // namespace oplens::prof
