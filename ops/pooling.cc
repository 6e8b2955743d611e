// Pooling.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> PoolingOps() { return {}; }

}  // namespace oplens::ops
