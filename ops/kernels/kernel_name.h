#ifndef OPLENS_OPS_KERNELS_KERNEL_NAME_H_
#define OPLENS_OPS_KERNELS_KERNEL_NAME_H_

#include <cstdint>
#include <string_view>

namespace oplens::ops {

/// The part a kernel plays in its op, decided by its full name.
enum class Role : uint8_t {
  kUnknown,
  kMain,      ///< Does the op's work.
  kHelper,    ///< Offsets, transforms, scans: none of the op's FLOPs.
  kLayout,    ///< Transposes, casts, copies inside a matrix op: none of the op's FLOPs.
  kReduce,    ///< Split-K sums and second stages, whose adds count with the main kernel.
  kEpilogue,  ///< Bias, activation or bias gradient beside a matrix op.
};

/// "main", "helper", "layout", "reduce", "epilogue" or "".
std::string_view RoleWord(Role role);

/// What a kernel does by its name. Finer than Role, which also depends on the op.
enum class KernelKind : uint8_t {
  kUnknown,
  kMatrix,           ///< GEMM, GEMV, convolution, attention.
  kSpecial,          ///< Specific to one kind of op: softmax, norms, embedding, pooling, sorting.
  kNormStatistics,   ///< Norm forward, 1 of 2: mean and variance.
  kNormApply,        ///< Norm forward, 2 of 2.
  kNormGradSums,     ///< Norm backward: row sums for the input gradient.
  kNormGradInput,    ///< Norm backward: input gradient.
  kNormGradWeights,  ///< Norm backward: gradients of gamma and beta.
  kPointwise,        ///< Elementwise, generated or not.
  kReduction,
  kCopy,         ///< Elementwise without arithmetic: copies, casts.
  kFill,         ///< Writes a constant.
  kLayout,       ///< Reorders dimensions for a library kernel.
  kSecondStage,  ///< Sums partial results: split-K, second pass of a reduction.
  kHelper,       ///< Offsets, transforms, scans.
};

/// Decides by the full name, demangled or mangled, from one table: first by the function's own
/// name, then by its template arguments. Linear in the name; never throws.
KernelKind KernelKindOf(std::string_view long_name);

/// The default role of a kind; ShareWork refines it by the op (elementwise beside a GEMM:
/// epilogue).
Role RoleOf(KernelKind kind);

Role RoleOf(std::string_view long_name);

/// Whether it belongs to a Winograd or FFT convolution, transforms included: these do fewer
/// multiplications than the op's formula.
bool IsFastConvolution(std::string_view long_name);

/// Whether it is PyTorch's elementwise kernel for non-contiguous tensors, whose operands may be
/// expanded views of smaller tensors.
bool ReadsStrided(std::string_view long_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_KERNEL_NAME_H_
