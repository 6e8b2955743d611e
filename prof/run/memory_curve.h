#ifndef OPLENS_PROF_RUN_MEMORY_CURVE_H_
#define OPLENS_PROF_RUN_MEMORY_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oplens::prof {

/// Upper bound on the points of a curve.
inline constexpr size_t kMostCurvePoints = 10'240;

/// The points of a curve to keep, ascending, at most `most` (>= 4): the first, the last, and from
/// each of equally large buckets in between the first minimum and the first maximum. Keeps the
/// peak. All if there are no more than `most`. O(n).
std::vector<size_t> ThinByExtremes(std::span<const int64_t> values, size_t most);

/// As ThinByExtremes, by largest-triangle-three-buckets (S. Steinarsson, Downsampling Time Series
/// for Visual Representation, 2013) in the computation order of torch_tb_profiler 0.4.3: from each
/// bucket the point that forms the largest triangle with the one kept before and the mean of the
/// next bucket. May lose the peak. `times` and `values` have equal length. O(n).
std::vector<size_t> ThinByTriangles(std::span<const double> times, std::span<const double> values,
                                    size_t most);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MEMORY_CURVE_H_
