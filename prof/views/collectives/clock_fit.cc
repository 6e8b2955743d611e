#include "prof/views/collectives/clock_fit.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "base/saturating.h"

namespace oplens::prof {
namespace {

/// Fewer do not tell a drift.
constexpr size_t kLeastForDrift = 16;
constexpr size_t kMostBlocks = 16;
/// Of ns a ns: quartz is off by tens of millionths.
constexpr double kMostDrift = 1e-3;

/// What is left of the lags.
std::vector<int64_t> ClockFitResiduals(const std::vector<ClockLag>& lags, const ClockFit& fit) {
  std::vector<int64_t> residuals;
  residuals.reserve(lags.size());
  for (const ClockLag& lag : lags) {
    residuals.push_back(SaturatingDifference(lag.lag_ns, fit.At(lag.time_ns)));
  }
  return residuals;
}

/// How far lags lie from the fit, in the median.
int64_t ClockFitSpreadOf(const std::vector<ClockLag>& lags, const ClockFit& fit) {
  std::vector<int64_t> residuals = ClockFitResiduals(lags, fit);
  for (int64_t& residual : residuals) {
    residual = residual < 0 ? SaturatingDifference(0, residual) : residual;
  }
  return LowerMedianOf(std::move(residuals));
}

/// The medians of stretches of `lags`, which ascend by time.
std::vector<ClockLag> Blocks(const std::vector<ClockLag>& lags) {
  const size_t count = std::min(kMostBlocks, lags.size() / 4);
  std::vector<ClockLag> blocks;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = lags.size() * i / count;
    const size_t end = lags.size() * (i + 1) / count;
    std::vector<int64_t> values;
    for (size_t at = begin; at < end; ++at) values.push_back(lags[at].lag_ns);
    blocks.push_back({lags[(begin + end - 1) / 2].time_ns, LowerMedianOf(std::move(values))});
  }
  return blocks;
}

/// The median of the slopes between any two blocks; 0 where they are all at one time.
double DriftOf(const std::vector<ClockLag>& blocks) {
  std::vector<double> slopes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      const int64_t time_ns = SaturatingDifference(blocks[j].time_ns, blocks[i].time_ns);
      if (time_ns == 0) continue;
      const int64_t change_ns = SaturatingDifference(blocks[j].lag_ns, blocks[i].lag_ns);
      slopes.push_back(static_cast<double>(change_ns) / static_cast<double>(time_ns));
    }
  }
  return slopes.empty() ? 0 : LowerMedianOf(std::move(slopes));
}

/// The line of least squares through the lags that lie near the fit, in their order.
ClockFit Refined(const std::vector<ClockLag>& lags, const ClockFit& fit) {
  const int64_t near_ns = SaturatingSum(ClockFitSpreadOf(lags, fit), ClockFitSpreadOf(lags, fit));
  const std::vector<int64_t> residuals = ClockFitResiduals(lags, fit);
  const auto is_near = [&](size_t i) {
    return residuals[i] <= near_ns && residuals[i] >= -near_ns;
  };
  const auto since_ns = [&](size_t i) {
    return static_cast<double>(SaturatingDifference(lags[i].time_ns, fit.time_ns));
  };
  double count = 0;
  double time_sum = 0;
  double lag_sum = 0;
  for (size_t i = 0; i < lags.size(); ++i) {
    if (!is_near(i)) continue;
    ++count;
    time_sum += since_ns(i);
    lag_sum += static_cast<double>(residuals[i]);
  }
  const double time_mean = time_sum / count;
  const double lag_mean = lag_sum / count;
  double times = 0;
  double products = 0;
  for (size_t i = 0; i < lags.size(); ++i) {
    if (!is_near(i)) continue;
    const double time = since_ns(i) - time_mean;
    times += time * time;
    products += time * (static_cast<double>(residuals[i]) - lag_mean);
  }
  if (times <= 0) return fit;
  ClockFit refined = fit;
  refined.drift += products / times;
  const double more_ns = lag_mean - products / times * time_mean;
  refined.offset_ns = SaturatingSum(fit.offset_ns, std::llround(std::clamp(more_ns, -9e18, 9e18)));
  return refined;
}

}  // namespace

int64_t ClockFit::At(int64_t at_ns) const {
  if (drift == 0) return offset_ns;
  const double more_ns = drift * static_cast<double>(SaturatingDifference(at_ns, time_ns));
  return SaturatingSum(offset_ns, std::llround(more_ns));
}

ClockFit FitClock(std::vector<ClockLag> lags) {
  std::sort(lags.begin(), lags.end(), [](const ClockLag& a, const ClockLag& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.lag_ns < b.lag_ns;
  });
  ClockFit flat;
  flat.count = lags.size();
  flat.time_ns = lags[(lags.size() - 1) / 2].time_ns;
  flat.offset_ns = LowerMedianOf(ClockFitResiduals(lags, flat));
  if (lags.size() < kLeastForDrift) return flat;
  ClockFit drifting = flat;
  drifting.offset_ns = 0;
  drifting.drift = DriftOf(Blocks(lags));
  if (drifting.drift == 0 || std::abs(drifting.drift) > kMostDrift) return flat;
  drifting.offset_ns = LowerMedianOf(ClockFitResiduals(lags, drifting));
  if (ClockFitSpreadOf(lags, drifting) > ClockFitSpreadOf(lags, flat) / 2) return flat;
  drifting = Refined(lags, drifting);
  return std::abs(drifting.drift) > kMostDrift ? flat : drifting;
}

}  // namespace oplens::prof
