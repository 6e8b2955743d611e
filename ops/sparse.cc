// Products with sparse operands.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> SparseOps() { return {}; }

}  // namespace oplens::ops
