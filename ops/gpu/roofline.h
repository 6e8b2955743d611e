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

/// What keeps a kernel from being faster.
enum class Bound : uint8_t {
  kUnknown,
  kMath,  ///< At the peak of arithmetic: kLeastRoofPct of it or more, and nearer than to memory's.
  kDram,  ///< At the peak of memory in the same way.
  kLatency,  ///< At neither: something else takes its time (LatencyWhy).
};

/// From this share of a roof on the roof is what bounds a kernel (docs/costs.md, "Bound").
inline constexpr double kLeastRoofPct = 60;

/// The rule, of a kernel or of several together, by shares of both roofs in percent; kUnknown where
/// both are 0.
Bound BoundOfShares(double math_pct, double dram_pct);

/// "math", "dram", "latency" or "".
std::string_view BoundWord(Bound bound);

/// A kernel, its charge and its GPU.
struct RooflineCase {
  std::string_view long_name;
  OpClass op_class = OpClass::kCompute;
  DType dtype = DType::kUnknown;  ///< Of the op.
  std::optional<int64_t> flops;
  std::optional<int64_t> flops_mma;
  std::optional<int64_t> bytes;
  std::optional<int64_t> duration_ns;
  bool uses_tensor_cores = false;
  MathType math = MathType::kUnknown;  ///< Of one that uses them.
  bool half_sums = false;
  /// A product of which nothing tells whether it ran on matrix cores: its unit is not known.
  bool unit_open = false;
  const Gpu* gpu = nullptr;  ///< Null: not known.
};

/// Where a kernel stands under the roofs of its GPU. What cannot be computed is nullopt. All by the
/// FLOPs and bytes that the op needs, not by those that the kernel spends: a kernel that reads
/// twice has half the GB/s, one that finds its inputs in the cache may have more than 100 %.
struct Roofline {
  std::optional<double> flops_per_byte;
  std::optional<double> tera_flops_per_s;
  std::optional<double> giga_bytes_per_s;  ///< Of a collective: bus bandwidth.
  std::optional<double> percent_of_math;
  std::optional<double> percent_of_dram;
  Bound bound = Bound::kUnknown;
};

/// Percent of math is of the peak of the units that the kernel uses: with Tensor Cores its matrix
/// FLOPs against their peak for its type, else all its FLOPs against the vector peak (fp64; fp16
/// for kernels of packed arithmetic such as hgemm; fp32 for all others, since PyTorch computes
/// 16-bit types in fp32). A collective has GB/s only.
Roofline RooflineOf(const RooflineCase& kernel);

/// The units whose peak fits; nullopt when the type of a Tensor Core kernel is not known.
std::optional<MathUnit> UnitOf(const RooflineCase& kernel);

/// Of the units that can multiply these factors the one with the highest peak; nullopt when the
/// GPU's peaks or the types are not known.
std::optional<MathUnit> BestUnitOf(const Gpu& gpu, DType left, DType right);
/// That peak (per second); 0 when it is not known.
double BestPeakOf(const Gpu& gpu, DType left, DType right);

/// "fp32", "packed_fp16", "tc_fp16", "tc_fp16_half", ...; "tc_": of Tensor Cores.
std::string_view MathUnitWord(MathUnit unit);

/// Why a kernel is at neither roof of its GPU (Bound::kLatency).
enum class LatencyWhy : uint8_t {
  kUnknown,    ///< Neither its grid nor its time tells it, or it is not bound by latency.
  kFewBlocks,  ///< Fewer blocks than multiprocessors: some of these have nothing to do.
  kTail,       ///< With a last wave as full as the others it would be at its roof.
  kShort,      ///< Below 10 us: launch and first loads take the time.
};

/// A kernel, its place under the roofs of its GPU and its launch.
struct LatencyCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;  ///< Null: not known.
  Dim3 grid;
  std::optional<double> waves;
  std::optional<int64_t> duration_ns;
};

/// The first of the reasons, in their order, that the numbers bear out.
LatencyWhy LatencyWhyOf(const LatencyCase& kernel);

/// "few-blocks", "tail", "short" or "".
std::string_view LatencyWhyWord(LatencyWhy why);

/// Bytes a second that a GPU can send to others at most: all its NVLinks, or PCI Express where no
/// GPU of its compute capability has NVLink. One direction, which bus bandwidths of collectives
/// compare with. 0: not known.
int64_t MostLinkBytesPerS(const Gpu& gpu);

/// A collective on one rank: what it sends, and how long that took.
struct LinkCase {
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Begin and end are whole microseconds: the time may be as good as one longer.
  bool whole_microseconds = false;
};

/// `link` where that is faster than the GPU's links, with a microsecond more where the times may
/// hide one; else none.
ReasonSet LinkReasons(const LinkCase& collective);

/// A kernel, its place under the roofs of its GPU, and what may put it above one.
struct ExcessCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Begin and end are whole microseconds: the time may be as good as one longer.
  bool whole_microseconds = false;
  /// How many times fewer FLOPs the kernel's way of computing may need at most; 1: as many.
  double fewer_flops = 1;
  /// Of `bytes`, reads that may be fewer than the shapes say: of a view that repeats a smaller
  /// tensor.
  int64_t repeated_bytes = 0;
};

/// Why a kernel is above 100 % of a roof, as far as the numbers bear it out. Empty for one below
/// its roofs, and for one that nothing here explains: then its cost is wrong, or its GPU.
///  - winograd: its way of computing needs so many fewer FLOPs;
///  - clock: a microsecond more, which the times may hide, and it is not above;
///  - cache: it is at most as fast as caches are, and not above with what DRAM must move at least:
///    of what it reads, as much as the L2 cache holds may be there already; as much of what it
///    writes may stay there; and a view that repeats a smaller tensor is read from there.
ReasonSet ExcessReasons(const ExcessCase& kernel);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_ROOFLINE_H_
