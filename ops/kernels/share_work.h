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

enum class FlopsKind : uint8_t { kUnknown, kNone, kExact, kEstimate, kBound };

/// One kernel of an op instance, in launch order.
struct InstanceKernel {
  std::string_view long_name;
  Dim3 grid;
  int64_t duration_ns = 0;
  /// Overrides the kind by name (a user's rule).
  std::optional<KernelKind> kind = {};
  /// Overrides the gradient by name (the function it runs under).
  std::optional<Part> part = {};
};

/// What one kernel is charged. The sum over an instance's kernels is exactly the op's work.
struct KernelShare {
  Role role = Role::kUnknown;
  std::optional<int64_t> flops;      ///< mma + vec; nullopt with a reason if unknown.
  std::optional<int64_t> flops_mma;  ///< Known if `flops` is.
  std::optional<int64_t> flops_vec;
  std::optional<int64_t> bytes;
  std::optional<int64_t> aux_bytes;  ///< Traffic beyond the op's ideal, if derivable.
  FlopsKind flops_kind = FlopsKind::kUnknown;
  /// Replaces `flops` if only a bound is known (PricedOp::flops_bounded). Not in sums or rates.
  std::optional<int64_t> flops_bound;
  /// Sizes of the launch alone tell `flops` or `bytes`: bounds of what they estimate.
  struct Range {
    int64_t low = 0;
    int64_t high = 0;
  };
  std::optional<Range> flops_range;
  std::optional<Range> bytes_range;
  /// Gradient computed; kBackward if the op's are not told apart, kForward in the forward
  /// direction.
  Part part = Part::kForward;
  double part_confidence = 1;   ///< Of `part`, if it is a gradient that was told apart: 0 to 1.
  std::optional<double> share;  ///< Of the FLOPs of its part (bytes if it has none), 0 to 1.
  /// Winograd or FFT convolution, which does fewer FLOPs than these.
  bool fast_convolution = false;
  ReasonSet reasons;
};

/// "exact", "estimate", "bound", "none" or "unknown".
std::string_view FlopsKindWord(FlopsKind kind);

/// Work of a call that is done by, and charged to, calls nested in it.
struct CoveredWork {
  bool main = false;      ///< All but the epilogue of a matrix op.
  bool epilogue = false;  ///< The bias of a matrix op.
};

/// What the nested call `inner` covers of `outer`. An inner matrix op is the product of an outer
/// one; any other call covers the outer one if it does at least half of its FLOPs (bytes if there
/// are no FLOPs). A smaller call is work beside it, such as a cast before a softmax.
CoveredWork CoveredBy(const PricedOp& outer, const PricedOp& inner);

/// Divides the forward or backward work of one op instance among its kernels; `shares` and
/// `kernels` have equal sizes. Helper, layout and reduce kernels get 0; matrix work goes to the
/// main kernels; vector work of a matrix op to its epilogue kernel, if any; main kernels of one
/// part share it in proportion to their grids, by largest remainder, so that the sum is exact.
/// `covered` work is not charged: its kernels get kUnknownRole.
void ShareWork(const PricedOp& op, Direction direction, std::span<const InstanceKernel> kernels,
               std::span<KernelShare> shares, CoveredWork covered = {});

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_SHARE_WORK_H_
