#include "prof/views/streams/gpu_launch.h"

#include <algorithm>
#include <functional>

#include "base/checked.h"

namespace oplens::prof {
namespace {

Dim3 ExtentOf(const int32_t (&size)[3]) { return {size[0], size[1], size[2]}; }

/// 0 if unknown.
double BlocksOf(const KernelShape& shape) {
  if (*std::min_element(std::begin(shape.grid), std::end(shape.grid)) <= 0) return 0;
  return static_cast<double>(shape.grid[0]) * shape.grid[1] * shape.grid[2];
}

/// 0 if unknown.
int64_t WarpsPerBlock(const KernelShape& shape) {
  constexpr int kWarpThreads = 32;
  const Dim3 block = ExtentOf(shape.block);
  const auto threads = (Checked(block.x) * block.y * block.z).Value();
  return threads && *threads > 0 ? (*threads + kWarpThreads - 1) / kWarpThreads : 0;
}

/// Negative if unknown.
int64_t GpuLaunchSharedMemoryOf(const Trace& trace, const Kernel& kernel) {
  const int32_t together = trace.DetailsOf(kernel).shared_memory_bytes;
  if (together >= 0) return together;
  const KernelShape& shape = trace.ShapeOf(kernel);
  if (shape.static_shared_memory_bytes < 0 || shape.dynamic_shared_memory_bytes < 0) return -1;
  return int64_t{shape.static_shared_memory_bytes} + shape.dynamic_shared_memory_bytes;
}

}  // namespace

std::optional<double> BlocksPerSm(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu) {
  const auto recorded = static_cast<double>(trace.DetailsOf(kernel).blocks_per_multiprocessor);
  if (recorded > 0) return recorded;
  const double blocks = BlocksOf(trace.ShapeOf(kernel));
  if (gpu == nullptr || gpu->multiprocessors <= 0 || blocks <= 0) return std::nullopt;
  return blocks / static_cast<double>(gpu->multiprocessors);
}

std::optional<double> TheoreticalOccupancyPct(const Trace& trace, const Kernel& kernel,
                                              const ops::Gpu* gpu) {
  const auto recorded = static_cast<double>(trace.DetailsOf(kernel).theoretical_occupancy_pct);
  if (recorded > 0) return recorded;  // A running kernel never has 0.
  if (gpu == nullptr) return std::nullopt;
  const KernelShape& shape = trace.ShapeOf(kernel);
  const ops::Launch launch = {ExtentOf(shape.grid), ExtentOf(shape.block),
                              shape.registers_per_thread, GpuLaunchSharedMemoryOf(trace, kernel)};
  return ops::TheoreticalOccupancy(gpu->compute_capability, launch);
}

std::optional<double> ResidentBlocks(const Trace& trace, const Kernel& kernel,
                                     const ops::Gpu* gpu) {
  const auto theoretical = TheoreticalOccupancyPct(trace, kernel, gpu);
  const int64_t warps = WarpsPerBlock(trace.ShapeOf(kernel));
  if (!theoretical || gpu == nullptr || warps <= 0) return std::nullopt;
  const auto most_warps = static_cast<double>(ops::LimitsOf(gpu->compute_capability).warps);
  return std::max(1.0, *theoretical / 100 * most_warps / static_cast<double>(warps));
}

std::optional<double> AchievedOccupancyPct(const Trace& trace, const Kernel& kernel,
                                           const ops::Gpu* gpu) {
  const auto recorded = static_cast<double>(trace.DetailsOf(kernel).achieved_occupancy_pct);
  if (recorded >= 0) return recorded;
  const double blocks = BlocksOf(trace.ShapeOf(kernel));
  const auto theoretical = TheoreticalOccupancyPct(trace, kernel, gpu);
  if (!theoretical || gpu == nullptr || gpu->multiprocessors <= 0 || blocks <= 0) {
    return std::nullopt;
  }
  const int64_t most_warps = ops::LimitsOf(gpu->compute_capability).warps;
  const int64_t warps = WarpsPerBlock(trace.ShapeOf(kernel));
  if (most_warps <= 0 || warps <= 0) return std::nullopt;
  const double most = static_cast<double>(gpu->multiprocessors) * static_cast<double>(most_warps);
  return std::min(*theoretical, 100 * blocks * static_cast<double>(warps) / most);
}

void SmEfficiency::RunUntil(int64_t time_ns) {
  const auto advance = [&](int64_t to_ns) {
    const double length_ns = static_cast<double>(to_ns) - static_cast<double>(now_ns_);
    // Doubles hold differences exactly only below 2^53 ns.
    int64_t exact_ns = 0;
    const bool fits = !__builtin_sub_overflow(to_ns, now_ns_, &exact_ns);
    integral_ns_ += std::min(blocks_, 1.0) * (fits ? static_cast<double>(exact_ns) : length_ns);
    now_ns_ = to_ns;
  };
  while (!running_.empty() && running_.front().first <= time_ns) {
    advance(running_.front().first);
    blocks_ -= running_.front().second;
    std::pop_heap(running_.begin(), running_.end(), std::greater<>());
    running_.pop_back();
    if (running_.empty()) blocks_ = 0;  // Removes rounding errors.
  }
  if (!running_.empty()) advance(time_ns);
  now_ns_ = time_ns;
}

void SmEfficiency::Add(int64_t start_ns, int64_t end_ns, double blocks) {
  if (end_ns <= start_ns || blocks <= 0) return;
  any_ = true;
  RunUntil(start_ns);
  running_.emplace_back(end_ns, blocks);
  std::push_heap(running_.begin(), running_.end(), std::greater<>());
  blocks_ += blocks;
}

double SmEfficiency::Finish() {
  RunUntil(INT64_MAX);
  return integral_ns_;
}

}  // namespace oplens::prof
