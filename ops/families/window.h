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
  int64_t before = 0;  ///< Padding in front.
  int64_t after = 0;   ///< Padding behind.
  int64_t dilation = 1;

  /// Of positive kernel, stride and dilation, with padding that is not negative.
  bool Valid() const;
  /// d(k-1)+1: how far apart the first and the last tap are, both included.
  Checked Reach() const { return Checked(dilation) * (Checked(kernel) - 1) + 1; }
};

/// How often the window fits: floor((extent + padding - reach) / stride) + 1. `ceil` counts a last
/// window that is cut off, if it begins before the padding behind. nullopt when it does not fit
/// once, or the count is no 64-bit number.
std::optional<int64_t> WindowCount(int64_t extent, const Window& window, bool ceil = false);

/// The extent of a transposed convolution's output: (extent-1) s - padding + reach + `added`;
/// nullopt when that is not positive.
std::optional<int64_t> TransposedExtent(int64_t extent, const Window& window, int64_t added);

/// A value a dimension: `absent` for none (or an empty list), the one value for each dimension;
/// nullopt when there are otherwise not as many values as dimensions.
std::optional<std::vector<int64_t>> PerDimension(const std::optional<std::vector<int64_t>>& values,
                                                 size_t dimensions, int64_t absent);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_WINDOW_H_
