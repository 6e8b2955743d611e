#ifndef OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_
#define OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_

#include "parse/model/kernel_record.h"

namespace oplens {

/// Whether a collective that starts in `phase` was launched by a hook of gradients (DDP, FSDP):
/// when a gradient is complete, or inside the node of an operator, which launches none itself. It
/// is for the parameters of many layers then, and the work of none; that of a node of the program's
/// own is its layer's. `in_operator_node()`: whether the node around it is an operator's
/// (IsOperatorNode); called only in a node.
template <typename InOperatorNode>
bool IsOfGradientHooks(Phase phase, InOperatorNode in_operator_node) {
  if (phase == Phase::kBackward) return in_operator_node();
  return phase == Phase::kGradient || phase == Phase::kAccumulate;
}

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_GRADIENT_HOOKS_H_
