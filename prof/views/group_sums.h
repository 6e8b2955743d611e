#ifndef OPLENS_PROF_VIEWS_GROUP_SUMS_H_
#define OPLENS_PROF_VIEWS_GROUP_SUMS_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Sums over the kernels of a group. A kernel that is not timed (Reason::kUntimed, kBadTimes) is
/// counted, but has no part in any time.
struct GroupSums {
  int64_t kernels = 0;
  int64_t timed = 0;  ///< Kernels that have a time.
  int64_t total_ns = 0;
  int64_t min_ns = 0;  ///< 0 where none is timed.
  int64_t max_ns = 0;
  int64_t step_ns = 0;  ///< Time of the kernels whose step is known.

  int64_t with_flops = 0;  ///< Kernels whose FLOPs are known; `flops` sums theirs.
  int64_t with_bytes = 0;
  Checked flops;
  Checked bytes;
  int64_t flops_ns = 0;  ///< Time of these kernels.
  int64_t bytes_ns = 0;
  Checked timed_flops;  ///< FLOPs of those of them that have a time, for rates.
  Checked timed_bytes;

  int64_t tensor_core_ns = 0;        ///< Time of the kernels that use Tensor Cores.
  int64_t tensor_core_known_ns = 0;  ///< Of those that are known to use them or not.
  int64_t inferred_ns = 0;           ///< Of those whose op is inferred (IsInferred).

  /// Adds one kernel.
  void Add(const PricedKernel& row);
  /// Adds the kernels of another group.
  void Add(const GroupSums& other);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->kernels, &self->timed);
    bytes->Sums(&self->total_ns, &self->min_ns, &self->max_ns, &self->step_ns);
    bytes->Counts(&self->with_flops, &self->with_bytes);
    bytes->Values(&self->flops, &self->bytes);
    bytes->Sums(&self->flops_ns, &self->bytes_ns);
    bytes->Values(&self->timed_flops, &self->timed_bytes);
    bytes->Sums(&self->tensor_core_ns, &self->tensor_core_known_ns, &self->inferred_ns);
  }

  /// ns a kernel; nullopt without a timed one.
  std::optional<double> MeanNs() const;
  /// 10^12 FLOP a second and 10^9 bytes a second, over the time of the kernels whose FLOPs (bytes)
  /// are known. nullopt without such time.
  std::optional<double> TeraflopsPerSecond() const;
  std::optional<double> GigabytesPerSecond() const;
  /// Percent of the time that is known to use Tensor Cores or not. nullopt without such time.
  std::optional<double> TensorCorePercent() const;
  /// Percent of `total_ns`; nullopt where that is 0.
  std::optional<double> PercentOfTotal(int64_t part_ns) const;
};

/// Whether a kernel has a time that sums may use.
bool IsTimed(const KernelRecord& record);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GROUP_SUMS_H_
