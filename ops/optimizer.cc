// Optimizer steps.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> OptimizerOps() { return {}; }

}  // namespace oplens::ops
