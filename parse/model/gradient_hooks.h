#ifndef OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_
#define OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_

#include "parse/model/kernel_record.h"

namespace oplens {

/// Whether a collective that starts in `phase` was launched by a gradient hook (DDP, FSDP): when a
/// gradient is complete, or inside the node of an operator, which launches none itself. Such a
/// collective serves the parameters of many layers and belongs to none; one inside a node of the
/// program's own function belongs to that node's layer. `in_operator_node()` returns whether the
/// surrounding node is an operator's (IsOperatorNode); it is called only in a node.
template <typename InOperatorNode>
bool IsOfGradientHooks(Phase phase, InOperatorNode in_operator_node) {
  if (phase == Phase::kBackward) return in_operator_node();
  return phase == Phase::kGradient || phase == Phase::kAccumulate;
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_
