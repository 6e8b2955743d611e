// Ops that sample an image: interpolation, grids, patches.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> ResampleOps() { return {}; }

}  // namespace oplens::ops
