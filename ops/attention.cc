// Fused and composite attention.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> AttentionOps() { return {}; }

}  // namespace oplens::ops
