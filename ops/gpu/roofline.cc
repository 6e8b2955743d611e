#include "ops/gpu/roofline.h"

#include <algorithm>

namespace oplens::ops {
namespace {

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

/// Kernels of libraries that add and multiply two fp16 numbers at once.
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

/// Libraries compute fp32 in full on AMD's matrix cores, which sum in fp32 always.
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

Bound BoundOfShares(double math_pct, double dram_pct) {
  // A kernel beside the op's work: nothing is known of its own.
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
