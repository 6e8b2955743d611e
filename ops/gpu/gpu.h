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

/// Who made a GPU.
enum class Maker : uint8_t { kNvidia, kAmd, kOther };
inline constexpr size_t kMakerCount = 3;

/// The units of a GPU whose peak rates differ.
enum class MathUnit : uint8_t {
  kVectorFp64,
  kVectorFp32,
  kVectorFp16,      ///< Packed HFMA2.
  kTensorFp64,      ///< From here on Tensor Cores, or AMD's matrix cores; dense.
  kTensorFp32,      ///< Full fp32, of AMD's matrix cores only.
  kTensorTf32,      ///< fp32 in memory.
  kTensorFp16,      ///< fp16 and bf16 operands, fp32 sums.
  kTensorFp16Half,  ///< fp16 operands and sums: GeForce cards are twice as fast at it.
  kTensorFp8,
  kTensorFp6,
  kTensorFp4,
  kTensorInt8,
  kTensorInt4,
};
inline constexpr size_t kMathUnitCount = static_cast<size_t>(MathUnit::kTensorInt4) + 1;

/// Where the peaks of a GPU are from.
enum class PeakSource : uint8_t {
  kNone,    ///< No peaks.
  kTable,   ///< The table of GPUs, whose cells name their documents.
  kRecord,  ///< From the multiprocessors and the clock that the profile recorded.
};

/// What decides how many blocks fit on a multiprocessor.
struct MultiprocessorLimits {
  int warps = 0;  ///< Of 32 threads; 0: not known.
  int blocks = 0;
  int64_t registers = 0;                     ///< 32 bits each.
  int64_t registers_per_block = 0;           ///< Most of one block.
  int64_t shared_memory_bytes = 0;           ///< At the largest carve-out.
  int64_t shared_memory_unit_bytes = 0;      ///< A block's memory is rounded up to it.
  int64_t shared_memory_reserved_bytes = 0;  ///< The system's own, of each block.
};

/// A GPU as far as costs are compared with it. Unknown numbers are 0.
struct Gpu {
  std::string name;            ///< Of the table, or as recorded.
  int compute_capability = 0;  ///< 10 x major + minor: 90 is sm_90. 0: unknown, or no NVIDIA GPU.
  Maker maker = Maker::kNvidia;
  int64_t multiprocessors = 0;
  int64_t clock_hz = 0;  ///< Boost.
  int64_t dram_bytes_per_s = 0;
  int64_t l2_bytes = 0;  ///< Of the table: the cache in front of DRAM, L2 or AMD's Infinity Cache.
  std::array<double, kMathUnitCount> peaks_per_s{};  ///< FLOP/s (integers: operations/s), dense.
  PeakSource source = PeakSource::kNone;

  bool IsNvidia() const { return maker == Maker::kNvidia; }
  double Peak(MathUnit unit) const { return peaks_per_s[static_cast<size_t>(unit)]; }
};

/// What a name of FindGpu may be.
struct GpuMatch {
  std::optional<Gpu> gpu;  ///< Of the one entry that fits.
  /// Names of the entries that fit, if several; of all entries, if none.
  std::vector<std::string_view> choices;
  bool ambiguous = false;
};

/// Looks a GPU up in the table by its name as people and drivers write it: "H200", "rtx 4090",
/// "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-16GB". Case, order and makers' words do not matter; a
/// word that the entry does not know ("Laptop", "MIG") makes it another GPU.
GpuMatch FindGpu(std::string_view name);

/// Names of all entries of the table.
std::vector<std::string_view> GpuNames();

/// The GPU of a record. `device_name` is its deviceName, `facts` its text `gpu` (docs/formats.md:
/// "cc=9.0,sms=132,clock=1980000000,dram=3352320000000"); either may be empty. What was recorded
/// wins: with multiprocessors, clock and compute capability the peaks of an NVIDIA GPU are
/// multiprocessors x FMAs a clock x 2 x clock. Without a clock the table's row of that name gives
/// the peaks, scaled to the multiprocessors recorded. A name that fits several rows is told apart
/// by compute capability, multiprocessors and size of memory, as is a GPU whose name tells no model
/// ("AMD Radeon Graphics", "NVIDIA PG509-210"); of rows that are left over, what they agree on
/// counts. What is written badly counts as not recorded.
Gpu ParseGpu(std::string_view device_name, std::string_view facts);

/// Of a compute capability; all 0 when it is not known.
MultiprocessorLimits LimitsOf(int compute_capability);

/// A kernel's launch, as far as it decides how many blocks share a multiprocessor.
struct Launch {
  Dim3 grid;
  Dim3 block;
  int64_t registers_per_thread = 0;
  int64_t shared_memory_bytes = 0;  ///< Of a block, static and dynamic.
};

/// Blocks that fit on a multiprocessor at once (the rule of CUDA's occupancy calculator); nullopt
/// when the GPU's limits are not known or the launch is not possible on it.
std::optional<int64_t> BlocksPerMultiprocessor(int compute_capability, const Launch& launch);

/// Resident warps over the most possible, in percent: the theoretical occupancy, not what a
/// profiler estimated from the size of the grid.
std::optional<double> TheoreticalOccupancy(int compute_capability, const Launch& launch);

/// How often the GPU is filled with blocks to run the grid: 1.2 is one full wave and a tail.
std::optional<double> Waves(const Gpu& gpu, const Launch& launch);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_H_
