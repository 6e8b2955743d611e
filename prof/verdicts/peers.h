#ifndef OPLENS_PROF_VERDICTS_PEERS_H_
#define OPLENS_PROF_VERDICTS_PEERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace oplens::prof {

/// Values of ranks that do the same.
class Peers {
 public:
  void Add(int64_t value) { values_.push_back(value); }
  /// After the last Add.
  void Sort() { std::sort(values_.begin(), values_.end()); }
  size_t size() const { return values_.size(); }

  /// The median of the others if one member's value is `own`. Precondition: there are others.
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

using PeersOfSteps = std::map<int64_t, Peers>;  ///< By number of the step.

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_PEERS_H_
