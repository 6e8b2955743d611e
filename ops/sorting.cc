// Sorting, selection and search.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> SortingOps() { return {}; }

}  // namespace oplens::ops
