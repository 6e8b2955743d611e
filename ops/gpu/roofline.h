#ifndef OPLENS_OPS_GPU_ROOFLINE_H_
#define OPLENS_OPS_GPU_ROOFLINE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/dtype.h"
#include "ops/gpu/gpu.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"

namespace oplens::ops {

/// What keeps a kernel from being faster.
enum class Bound : uint8_t {
  kUnknown,
  kMath,  ///< At the peak of arithmetic: kLeastRoofPct of it or more, and nearer than to memory's.
  kDram,  ///< At the peak of memory in the same way.
  kLatency,  ///< At neither: something else takes its time (latency_why.h).
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

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_ROOFLINE_H_
