#ifndef OPLENS_OPS_GPU_ROOFLINE_H_
#define OPLENS_OPS_GPU_ROOFLINE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/dtype.h"
#include "ops/gpu/gpu.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// What limits a kernel.
enum class Bound : uint8_t {
  kUnknown,
  kMath,     ///< At the arithmetic peak: kLeastRoofPct or more, and closer to it than to memory's.
  kDram,     ///< At the memory peak, likewise.
  kLatency,  ///< At neither; see LatencyWhy.
};

/// A kernel is bound by a roof from this percentage of it (docs/costs.md, "Bound").
inline constexpr double kLeastRoofPct = 60;

/// Applies the rule to kernels by their percentages of both roofs; kUnknown if both are 0.
Bound BoundOfShares(double math_pct, double dram_pct);

/// "math", "dram", "latency" or "".
std::string_view BoundWord(Bound bound);

/// A kernel, its charge and its GPU; null or nullopt: unknown.
struct RooflineCase {
  std::string_view long_name;
  OpClass op_class = OpClass::kCompute;
  DType dtype = DType::kUnknown;  ///< Of the op.
  std::optional<int64_t> flops;
  std::optional<int64_t> flops_mma;
  std::optional<int64_t> bytes;
  std::optional<int64_t> duration_ns;
  bool uses_tensor_cores = false;
  MathType math = MathType::kUnknown;  ///< For kernels that use them.
  bool half_sums = false;
  /// It is unknown whether the product ran on matrix cores, and thus on which unit.
  bool unit_open = false;
  const Gpu* gpu = nullptr;
};

/// A kernel's place under the roofs of its GPU; nullopt: cannot be computed. Counts the FLOPs and
/// bytes that the op needs, not those that the kernel spends: a kernel that reads twice has half
/// the GB/s, one that finds its inputs in the cache may exceed 100 %.
struct Roofline {
  std::optional<double> flops_per_byte;
  std::optional<double> tera_flops_per_s;
  std::optional<double> giga_bytes_per_s;  ///< Collectives: bus bandwidth.
  std::optional<double> percent_of_math;
  std::optional<double> percent_of_dram;
  Bound bound = Bound::kUnknown;
};

/// Percent of math refers to the units used: with Tensor Cores matrix FLOPs against their peak for
/// the type, otherwise all FLOPs against the vector peak (fp64; fp16 for packed kernels such as
/// hgemm; fp32 for others, since PyTorch computes 16-bit types in fp32). Collectives only get GB/s.
Roofline RooflineOf(const RooflineCase& kernel);

/// The units whose peak applies; nullopt if the type of a Tensor Core kernel is unknown.
std::optional<MathUnit> UnitOf(const RooflineCase& kernel);

/// The fastest unit that can multiply these factors; nullopt if peaks or types are unknown.
std::optional<MathUnit> BestUnitOf(const Gpu& gpu, DType left, DType right);
/// Peak of BestUnitOf per second; 0 if unknown.
double BestPeakOf(const Gpu& gpu, DType left, DType right);

/// "fp32", "packed_fp16", "tc_fp16", "tc_fp16_half", ...; "tc_": Tensor Cores.
std::string_view MathUnitWord(MathUnit unit);

/// Why a kernel reaches neither roof (Bound::kLatency).
enum class LatencyWhy : uint8_t {
  kUnknown,    ///< Not explained by grid or time, or not bound by latency.
  kFewBlocks,  ///< Fewer blocks than multiprocessors, some of which idle.
  kTail,       ///< Would reach a roof if the last wave were full.
  kShort,      ///< Below 10 us: launch and first loads dominate.
};

/// A kernel, its place under the roofs of its GPU and its launch.
struct LatencyCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;  ///< Null: unknown.
  Dim3 grid;
  std::optional<double> waves;
  std::optional<int64_t> duration_ns;
};

/// The first reason, in the order of the enum, that the numbers support.
LatencyWhy LatencyWhyOf(const LatencyCase& kernel);

/// "few-blocks", "tail", "short" or "".
std::string_view LatencyWhyWord(LatencyWhy why);

/// Peak bytes per second from a GPU to others: all NVLinks, or PCI Express if its compute
/// capability has no NVLink. One direction, comparable to the bus bandwidth of collectives; 0:
/// unknown.
int64_t MostLinkBytesPerS(const Gpu& gpu);

/// A collective on one rank: bytes sent and time taken.
struct LinkCase {
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Times are whole microseconds: the true duration may be 1 us longer.
  bool whole_microseconds = false;
};

/// Reason::kLink if the collective was faster than the GPU's links, even with the extra
/// microsecond; otherwise empty.
ReasonSet LinkReasons(const LinkCase& collective);

/// A kernel, its place under the roofs of its GPU, and what could put it above one.
struct ExcessCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Times are whole microseconds: the true duration may be 1 us longer.
  bool whole_microseconds = false;
  /// The largest factor by which the kernel's algorithm may save FLOPs; 1: none.
  double fewer_flops = 1;
  /// Bytes read from a view that repeats a smaller tensor; actual reads may be fewer.
  int64_t repeated_bytes = 0;
};

/// Why a kernel exceeds 100 % of a roof, as far as the numbers support it. Empty if it does not, or
/// if nothing here explains it: then its cost or its GPU is wrong.
///  - winograd: its algorithm saves that many FLOPs;
///  - clock: within the roof if it took 1 us longer;
///  - cache: not faster than caches, and within the roof by what DRAM must move: up to an L2 size
///    of its reads may be cached, another of its writes may stay there, and a view that repeats a
///    smaller tensor is read from the cache.
ReasonSet ExcessReasons(const ExcessCase& kernel);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_ROOFLINE_H_
