#ifndef OPLENS_OPS_KERNELS_LAUNCH_PRODUCT_H_
#define OPLENS_OPS_KERNELS_LAUNCH_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/kernels/launch_sizes.h"
#include "parse/model/dim3.h"

namespace oplens::ops {

/// The rule of products of matrices whose grid shows M and N: cuBLAS's own kernels (volta_sgemm_..,
/// ampere_bf16_s16816gemm_..) and its CUTLASS ones, and of sums of split products; nullopt for
/// others, e.g. kernels with as many blocks as the GPU has multiprocessors.
std::optional<LaunchRule> ProductRuleOf(std::string_view kernel_name);

/// The sizes of a launch, without `params`: M and N to a tile, as bounds; kNone if the grid does
/// not show them. `k` is unknown, and `batch` too where there are several blocks in z, which may
/// split K instead.
LaunchSizes ProductSizes(const LaunchRule& rule, const Dim3& grid);

/// The same for a product that is known to be one (z splits K), with a right factor of `right`
/// elements, N x K: K, FLOPs and bytes. kNone if that fits no K.
LaunchSizes ProductSizes(const LaunchRule& rule, const Dim3& grid, const Bounds& right);

/// Sets `params`.
void SetProductParams(const LaunchRule& rule, LaunchSizes* sizes);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_PRODUCT_H_
