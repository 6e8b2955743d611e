#ifndef OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_
#define OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_

#include <string_view>

namespace oplens::ops {

// The name lists of the TensorBoard plugin (torch_tb_profiler 0.4.3), for `--compat tb` only: ours
// are ops/kernels/tensor_core.h and what a call needs.

/// Whether the plugin takes a kernel for one that uses Tensor Cores, by its name as recorded.
bool IsTensorBoardTensorCoreKernel(std::string_view name);

/// Whether the plugin takes an operator for one that could use them, by its name as recorded.
bool IsTensorBoardEligibleOp(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_
