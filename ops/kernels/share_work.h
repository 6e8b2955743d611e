#ifndef OPLENS_OPS_KERNELS_SHARE_WORK_H_
#define OPLENS_OPS_KERNELS_SHARE_WORK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/kernels/kernel_name.h"
#include "ops/op_model.h"
#include "parse/model/dim3.h"
#include "parse/model/phase.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// How well the FLOPs of a kernel are known.
enum class FlopsKind : uint8_t { kUnknown, kNone, kExact, kEstimate, kBound };

/// One kernel of an op instance, in launch order.
struct InstanceKernel {
  std::string_view long_name;
  Dim3 grid;
  int64_t duration_ns = 0;
  /// What it does, where more is known than its name (a rule of the user).
  std::optional<KernelKind> kind = {};
  /// Which gradient it computes, where more is known than its name (the function it runs under).
  std::optional<Part> part = {};
};

/// What one kernel is charged. The sum over an instance's kernels equals the op's work exactly.
struct KernelShare {
  Role role = Role::kUnknown;
  std::optional<int64_t> flops;      ///< mma + vec; nullopt with a reason when not known.
  std::optional<int64_t> flops_mma;  ///< Known when `flops` is.
  std::optional<int64_t> flops_vec;
  std::optional<int64_t> bytes;
  std::optional<int64_t> aux_bytes;  ///< Traffic beside the op's ideal, where derivable.
  FlopsKind flops_kind = FlopsKind::kUnknown;
  /// In place of `flops` where that is not known but a bound (PricedOp::flops_bounded). Enters no
  /// sum and no rate.
  std::optional<int64_t> flops_bound;
  /// The gradient that the kernel computes, kBackward when its op's are not told apart, kForward
  /// in the forward direction.
  Part part = Part::kForward;
  double part_confidence = 1;   ///< Of a gradient that was told apart: 0 to 1.
  std::optional<double> share;  ///< Of the FLOPs of its part (bytes where it has none), 0 to 1.
  /// It does the products of a convolution in Winograd's form or by FFT: fewer FLOPs than these.
  bool fast_convolution = false;
  ReasonSet reasons;
};

/// "exact", "estimate", "bound", "none" or "unknown".
std::string_view FlopsKindWord(FlopsKind kind);

/// What of a call's work calls nested in it do, whose kernels are charged for it.
struct CoveredWork {
  bool main = false;      ///< All but the epilogue of a matrix op.
  bool epilogue = false;  ///< The bias of a matrix op.
};

/// What of `outer` a call nested in it covers. An inner matrix op is the product of an outer one;
/// any other call that does at least half of the outer's FLOPs (of its bytes, where there are no
/// FLOPs) does the outer's work. A smaller one is work beside it, such as a cast before a softmax.
CoveredWork CoveredBy(const PricedOp& outer, const PricedOp& inner);

/// Splits the forward or backward work of one op instance over its kernels. `shares` has the size
/// of `kernels`. Rules: helpers, layout and reduce kernels get 0; matrix work goes to the main
/// kernels; vector work of a matrix op goes to its epilogue kernel when there is one; several main
/// kernels of one part share it in proportion to their grids, by largest remainder, so that no FLOP
/// is counted twice and none is lost. What is `covered` is not given again: the kernels that would
/// get it have the reason kUnknownRole.
void ShareWork(const PricedOp& op, Direction direction, std::span<const InstanceKernel> kernels,
               std::span<KernelShare> shares, CoveredWork covered = {});

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_SHARE_WORK_H_
