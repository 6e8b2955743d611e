#ifndef OPLENS_PROF_VERDICTS_LOAD_SERIES_H_
#define OPLENS_PROF_VERDICTS_LOAD_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace oplens::prof {

/// How much more than its peers something took, by step.
struct LoadSeries {
  std::vector<int64_t> steps;     ///< Numbers.
  std::vector<size_t> places;     ///< Of the steps among those of the rank.
  std::vector<double> excess_ns;  ///< Own minus the median of the others.
  std::vector<double> shares;     ///< The same over the time of the step.

  void Add(int64_t step, size_t place, double excess, double whole) {
    steps.push_back(step);
    places.push_back(place);
    excess_ns.push_back(excess);
    shares.push_back(whole > 0 ? excess / whole : 0);
  }
};

/// The steps of a series in which something is slow.
struct Episode {
  std::vector<size_t> slow;     ///< Indices in the series, ascending.
  std::optional<size_t> since;  ///< Of the first, if all from there on are; else intermittent.
  bool grows = false;           ///< Later ones are slower.
  bool tested = false;          ///< Chance does not explain it: at least kLeastSteps steps.
};

/// What is slow in a series; nullopt: nothing that costs 0.5 % of a step for good, or 0.3 % of all
/// steps at times. With fewer than kLeastSteps steps, 2 %, and not tested.
std::optional<Episode> EpisodeOf(const LoadSeries& series);

/// Mean of the values at the places; 0 without places.
double MeanAt(const std::vector<double>& values, const std::vector<size_t>& places);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_LOAD_SERIES_H_
