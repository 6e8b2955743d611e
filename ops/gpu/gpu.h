#ifndef OPLENS_OPS_GPU_GPU_H_
#define OPLENS_OPS_GPU_GPU_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/dim3.h"

namespace oplens::ops {

enum class Maker : uint8_t { kNvidia, kAmd, kOther };
inline constexpr size_t kMakerCount = 3;

/// Units of a GPU with peak rates of their own.
enum class MathUnit : uint8_t {
  kVectorFp64,
  kVectorFp32,
  kVectorFp16,      ///< Packed HFMA2.
  kTensorFp64,      ///< From here on Tensor Cores or AMD's matrix cores, dense.
  kTensorFp32,      ///< Full fp32, only on AMD's matrix cores.
  kTensorTf32,      ///< fp32 in memory.
  kTensorFp16,      ///< fp16 and bf16 operands, fp32 sums.
  kTensorFp16Half,  ///< fp16 operands and sums; twice as fast on GeForce cards.
  kTensorFp8,
  kTensorFp6,
  kTensorFp4,
  kTensorInt8,
  kTensorInt4,
};
inline constexpr size_t kMathUnitCount = static_cast<size_t>(MathUnit::kTensorInt4) + 1;

enum class PeakSource : uint8_t {
  kNone,
  kTable,   ///< The table of GPUs, whose cells name their documents.
  kRecord,  ///< Computed from the recorded multiprocessors and clock.
};

/// Limits on the resident blocks of a multiprocessor.
struct MultiprocessorLimits {
  int warps = 0;  ///< Of 32 threads; 0: unknown.
  int blocks = 0;
  int64_t registers = 0;  ///< 32 bits each.
  int64_t registers_per_block = 0;
  int64_t shared_memory_bytes = 0;           ///< At the largest carve-out.
  int64_t shared_memory_unit_bytes = 0;      ///< A block's memory is rounded up to it.
  int64_t shared_memory_reserved_bytes = 0;  ///< Per block, by the system.
};

/// The figures of a GPU that costs are compared with; 0: unknown.
struct Gpu {
  std::string name;            ///< As in the table, or as recorded.
  int compute_capability = 0;  ///< 10 x major + minor: 90 is sm_90. 0: unknown or not NVIDIA.
  Maker maker = Maker::kNvidia;
  int64_t multiprocessors = 0;
  int64_t clock_hz = 0;  ///< Boost.
  int64_t dram_bytes_per_s = 0;
  int64_t l2_bytes = 0;  ///< By the table: L2, or AMD's Infinity Cache, in front of DRAM.
  std::array<double, kMathUnitCount> peaks_per_s{};  ///< FLOP/s (integers: operations/s), dense.
  PeakSource source = PeakSource::kNone;

  bool IsNvidia() const { return maker == Maker::kNvidia; }
  double Peak(MathUnit unit) const { return peaks_per_s[static_cast<size_t>(unit)]; }
};

/// Result of FindGpu.
struct GpuMatch {
  std::optional<Gpu> gpu;  ///< If exactly one entry matches.
  /// Names of the matching entries if several; of all entries if none.
  std::vector<std::string_view> choices;
  bool ambiguous = false;
};

/// Looks up a GPU by name as people and drivers write it: "H200", "rtx 4090", "NVIDIA H100 80GB
/// HBM3", "Tesla V100-SXM2-16GB". Case, word order and makers' words do not matter; a word unknown
/// to the entry ("Laptop", "MIG") means another GPU.
GpuMatch FindGpu(std::string_view name);

/// Names of all table entries.
std::vector<std::string_view> GpuNames();

/// The GPU of a profile. `device_name`: its deviceName; `facts`: its text `gpu` (docs/formats.md:
/// "cc=9.0,sms=132,clock=1980000000,dram=3352320000000"); either may be empty. Recorded facts take
/// precedence: with multiprocessors, clock and compute capability, the peaks of an NVIDIA GPU are
/// multiprocessors x FMAs per clock x 2 x clock. Without a clock they are the table's, scaled to
/// the recorded multiprocessors. Compute capability, multiprocessors and memory decide between
/// several matching rows, and identify a GPU whose name gives no model ("AMD Radeon Graphics",
/// "NVIDIA PG509-210"); if rows remain, only figures that they agree on are known. Malformed facts
/// count as not recorded.
Gpu ParseGpu(std::string_view device_name, std::string_view facts);

/// All 0 if the compute capability is unknown.
MultiprocessorLimits LimitsOf(int compute_capability);

/// The facts of a launch that decide how many blocks share a multiprocessor.
struct Launch {
  Dim3 grid;
  Dim3 block;
  int64_t registers_per_thread = 0;
  int64_t shared_memory_bytes = 0;  ///< Per block, static and dynamic.
};

/// Blocks resident on a multiprocessor at once, by the rule of CUDA's occupancy calculator. nullopt
/// if the GPU's limits are unknown or it cannot run the launch.
std::optional<int64_t> BlocksPerMultiprocessor(int compute_capability, const Launch& launch);

/// Theoretical occupancy: resident warps over the maximum, in percent (profilers estimate by grid).
std::optional<double> TheoreticalOccupancy(int compute_capability, const Launch& launch);

/// Times the GPU is filled with blocks to run the grid: 1.2 is one full wave and a tail.
std::optional<double> Waves(const Gpu& gpu, const Launch& launch);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_H_
