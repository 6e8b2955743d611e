#ifndef OPLENS_OPS_FAMILIES_GRADIENT_CALL_H_
#define OPLENS_OPS_FAMILIES_GRADIENT_CALL_H_

#include <string_view>

#include "ops/op_model.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// Prices a call of a gradient function, such as aten's threshold_backward(dY, x, threshold), by
/// the backward of the op that it belongs to: that is the forward work of the result, which has no
/// backward. `op`: the normalised name of the op, "relu". kUnsupportedArgs for functions whose
/// arguments are not known.
PriceResult PriceGradientCall(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_GRADIENT_CALL_H_
