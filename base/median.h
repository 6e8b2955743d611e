#ifndef OPLENS_BASE_MEDIAN_H_
#define OPLENS_BASE_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace oplens {

/// The middle value; of an even number of values, the lower of the two middle ones. `values` must
/// not be empty. O(n).
template <typename T>
T LowerMedianOf(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The middle value; of an even number of values, the mean of the two middle ones; 0 if empty.
/// O(n).
inline double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace oplens

#endif  // OPLENS_BASE_MEDIAN_H_
