#ifndef OPLENS_PROF_RUN_MEMORY_CURVE_H_
#define OPLENS_PROF_RUN_MEMORY_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oplens::prof {

/// How many points a curve has at most.
inline constexpr size_t kMostCurvePoints = 10'240;

/// Which points of a curve to keep, ascending, at most `most` (at least 4): the first, the last,
/// and of each of equally many points in between the first that is least and the first that is
/// largest. The peak is thus kept. All, where there are no more. O(n).
std::vector<size_t> ThinByExtremes(std::span<const int64_t> values, size_t most);

/// The same by largest-triangle-three-buckets (S. Steinarsson, Downsampling Time Series for Visual
/// Representation, 2013), in the order of computation of torch_tb_profiler 0.4.3: of each bucket
/// the point that makes the largest triangle with the one kept before and the mean of the bucket
/// behind. The peak may be lost. `times` and `values` are of equal length. O(n).
std::vector<size_t> ThinByTriangles(std::span<const double> times, std::span<const double> values,
                                    size_t most);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_MEMORY_CURVE_H_
