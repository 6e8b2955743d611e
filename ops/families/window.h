#ifndef OPLENS_OPS_FAMILIES_WINDOW_H_
#define OPLENS_OPS_FAMILIES_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/checked.h"

namespace oplens::ops {

/// A window that slides along one dimension of an image.
struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t before = 0;  ///< Padding before.
  int64_t after = 0;   ///< Padding after.
  int64_t dilation = 1;

  /// Kernel, stride and dilation positive, padding not negative.
  bool Valid() const;
  /// d(k-1)+1: distance from the first to the last tap, inclusive.
  Checked Reach() const { return Checked(dilation) * (Checked(kernel) - 1) + 1; }
};

/// Number of positions: floor((extent + padding - reach) / stride) + 1. `ceil` also counts a
/// cut-off last window that starts before the trailing padding. nullopt if the window does not fit
/// once or the count exceeds 64 bits.
std::optional<int64_t> WindowCount(int64_t extent, const Window& window, bool ceil = false);

/// How many of `extent` elements along a dimension `positions` windows of `taps` elements can read:
/// all of them, or fewer if the windows' stride exceeds their size. Taps on the padding count.
int64_t WindowCover(int64_t extent, int64_t positions, int64_t taps);

/// The sum of the lengths ceil((i+1) extent / windows) - floor(i extent / windows) of the windows
/// of an adaptive pooling along a dimension. More than `extent` where windows overlap.
Checked AdaptiveMembers(int64_t extent, int64_t windows);

/// Output of a transposed convolution: (extent-1) s - padding + reach + `added`; nullopt unless >
/// 0.
std::optional<int64_t> TransposedExtent(int64_t extent, const Window& window, int64_t added);

/// One value per dimension: `absent` if there are none (or an empty list), a single value repeated;
/// nullopt if the number of values does not fit.
std::optional<std::vector<int64_t>> PerDimension(const std::optional<std::vector<int64_t>>& values,
                                                 size_t dimensions, int64_t absent);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_WINDOW_H_
