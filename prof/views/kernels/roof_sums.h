#ifndef OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_
#define OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.h"
#include "base/sums.h"
#include "ops/gpu/gpu.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Sums over kernels of one GPU, compared with its roofs. Kernels without a usable time are counted
/// but not summed.
struct RoofSums {
  Count count;
  Sum time_ns;
  Sum inferred_ns;  ///< Part of it whose op is inferred (IsInferred).
  Checked flops;
  Checked bytes;
  /// FLOPs by the unit whose peak limits them (MathRoofOf).
  std::array<Checked, ops::kMathUnitCount> unit_flops{};
  Count without_unit;         ///< Kernels of unknown unit.
  BitsOfAny<uint32_t> units;  ///< Bits of the kernels' units.

  std::string_view Problem() const {
    return units >> ops::kMathUnitCount == 0 ? "" : "a sum is of a unit that does not exist";
  }

  /// Adds a kernel; `priced`: its FLOPs and bytes are known, otherwise only its time counts.
  void Add(const PricedKernel& kernel, bool priced);

  /// The unit with the most FLOPs, without FLOPs the first of `units`; nullopt if unknown.
  std::optional<ops::MathUnit> MainUnit() const;
  /// Seconds that the FLOPs take at their units' peaks, and the bytes at DRAM bandwidth; nullopt if
  /// a unit, a peak or the bandwidth is unknown.
  std::optional<double> MathSeconds(const ops::Gpu& gpu) const;
  std::optional<double> MemorySeconds(const ops::Gpu& gpu) const;
  /// Time at the roof, the larger of both; nullopt if one is unknown.
  std::optional<int64_t> RoofNs(const ops::Gpu& gpu) const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_
