// Products over named indices.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> EinsumOps() { return {}; }

}  // namespace oplens::ops
