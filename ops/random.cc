// Random numbers.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> RandomOps() { return {}; }

}  // namespace oplens::ops
