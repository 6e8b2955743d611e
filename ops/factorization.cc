// Matrix factorizations and solvers.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> FactorizationOps() { return {}; }

}  // namespace oplens::ops
