#ifndef OPLENS_OPS_FAMILIES_FOREACH_H_
#define OPLENS_OPS_FAMILIES_FOREACH_H_

#include "ops/op_model.h"
#include "ops/op_name.h"

namespace oplens::ops {

/// The price of a list function (`_foreach_add_`): the sum of what `model`, that of the op, asks
/// for the members that belong together. Lists go in step, other arguments apply to every member,
/// and a list of numbers has one for each. kUnsupportedArgs when the call does not tell its lists
/// apart, kShapeMismatch when they differ in length, and what the op has against a member.
PriceResult PriceForeach(const OpModel& model, const OpName& op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_FOREACH_H_
