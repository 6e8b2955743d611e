// Recurrent layers and cells.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> RecurrentOps() { return {}; }

}  // namespace oplens::ops
