#ifndef OPLENS_OPS_FAMILIES_PATCHES_H_
#define OPLENS_OPS_FAMILIES_PATCHES_H_

#include <string_view>

#include "ops/op_model.h"

namespace oplens::ops {

/// torch.nn.functional.unfold (im2col): x [N,C,H,W] to columns [N, C prod(k), L] of L patches.
/// Moves x and the columns; its gradient adds them up again.
PriceResult PriceUnfold(std::string_view op, const OpCall& call);

/// torch.nn.functional.fold (col2im), the other way round: an addition an element of the columns.
PriceResult PriceFold(std::string_view op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_PATCHES_H_
