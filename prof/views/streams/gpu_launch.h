#ifndef OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_
#define OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/gpu/gpu.h"
#include "parse/model/trace.h"

namespace oplens::prof {

/// Blocks of a kernel's grid per multiprocessor: as recorded, else from the grid. `gpu` may be
/// null: only what is recorded.
std::optional<double> BlocksPerSm(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu);

/// Theoretical occupancy in percent: as recorded, else by registers, shared memory and block.
std::optional<double> TheoreticalOccupancyPct(const Trace& trace, const Kernel& kernel,
                                              const ops::Gpu* gpu);

/// Estimated achieved occupancy in percent: as recorded, else as Kineto estimates it: the
/// theoretical one, at most the warps of the grid per multiprocessor over the most possible.
std::optional<double> AchievedOccupancyPct(const Trace& trace, const Kernel& kernel,
                                           const ops::Gpu* gpu);

/// How much of a GPU's multiprocessors had a block, over time: at each moment the blocks per
/// multiprocessor of all kernels that run, at most 1.
class SmEfficiency {
 public:
  /// A kernel; `blocks` per multiprocessor, above 0. 24 bytes each.
  void Add(int64_t start_ns, int64_t end_ns, double blocks);
  /// The integral, ns, of all that was added. O(n log n); O(n) in the order of the starts as long
  /// as few run at once.
  double Finish();
  bool any() const { return !kernels_.empty(); }

 private:
  struct Kernel {
    int64_t start_ns;
    int64_t end_ns;
    double blocks;
  };
  using Running = std::pair<int64_t, double>;  // Until when, blocks.

  void RunUntil(int64_t time_ns);

  std::vector<Kernel> kernels_;
  std::vector<Running> running_;  // A heap: the first to end is its top.
  double blocks_ = 0;
  double integral_ns_ = 0;
  int64_t now_ns_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_GPU_LAUNCH_H_
