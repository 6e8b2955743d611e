// Fourier transforms.

#include "ops/pricing.h"

namespace oplens::ops {

std::span<const OpModel> SpectralOps() { return {}; }

}  // namespace oplens::ops
