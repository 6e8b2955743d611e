#ifndef OPLENS_OPS_KERNELS_LAUNCH_ELEMENTWISE_H_
#define OPLENS_OPS_KERNELS_LAUNCH_ELEMENTWISE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/dtype.h"
#include "ops/kernels/launch_sizes.h"

namespace oplens::ops {

/// The function that an elementwise kernel of PyTorch applies, by its spelling in the kernel's
/// template arguments: "at::native::CUDAFunctor_add<float>".
struct Functor {
  std::string_view op;               ///< Normalised, "add"; empty: not in the table.
  std::optional<ElementWork> flops;  ///< Per element, by the op's own model; nullopt: unknown.
  std::vector<DType> inputs;         ///< Types of tensors read; empty where `result` is unknown.
  DType result = DType::kUnknown;
  bool has_number = false;  ///< One operand is a number, or a tensor of one element on the host.
};

Functor FunctorOf(std::string_view spelling);

/// The rule of PyTorch's elementwise kernels (vectorized_, unrolled_, index_elementwise_kernel and
/// so on); nullopt for other kernels.
std::optional<LaunchRule> ElementwiseRuleOf(std::string_view kernel_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_ELEMENTWISE_H_
