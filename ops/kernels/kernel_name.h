#ifndef OPLENS_OPS_KERNELS_KERNEL_NAME_H_
#define OPLENS_OPS_KERNELS_KERNEL_NAME_H_

#include <cstdint>
#include <string_view>

namespace oplens::ops {

/// The part a kernel plays in its op; decided by its full name.
enum class Role : uint8_t {
  kUnknown,
  kMain,      ///< Does the op's work.
  kHelper,    ///< Offsets, transforms, scans: no FLOPs of the op.
  kLayout,    ///< Transposes, casts, copies inside a matrix op: no FLOPs of the op.
  kReduce,    ///< Split-K sums and second stages: their adds are part of the main kernel's.
  kEpilogue,  ///< Bias, activation or bias gradient beside a matrix op.
};

/// "main", "helper", "layout", "reduce", "epilogue" or "".
std::string_view RoleWord(Role role);

/// What a kernel does, as far as its name says. Finer than Role: the same kernel is the work of one
/// op and an accessory of another.
enum class KernelKind : uint8_t {
  kUnknown,
  kMatrix,           ///< GEMM, GEMV, convolution, attention.
  kSpecial,          ///< The kernel of one kind of op: softmax, norms, embedding, pooling, sorting.
  kNormStatistics,   ///< Norm forward, first of two: mean and variance.
  kNormApply,        ///< Norm forward, second of two.
  kNormGradSums,     ///< Norm backward: sums of a row for the input gradient.
  kNormGradInput,    ///< Norm backward: the input gradient.
  kNormGradWeights,  ///< Norm backward: gradients of gamma and beta.
  kPointwise,        ///< Elementwise, generated or not.
  kReduction,
  kCopy,         ///< Elementwise without arithmetic: copies, casts.
  kFill,         ///< Writes a constant.
  kLayout,       ///< Changes the order of dimensions for a library kernel.
  kSecondStage,  ///< Adds up what an earlier kernel left: split-K, second pass of a reduction.
  kHelper,       ///< Offsets, transforms, scans.
};

/// Decides by the full name, demangled or mangled, from one table: first by the function's own
/// name, then by its template arguments. Linear in the name; never throws.
KernelKind KernelKindOf(std::string_view long_name);

/// The role of a kernel of that kind in an op of its own; ShareWork refines it by the op it runs
/// under (an elementwise kernel beside a GEMM is its epilogue).
Role RoleOf(KernelKind kind);

/// RoleOf(KernelKindOf(long_name)).
Role RoleOf(std::string_view long_name);

/// Whether the kernel is of a convolution in Winograd's form or by FFT, its transforms included:
/// these multiply less often than the formula of the op.
bool IsFastConvolution(std::string_view long_name);

/// Whether the kernel is PyTorch's for elementwise work on tensors that do not lie in one piece: an
/// operand may be a view that repeats the elements of a smaller tensor (expand).
bool ReadsStrided(std::string_view long_name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_KERNEL_NAME_H_
