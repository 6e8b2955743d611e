#ifndef OPLENS_OPS_GPU_TENSOR_CORE_NEED_H_
#define OPLENS_OPS_GPU_TENSOR_CORE_NEED_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ops/gpu/gpu.h"
#include "ops/kernels/kernel_name.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"

namespace oplens::ops {

/// Whether an op could run on Tensor Cores, whatever kernel it got.
enum class TensorCoreFitness : uint8_t {
  kNotAsked,  ///< No matrix product, or a kernel beside it: printed "-".
  kUnknown,   ///< "?"
  kNo,        ///< "0"
  kYes,       ///< "1"
};

/// "-", "?", "0" or "1".
std::string_view TensorCoreFitnessWord(TensorCoreFitness fitness);

/// What the judgement on one kernel needs. `op` is null when its op has no price.
struct TensorCoreCase {
  std::string_view long_name;
  const TensorCoreVerdict* verdict = nullptr;  ///< By name; never null.
  const PricedOp* op = nullptr;
  Role role = Role::kUnknown;
  const Gpu* gpu = nullptr;       ///< Null: not known.
  DType dtype = DType::kUnknown;  ///< Of the op, where the product does not say it.
  /// Of the kernel's product, to name in advice; empty: those of the op's product.
  std::span<const NamedExtent> extents = {};
  std::optional<int64_t> flops_mma = {};    ///< Of this kernel.
  std::optional<int64_t> duration_ns = {};  ///< Known and positive.
};

/// Both answers on a kernel, with their causes.
struct TensorCoreJudgement {
  TensorCoreUse use = TensorCoreUse::kUnknown;
  MathType math = MathType::kUnknown;
  TensorCoreFitness fitness = TensorCoreFitness::kNotAsked;
  /// "N6:sgemm; fp32: only by TF32, not used here; K=33278: pad to 33280": the rule that answered
  /// `use`, what Tensor Cores multiply, then causes and advice about `fitness`, joined by "; ".
  std::string why;
  /// Where in `why` the advice on extents begins ("K=33278: pad to 33280"); npos: there is none.
  size_t padding_at = std::string::npos;
};

/// `use`: the name's answer; a name that leaves it open, but says that the kernel ran on AMD's
/// matrix cores, which count as Tensor Cores, is a yes. What follows is for NVIDIA's GPUs: it is
/// resolved by
///  1. the GPU: one without Tensor Cores cannot use them;
///  2. the achieved rate: matrix FLOPs above 1.05 x the peak of the CUDA cores need Tensor Cores
///     (not of convolutions, whose Winograd and FFT kernels do fewer FLOPs than the op has);
///  3. the data type of the op: one that no Tensor Core of the GPU multiplies; or, of the products
///     of Triton, CUTLASS and Myelin, one of at most 16 bits.
/// `fitness`: by data type, shape and compute capability. Alignment is no verdict where libraries
/// of today run any size: it is advice. A kernel that uses Tensor Cores proves that its op can.
TensorCoreJudgement JudgeTensorCore(const TensorCoreCase& kernel);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_TENSOR_CORE_NEED_H_
