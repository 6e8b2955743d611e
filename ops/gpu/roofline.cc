#include "ops/gpu/roofline.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/checked.h"

namespace oplens::ops {
namespace {

constexpr int64_t kShortKernelNs = 10'000;

bool HasFewBlocks(const LatencyCase& kernel) {
  const Dim3& grid = kernel.grid;
  if (kernel.gpu == nullptr || grid.x <= 0 || grid.y <= 0 || grid.z <= 0) return false;
  const auto blocks = (Checked(grid.x) * grid.y * grid.z).Value();
  return blocks && *blocks < kernel.gpu->multiprocessors;
}

/// Assumes that each wave takes as long as a full one.
bool WouldFillItsRoof(const LatencyCase& kernel) {
  if (!kernel.waves || *kernel.waves <= 1) return false;
  const double share = std::max(kernel.roofline->percent_of_math.value_or(0),
                                kernel.roofline->percent_of_dram.value_or(0));
  return share * std::ceil(*kernel.waves) / *kernel.waves >= kLeastRoofPct;
}

struct LinkRate {
  int compute_capability;
  int64_t bytes_per_s;
};

constexpr int64_t kGiga = 1'000'000'000;

// One direction: half of what the documents give for both (docs/costs.md, "Collectives").
constexpr LinkRate kLinkRates[] = {
    {60, 80 * kGiga},      // P100: 4 NVLinks
    {70, 150 * kGiga},     // V100: 6
    {75, 50 * kGiga},      // TU102: 2
    {80, 300 * kGiga},     // A100: 12
    {86, 56'250'000'000},  // GA102: 4
    {89, 32 * kGiga},      // PCI Express 4.0 x16
    {90, 450 * kGiga},     // H100: 18
    {100, 900 * kGiga},    // B200: 18, fifth generation
    {103, 900 * kGiga},    // B300: 18, fifth generation
    {120, 64 * kGiga},     // PCI Express 5.0 x16
};

constexpr double kRoof = 100;
constexpr int64_t kMicrosecondNs = 1000;
/// Percent of the DRAM rate: L2 caches of GPUs deliver 2 to 5 times as much.
constexpr double kMostOfCache = 500;

/// The longest time that the recorded one may stand for.
double LongestNs(const ExcessCase& kernel) {
  return static_cast<double>(kernel.duration_ns) +
         static_cast<double>(kernel.whole_microseconds ? kMicrosecondNs : 0);
}

/// `percent` of a roof if the kernel took LongestNs().
double LeastPercent(const ExcessCase& kernel, double percent) {
  return percent * static_cast<double>(kernel.duration_ns) / LongestNs(kernel);
}

bool IsOfCache(const ExcessCase& kernel, double percent) {
  if (kernel.gpu->l2_bytes <= 0 || percent > kMostOfCache) return false;
  const auto l2 = static_cast<double>(kernel.gpu->l2_bytes);
  const double reads_cached =
      kernel.repeated_bytes > 0 ? static_cast<double>(kernel.repeated_bytes) : l2;
  const double least = std::max(static_cast<double>(kernel.bytes) - reads_cached - l2, 0.0);
  constexpr double kNsPerS = 1e9;
  return least * kNsPerS <= static_cast<double>(kernel.gpu->dram_bytes_per_s) * LongestNs(kernel);
}

std::optional<MathUnit> TensorUnitOf(MathType math, bool half_sums) {
  switch (math) {
    case MathType::kFp16:
      return half_sums ? MathUnit::kTensorFp16Half : MathUnit::kTensorFp16;
    case MathType::kBf16:
      return MathUnit::kTensorFp16;
    case MathType::kTf32:
    case MathType::kThreeTf32:
      return MathUnit::kTensorTf32;
    case MathType::kFp8:
      return MathUnit::kTensorFp8;
    case MathType::kFp4:
      return MathUnit::kTensorFp4;
    case MathType::kInt8:
      return MathUnit::kTensorInt8;
    case MathType::kInt4:
      return MathUnit::kTensorInt4;
    case MathType::kFp64:
      return MathUnit::kTensorFp64;
    case MathType::kBinary:
    case MathType::kUnknown:
      break;
  }
  return std::nullopt;
}

/// Library kernels that compute on pairs of fp16 numbers.
bool IsPackedHalf(std::string_view long_name) {
  return long_name.find("hgemm") != std::string_view::npos ||
         long_name.find("hcudnn") != std::string_view::npos;
}

MathUnit VectorUnitOf(const RooflineCase& kernel) {
  if (kernel.dtype == DType::kFloat64 || kernel.dtype == DType::kComplex128) {
    return MathUnit::kVectorFp64;
  }
  return IsPackedHalf(kernel.long_name) ? MathUnit::kVectorFp16 : MathUnit::kVectorFp32;
}

/// On AMD's matrix cores libraries compute full fp32, and sums are always fp32.
MathUnit OfAmd(MathUnit unit) {
  if (unit == MathUnit::kTensorTf32) return MathUnit::kTensorFp32;
  return unit == MathUnit::kTensorFp16Half ? MathUnit::kTensorFp16 : unit;
}

double PerSecond(int64_t amount, int64_t duration_ns) {
  return static_cast<double>(amount) / (static_cast<double>(duration_ns) * 1e-9);
}

Bound BoundOf(const Roofline& roofline) {
  if (!roofline.percent_of_math || !roofline.percent_of_dram) return Bound::kUnknown;
  return BoundOfShares(*roofline.percent_of_math, *roofline.percent_of_dram);
}

}  // namespace

LatencyWhy LatencyWhyOf(const LatencyCase& kernel) {
  if (kernel.roofline->bound != Bound::kLatency) return LatencyWhy::kUnknown;
  if (HasFewBlocks(kernel)) return LatencyWhy::kFewBlocks;
  if (WouldFillItsRoof(kernel)) return LatencyWhy::kTail;
  const bool is_short = kernel.duration_ns && *kernel.duration_ns < kShortKernelNs;
  return is_short ? LatencyWhy::kShort : LatencyWhy::kUnknown;
}

std::string_view LatencyWhyWord(LatencyWhy why) {
  switch (why) {
    case LatencyWhy::kFewBlocks:
      return "few-blocks";
    case LatencyWhy::kTail:
      return "tail";
    case LatencyWhy::kShort:
      return "short";
    case LatencyWhy::kUnknown:
      break;
  }
  return "";
}

int64_t MostLinkBytesPerS(const Gpu& gpu) {
  if (!gpu.IsNvidia()) return 0;
  const auto* const rate = std::find_if(
      std::begin(kLinkRates), std::end(kLinkRates),
      [&](const LinkRate& row) { return row.compute_capability == gpu.compute_capability; });
  return rate == std::end(kLinkRates) ? 0 : rate->bytes_per_s;
}

ReasonSet LinkReasons(const LinkCase& collective) {
  ReasonSet reasons;
  const auto link = static_cast<double>(MostLinkBytesPerS(*collective.gpu));
  if (link <= 0 || collective.duration_ns <= 0) return reasons;
  constexpr double kNsPerS = 1e9;
  const double longest_ns = static_cast<double>(collective.duration_ns) +
                            static_cast<double>(collective.whole_microseconds ? kMicrosecondNs : 0);
  if (static_cast<double>(collective.bytes) * kNsPerS > link * longest_ns) {
    reasons.Add(Reason::kLink);
  }
  return reasons;
}

ReasonSet ExcessReasons(const ExcessCase& kernel) {
  ReasonSet reasons;
  const double math = kernel.roofline->percent_of_math.value_or(0);
  if (math > kRoof) {
    if (math <= kRoof * kernel.fewer_flops) {
      reasons.Add(Reason::kWinograd);
    } else if (LeastPercent(kernel, math) <= kRoof) {
      reasons.Add(Reason::kClock);
    }
  }
  const double dram = kernel.roofline->percent_of_dram.value_or(0);
  if (dram > kRoof) {
    const double least = LeastPercent(kernel, dram);
    if (least <= kRoof) {
      reasons.Add(Reason::kClock);
    } else if (IsOfCache(kernel, least)) {
      reasons.Add(Reason::kCache);
    }
  }
  return reasons;
}

Bound BoundOfShares(double math_pct, double dram_pct) {
  // A kernel beside the op's work; nothing is known about it.
  if (math_pct == 0 && dram_pct == 0) return Bound::kUnknown;
  if (std::max(math_pct, dram_pct) < kLeastRoofPct) return Bound::kLatency;
  return math_pct >= dram_pct ? Bound::kMath : Bound::kDram;
}

std::string_view BoundWord(Bound bound) {
  switch (bound) {
    case Bound::kMath:
      return "math";
    case Bound::kDram:
      return "dram";
    case Bound::kLatency:
      return "latency";
    case Bound::kUnknown:
      break;
  }
  return "";
}

std::optional<MathUnit> UnitOf(const RooflineCase& kernel) {
  if (kernel.unit_open) return std::nullopt;
  if (!kernel.uses_tensor_cores) return VectorUnitOf(kernel);
  std::optional<MathUnit> unit = TensorUnitOf(kernel.math, kernel.half_sums);
  const bool amd = kernel.gpu != nullptr && kernel.gpu->maker == Maker::kAmd;
  return unit && amd ? OfAmd(*unit) : unit;
}

std::optional<MathUnit> BestUnitOf(const Gpu& gpu, DType left, DType right) {
  bool known = false;
  const MathType math = MathTypeOf(left, right, &known);
  if (math == MathType::kUnknown) return std::nullopt;
  std::optional<MathUnit> best;
  const auto offer = [&](MathUnit unit) {
    if (gpu.Peak(unit) > (best ? gpu.Peak(*best) : 0)) best = unit;
  };
  const std::optional<MathUnit> tensor = TensorUnitOf(math, false);
  if (tensor && (!gpu.IsNvidia() || HasTensorCoreFor(gpu.compute_capability, math))) {
    offer(*tensor);
    if (!gpu.IsNvidia()) offer(OfAmd(*tensor));
  }
  // Without Tensor Cores for them, narrow types are widened to fp32.
  offer(math == MathType::kFp64 ? MathUnit::kVectorFp64 : MathUnit::kVectorFp32);
  if (math == MathType::kFp16) offer(MathUnit::kVectorFp16);
  return best;
}

double BestPeakOf(const Gpu& gpu, DType left, DType right) {
  const std::optional<MathUnit> unit = BestUnitOf(gpu, left, right);
  return unit ? gpu.Peak(*unit) : 0;
}

std::string_view MathUnitWord(MathUnit unit) {
  switch (unit) {
    case MathUnit::kVectorFp64:
      return "fp64";
    case MathUnit::kVectorFp32:
      return "fp32";
    case MathUnit::kVectorFp16:
      return "packed_fp16";
    case MathUnit::kTensorFp64:
      return "tc_fp64";
    case MathUnit::kTensorFp32:
      return "tc_fp32";
    case MathUnit::kTensorTf32:
      return "tc_tf32";
    case MathUnit::kTensorFp16:
      return "tc_fp16";
    case MathUnit::kTensorFp16Half:
      return "tc_fp16_half";
    case MathUnit::kTensorFp8:
      return "tc_fp8";
    case MathUnit::kTensorFp6:
      return "tc_fp6";
    case MathUnit::kTensorFp4:
      return "tc_fp4";
    case MathUnit::kTensorInt8:
      return "tc_int8";
    case MathUnit::kTensorInt4:
      return "tc_int4";
  }
  return "";
}

Roofline RooflineOf(const RooflineCase& kernel) {
  Roofline roofline;
  const bool timed = kernel.duration_ns && *kernel.duration_ns > 0;
  if (timed && kernel.bytes) {
    roofline.giga_bytes_per_s = PerSecond(*kernel.bytes, *kernel.duration_ns) * 1e-9;
  }
  if (kernel.op_class == OpClass::kCollective) return roofline;
  if (kernel.flops && kernel.bytes && *kernel.bytes > 0) {
    roofline.flops_per_byte =
        static_cast<double>(*kernel.flops) / static_cast<double>(*kernel.bytes);
  }
  if (!timed) return roofline;
  if (kernel.flops) {
    roofline.tera_flops_per_s = PerSecond(*kernel.flops, *kernel.duration_ns) * 1e-12;
  }
  if (kernel.gpu == nullptr) return roofline;
  const std::optional<int64_t> counted = kernel.uses_tensor_cores ? kernel.flops_mma : kernel.flops;
  const std::optional<MathUnit> unit = UnitOf(kernel);
  const double peak = unit ? kernel.gpu->Peak(*unit) : 0;
  if (counted && peak > 0) {
    roofline.percent_of_math = 100 * PerSecond(*counted, *kernel.duration_ns) / peak;
  }
  if (kernel.bytes && kernel.gpu->dram_bytes_per_s > 0) {
    roofline.percent_of_dram = 100 * PerSecond(*kernel.bytes, *kernel.duration_ns) /
                               static_cast<double>(kernel.gpu->dram_bytes_per_s);
  }
  roofline.bound = BoundOf(roofline);
  return roofline;
}

}  // namespace oplens::ops
