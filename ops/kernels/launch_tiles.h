#ifndef OPLENS_OPS_KERNELS_LAUNCH_TILES_H_
#define OPLENS_OPS_KERNELS_LAUNCH_TILES_H_

#include <optional>
#include <string_view>

#include "ops/kernels/launch_sizes.h"
#include "parse/model/dim3.h"

namespace oplens::ops {

/// The rule of kernels whose grid shows some extents of their op but not its work: attention of
/// FlashAttention 2 and xFormers, convolutions of cuDNN (docs/costs.md); nullopt for others.
std::optional<LaunchRule> TilesRuleOf(std::string_view kernel_name);

/// Only `params`; kNone if the launch does not fit the rule.
LaunchSizes TilesSizes(const LaunchRule& rule, const Dim3& grid, const Dim3& block);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_TILES_H_
