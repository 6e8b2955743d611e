#ifndef OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_
#define OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/gpu/gpu.h"
#include "parse/model/trace.h"

namespace oplens::prof {

/// Blocks of a kernel's grid per multiprocessor: as recorded, otherwise computed from the grid if
/// `gpu` is not null.
std::optional<double> BlocksPerSm(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu);

/// Theoretical occupancy in percent: as recorded, otherwise from registers, shared memory and
/// block.
std::optional<double> TheoreticalOccupancyPct(const Trace& trace, const Kernel& kernel,
                                              const ops::Gpu* gpu);

/// Blocks of a kernel that share a multiprocessor by its theoretical occupancy, >= 1.
std::optional<double> ResidentBlocks(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu);

/// Estimated achieved occupancy in percent: as recorded, otherwise by Kineto's estimate: the
/// theoretical occupancy, but at most the grid's warps per multiprocessor over the maximum.
std::optional<double> AchievedOccupancyPct(const Trace& trace, const Kernel& kernel,
                                           const ops::Gpu* gpu);

/// Time during which a GPU's multiprocessors had a block: at each moment the blocks per
/// multiprocessor of all running kernels, at most 1.
class SmEfficiency {
 public:
  /// Call in order of start. `blocks`: per multiprocessor; a kernel without a block is ignored.
  /// O(log n) for n kernels that run at once.
  void Add(int64_t start_ns, int64_t end_ns, double blocks);
  /// Returns the integral over all added kernels, ns.
  double Finish();
  bool any() const { return any_; }

 private:
  using Running = std::pair<int64_t, double>;  // End, blocks.

  void RunUntil(int64_t time_ns);

  bool any_ = false;
  std::vector<Running> running_;  // A heap, first to end on top.
  double blocks_ = 0;
  double integral_ns_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_
