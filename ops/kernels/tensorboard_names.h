#ifndef OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_
#define OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_

#include <string_view>

namespace oplens::ops {

// Name lists of the TensorBoard plugin (torch_tb_profiler 0.4.3), for `--compat tb` only.

/// Whether the plugin counts a kernel of this recorded name as using Tensor Cores.
bool IsTensorBoardTensorCoreKernel(std::string_view name);

/// Whether the plugin counts an operator of this recorded name as Tensor Core eligible.
bool IsTensorBoardEligibleOp(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_TENSORBOARD_NAMES_H_
