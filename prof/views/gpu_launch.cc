#include "prof/views/gpu_launch.h"

#include <algorithm>

namespace oplens::prof {
namespace {

Dim3 ExtentOf(const int32_t (&size)[3]) { return {size[0], size[1], size[2]}; }

/// 0 where it is not known.
double BlocksOf(const Kernel& kernel) {
  if (*std::min_element(std::begin(kernel.grid), std::end(kernel.grid)) <= 0) return 0;
  return static_cast<double>(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2];
}

/// Negative where it is not known.
int64_t SharedMemoryOf(const Trace& trace, const Kernel& kernel) {
  const int32_t together = trace.DetailsOf(kernel).shared_memory_bytes;
  if (together >= 0) return together;
  if (kernel.static_shared_memory_bytes < 0 || kernel.dynamic_shared_memory_bytes < 0) return -1;
  return int64_t{kernel.static_shared_memory_bytes} + kernel.dynamic_shared_memory_bytes;
}

}  // namespace

std::optional<double> BlocksPerSm(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu) {
  const auto recorded = static_cast<double>(trace.DetailsOf(kernel).blocks_per_multiprocessor);
  if (recorded > 0) return recorded;
  const double blocks = BlocksOf(kernel);
  if (gpu == nullptr || gpu->multiprocessors <= 0 || blocks <= 0) return std::nullopt;
  return blocks / static_cast<double>(gpu->multiprocessors);
}

std::optional<double> AchievedOccupancy(const Trace& trace, const Kernel& kernel,
                                        const ops::Gpu* gpu) {
  const auto recorded = static_cast<double>(trace.DetailsOf(kernel).occupancy_percent);
  if (recorded >= 0) return recorded;
  const double blocks = BlocksOf(kernel);
  if (gpu == nullptr || gpu->multiprocessors <= 0 || blocks <= 0) return std::nullopt;
  const ops::Launch launch = {ExtentOf(kernel.grid), ExtentOf(kernel.block),
                              kernel.registers_per_thread, SharedMemoryOf(trace, kernel)};
  const auto theoretical = ops::TheoreticalOccupancy(gpu->compute_capability, launch);
  if (!theoretical) return std::nullopt;
  constexpr int kWarpThreads = 32;
  const int64_t threads = launch.block.x * launch.block.y * launch.block.z;
  const int64_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
  const double most =
      static_cast<double>(gpu->multiprocessors) * ops::LimitsOf(gpu->compute_capability).warps;
  return std::min(*theoretical, 100 * blocks * static_cast<double>(warps) / most);
}

}  // namespace oplens::prof
