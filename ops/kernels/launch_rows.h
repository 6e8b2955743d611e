#ifndef OPLENS_OPS_KERNELS_LAUNCH_ROWS_H_
#define OPLENS_OPS_KERNELS_LAUNCH_ROWS_H_

#include <optional>
#include <string_view>

#include "ops/kernels/launch_sizes.h"

namespace oplens::ops {

/// The rule of norms and reductions whose size a neighbour shows (LaunchRule::Neighbour): cuDNN's
/// batch norm in training and its gradient, and PyTorch's sums, means and extrema; nullopt for
/// others.
std::optional<LaunchRule> RowsRuleOf(std::string_view kernel_name);

/// Their sizes with an input of so many elements.
LaunchSizes RowsSizes(const LaunchRule& rule, const Bounds& elements);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_ROWS_H_
