#ifndef OPLENS_PROF_VIEWS_SLOW_OPS_H_
#define OPLENS_PROF_VIEWS_SLOW_OPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "prof/views/straggler_work.h"

namespace oplens::prof {

/// Of shares of times that are compared: less spread is their rounding.
inline constexpr double kLeastSpread = 0.001;

/// A value of some ranks in one step, or of one op in one step.
class Peers {
 public:
  void Add(int64_t value) { values_.push_back(value); }
  void Sort() { std::sort(values_.begin(), values_.end()); }
  size_t size() const { return values_.size(); }

  /// The median of the others than one with that value; there must be one.
  double MedianWithout(int64_t own) const {
    const auto place = static_cast<size_t>(std::lower_bound(values_.begin(), values_.end(), own) -
                                           values_.begin());
    const auto at = [&](size_t i) { return static_cast<double>(values_[i < place ? i : i + 1]); };
    const size_t others = values_.size() - 1;
    if (others % 2 == 1) return at(others / 2);
    return (at(others / 2 - 1) + at(others / 2)) / 2;
  }

 private:
  std::vector<int64_t> values_;
};

using PeersOfSteps = std::map<int64_t, Peers>;  // By number of the step.

/// Times of a rank against those of the others, by step.
struct Series {
  std::vector<double> shares;     ///< Of excess.
  std::vector<double> excess_ns;  ///< Own less that of the median of the others.
  std::vector<double> own_ns;
  std::vector<int64_t> steps;  ///< Their numbers.

  void Add(int64_t step, double own, double excess, double whole) {
    steps.push_back(step);
    own_ns.push_back(own);
    excess_ns.push_back(excess);
    shares.push_back(whole > 0 ? excess / whole : 0);
  }
};

/// Of the values from a place on; 0 where there are none.
inline double MeanFrom(const std::vector<double>& values, size_t since) {
  double sum = 0;
  for (size_t i = since; i < values.size(); ++i) sum += values[i];
  return since < values.size() ? sum / static_cast<double>(values.size() - since) : 0;
}

/// The ops that take longer on a rank than on the median of the others, step by step.
class SlowOps {
 public:
  struct Slow {
    WorkPlace place;
    int64_t since_step = 0;  ///< Number of the first step in which it is slow.
    double own_ns = 0;       ///< Mean time in a step since then,
    double excess_ns = 0;    ///< and by how much more that is than on the median of the others.
    size_t order = 0;        ///< Of equal ones the least goes first.
  };

  /// Looks at one op after the other, so that it takes memory for one. `works`: of ranks that do
  /// the same. O(n log n) in their times.
  void Find(const std::vector<const StragglerWork*>& works);

  /// The op of a rank that costs most more than elsewhere; null where none is slow.
  const Slow* OpOf(const StragglerWork* work) const { return At(ops_, work); }
  /// The same of the layers of that op.
  const Slow* LayerOf(const StragglerWork* work) const { return At(layers_, work); }

 private:
  using Found = std::map<const StragglerWork*, Slow>;
  /// Who has a place, and where among the times.
  using Havers = std::vector<std::pair<const StragglerWork*, size_t>>;

  static const Slow* At(const Found& found, const StragglerWork* work) {
    const auto at = found.find(work);
    return at == found.end() ? nullptr : &at->second;
  }
  void Compare(WorkPlace place, const Havers& havers, size_t ranks, Found* found) const;

  Found ops_;
  Found layers_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_SLOW_OPS_H_
