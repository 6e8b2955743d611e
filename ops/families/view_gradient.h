#ifndef OPLENS_OPS_FAMILIES_VIEW_GRADIENT_H_
#define OPLENS_OPS_FAMILIES_VIEW_GRADIENT_H_

#include <optional>
#include <string_view>

#include "ops/op_model.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// The backward of a view that is not one itself: of a part of `x` (slice, select, narrow, ...) dX
/// is filled with zeros but for dY; of all parts (split, chunk, unbind) dX is put together; of an
/// expanded x dY is added up. nullopt when the arguments do not tell the size of dY.
std::optional<Work> ViewGradient(std::string_view op, const OpCall& call, const Tensor& x);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_VIEW_GRADIENT_H_
