// Ops that write elements by index.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> ScatterOps() { return {}; }

}  // namespace oplens::ops
