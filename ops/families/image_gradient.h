#ifndef OPLENS_OPS_FAMILIES_IMAGE_GRADIENT_H_
#define OPLENS_OPS_FAMILIES_IMAGE_GRADIENT_H_

#include <optional>
#include <string_view>

#include "ops/op_model.h"

namespace oplens::ops {

/// Prices of gradient functions whose arguments tell more than those of the op. `op`: the
/// normalised name of the op, "cudnn_convolution"; call.op is the name of the function, which may
/// tell what it computes. The result's forward holds the gradients. nullopt: not an op of the
/// family.
std::optional<PriceResult> PriceConvolutionGradient(std::string_view op, const OpCall& call);
std::optional<PriceResult> PricePoolingGradient(std::string_view op, const OpCall& call);
std::optional<PriceResult> PriceResampleGradient(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_IMAGE_GRADIENT_H_
