// Rotary position embedding.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> RotaryOps() { return {}; }

}  // namespace oplens::ops
