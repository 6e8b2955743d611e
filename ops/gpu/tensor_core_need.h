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
  kNotAsked,  ///< Not a matrix product, or a kernel beside it: printed "-".
  kUnknown,   ///< "?"
  kNo,        ///< "0"
  kYes,       ///< "1"
};

/// "-", "?", "0" or "1".
std::string_view TensorCoreFitnessWord(TensorCoreFitness fitness);

/// Input of JudgeTensorCore. `op` is null if the op has no price.
struct TensorCoreCase {
  std::string_view long_name;
  const TensorCoreVerdict* verdict = nullptr;  ///< By name; never null.
  const PricedOp* op = nullptr;
  Role role = Role::kUnknown;
  const Gpu* gpu = nullptr;       ///< Null: unknown.
  DType dtype = DType::kUnknown;  ///< Of the op, for products that do not give it.
  /// Extents of the kernel's product, for advice; empty: as the op's.
  std::span<const NamedExtent> extents = {};
  std::optional<int64_t> flops_mma = {};    ///< Of this kernel.
  std::optional<int64_t> duration_ns = {};  ///< Positive if known.
  std::optional<KernelKind> kind = {};  ///< KernelKindOf the name, where that was found already.
};

/// Both answers with their reasons.
struct TensorCoreJudgement {
  TensorCoreUse use = TensorCoreUse::kUnknown;
  MathType math = MathType::kUnknown;
  TensorCoreFitness fitness = TensorCoreFitness::kNotAsked;
  /// "N6:sgemm; fp32: only by TF32, not used here; K=33278: pad to 33280": the rule behind `use`
  /// with the math type, then reasons and advice on `fitness`, joined by "; ".
  std::string why;
  /// Offset in `why` of the advice on extents ("K=33278: pad to 33280"); npos: none.
  size_t padding_at = std::string::npos;
};

/// `use` is the name's answer; if that is open, kYes for names that indicate AMD's matrix cores,
/// which count as Tensor Cores, and on AMD GPUs for AOTriton's attention of 16-bit types.
/// Otherwise, for NVIDIA GPUs only, by
///  1. the GPU: kNo if it has no Tensor Cores;
///  2. the achieved rate: matrix FLOPs above 1.05 x the peak of the CUDA cores need Tensor Cores
///     (not for convolutions, whose Winograd and FFT kernels do fewer FLOPs than the op);
///  3. the op's data type: kNo if no Tensor Core of the GPU multiplies it; kYes for products of
///     Triton, CUTLASS and Myelin of at most 16 bits.
/// `fitness` goes by data type, shape and compute capability. Alignment only gives advice where
/// current libraries run any size. A kernel that uses Tensor Cores proves that its op can.
TensorCoreJudgement JudgeTensorCore(const TensorCoreCase& kernel);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_TENSOR_CORE_NEED_H_
