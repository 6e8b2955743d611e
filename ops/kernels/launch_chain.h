#ifndef OPLENS_OPS_KERNELS_LAUNCH_CHAIN_H_
#define OPLENS_OPS_KERNELS_LAUNCH_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ops/kernels/launch_sizes.h"
#include "parse/model/dim3.h"

namespace oplens::ops {

/// A kernel of a stream.
struct StreamKernel {
  const LaunchRule* rule = nullptr;  ///< One object for each name; nullptr: none.
  Dim3 grid;
  Dim3 block;
  int64_t duration_ns = 0;
};

/// A kernel whose size the kernels beside it show.
struct ChainedKernel {
  size_t kernel = 0;  ///< Index into the stream.
  Bounds elements;    ///< Of a product's right factor, N x K; of others' input.
};

/// Finds sizes that a launch alone does not show, in one stream ordered by start.
///  - K of products: the right factor (the rows of activations) is what the elementwise kernel
///    before the product wrote. That is taken as such after an activation function. After another
///    kernel it is a guess, accepted if the FLOPs that follow and the time agree with those of a
///    known product of the same kernel, or of another guess with a K at least half as large again;
///    else an older tensor may be the factor, if only one of the last eight sizes agrees so.
///  - Norms and reductions: see LaunchRule::Neighbour.
/// Sorted by `kernel`. Linear, but for sorting the products of a name.
std::vector<ChainedKernel> ChainedKernelsOf(std::span<const StreamKernel> stream);
/// As above, of a stream of `count` kernels, each of which is asked for once, in order.
std::vector<ChainedKernel> ChainedKernelsOf(
    size_t count, const std::function<StreamKernel(size_t index)>& kernel_of);

/// The sizes of a chained kernel.
LaunchSizes SizesOfChained(const StreamKernel& kernel, const Bounds& elements);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_CHAIN_H_
