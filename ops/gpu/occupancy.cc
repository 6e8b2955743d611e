#include <algorithm>

#include "base/checked.h"
#include "ops/gpu/gpu.h"

namespace oplens::ops {
namespace {

struct LimitsRow {
  int compute_capability;
  MultiprocessorLimits limits;
};

constexpr int64_t kKiB = 1024;
constexpr int64_t kRegisters = 64 * kKiB;
constexpr int64_t kWarpThreads = 32;
constexpr int64_t kMostBlockThreads = 1024;
constexpr int64_t kMostThreadRegisters = 255;
constexpr int64_t kRegisterUnit = 256;  // Registers are allocated to warps in multiples of it.
constexpr int64_t kPartitions = 4;      // Each warp belongs to one of these partitions.

// CUDA programming guide, "Technical specifications per compute capability".
constexpr LimitsRow kLimits[] = {
    {30, {64, 16, kRegisters, kRegisters, 48 * kKiB, 256, 0}},
    {35, {64, 16, kRegisters, kRegisters, 48 * kKiB, 256, 0}},
    {37, {64, 16, 2 * kRegisters, kRegisters, 112 * kKiB, 256, 0}},
    {50, {64, 32, kRegisters, kRegisters, 64 * kKiB, 256, 0}},
    {52, {64, 32, kRegisters, kRegisters, 96 * kKiB, 256, 0}},
    {53, {64, 32, kRegisters, kRegisters / 2, 64 * kKiB, 256, 0}},
    {60, {64, 32, kRegisters, kRegisters, 64 * kKiB, 256, 0}},
    {61, {64, 32, kRegisters, kRegisters, 96 * kKiB, 256, 0}},
    {62, {64, 32, kRegisters, kRegisters / 2, 64 * kKiB, 256, 0}},
    {70, {64, 32, kRegisters, kRegisters, 96 * kKiB, 256, 0}},
    {72, {64, 32, kRegisters, kRegisters, 96 * kKiB, 256, 0}},
    {75, {32, 16, kRegisters, kRegisters, 64 * kKiB, 256, 0}},
    {80, {64, 32, kRegisters, kRegisters, 164 * kKiB, 128, kKiB}},
    {86, {48, 16, kRegisters, kRegisters, 100 * kKiB, 128, kKiB}},
    {87, {48, 16, kRegisters, kRegisters, 164 * kKiB, 128, kKiB}},
    {89, {48, 24, kRegisters, kRegisters, 100 * kKiB, 128, kKiB}},
    {90, {64, 32, kRegisters, kRegisters, 228 * kKiB, 128, kKiB}},
    {100, {64, 32, kRegisters, kRegisters, 228 * kKiB, 128, kKiB}},
    {103, {64, 32, kRegisters, kRegisters, 228 * kKiB, 128, kKiB}},
    {110, {48, 24, kRegisters, kRegisters, 228 * kKiB, 128, kKiB}},
    {120, {48, 24, kRegisters, kRegisters, 100 * kKiB, 128, kKiB}},
    {121, {48, 24, kRegisters, kRegisters, 100 * kKiB, 128, kKiB}},
};

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Threads of a block, or nullopt if no GPU can run it.
std::optional<int64_t> ThreadsOf(const Dim3& block) {
  if (block.x <= 0 || block.y <= 0 || block.z <= 0) return std::nullopt;
  const auto threads = (Checked(block.x) * block.y * block.z).Value();
  return threads && *threads <= kMostBlockThreads ? threads : std::nullopt;
}

int64_t WarpsOf(int64_t threads) { return (threads + kWarpThreads - 1) / kWarpThreads; }

}  // namespace

MultiprocessorLimits LimitsOf(int compute_capability) {
  for (const LimitsRow& row : kLimits) {
    if (row.compute_capability == compute_capability) return row.limits;
  }
  return {};
}

std::optional<int64_t> BlocksPerMultiprocessor(int compute_capability, const Launch& launch) {
  const MultiprocessorLimits limits = LimitsOf(compute_capability);
  const auto threads = ThreadsOf(launch.block);
  const int64_t registers = launch.registers_per_thread;
  if (limits.warps == 0 || !threads || registers <= 0 || registers > kMostThreadRegisters ||
      launch.shared_memory_bytes < 0 || launch.shared_memory_bytes > limits.shared_memory_bytes) {
    return std::nullopt;
  }
  const int64_t warps = WarpsOf(*threads);
  const int64_t warp_registers = RoundUp(registers * kWarpThreads, kRegisterUnit);
  if (warp_registers * RoundUp(warps, kPartitions) > limits.registers_per_block) {
    return std::nullopt;
  }
  const int64_t resident_warps = limits.registers / kPartitions / warp_registers * kPartitions;
  int64_t blocks = std::min<int64_t>(limits.blocks, limits.warps / warps);
  blocks = std::min(blocks, resident_warps / warps);
  const int64_t shared = RoundUp(launch.shared_memory_bytes + limits.shared_memory_reserved_bytes,
                                 limits.shared_memory_unit_bytes);
  if (shared > 0) blocks = std::min(blocks, limits.shared_memory_bytes / shared);
  return blocks > 0 ? std::optional<int64_t>(blocks) : std::nullopt;
}

std::optional<double> TheoreticalOccupancy(int compute_capability, const Launch& launch) {
  const auto blocks = BlocksPerMultiprocessor(compute_capability, launch);
  if (!blocks) return std::nullopt;
  const int64_t warps = *blocks * WarpsOf(*ThreadsOf(launch.block));
  return 100.0 * static_cast<double>(warps) / LimitsOf(compute_capability).warps;
}

std::optional<double> Waves(const Gpu& gpu, const Launch& launch) {
  const auto blocks = BlocksPerMultiprocessor(gpu.compute_capability, launch);
  const Dim3& grid = launch.grid;
  if (!blocks || gpu.multiprocessors <= 0 || grid.x <= 0 || grid.y <= 0 || grid.z <= 0) {
    return std::nullopt;
  }
  const double total =
      static_cast<double>(grid.x) * static_cast<double>(grid.y) * static_cast<double>(grid.z);
  return total / (static_cast<double>(*blocks) * static_cast<double>(gpu.multiprocessors));
}

}  // namespace oplens::ops
