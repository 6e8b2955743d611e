#ifndef OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_
#define OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/checked.h"
#include "base/sums.h"
#include "ops/gpu/gpu.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Sums over kernels of one GPU, held against its roofs. Kernels without a usable time are counted,
/// but have no part in any sum.
struct RoofSums {
  Count count;
  Sum time_ns;
  Sum inferred_ns;  ///< Of it: of kernels whose op is inferred (IsInferred).
  Checked flops;
  Checked bytes;
  /// FLOPs that count, by the unit whose peak they are held against (MathRoofOf).
  std::array<Checked, ops::kMathUnitCount> unit_flops{};
  Count without_unit;         ///< Kernels whose unit is not known.
  BitsOfAny<uint32_t> units;  ///< Of its kernels.

  static constexpr std::tuple kMembers{
      &RoofSums::count, &RoofSums::time_ns,    &RoofSums::inferred_ns,  &RoofSums::flops,
      &RoofSums::bytes, &RoofSums::unit_flops, &RoofSums::without_unit, &RoofSums::units};
  std::string_view Problem() const {
    return units >> ops::kMathUnitCount == 0 ? "" : "a sum is of a unit that does not exist";
  }

  /// Adds a kernel whose FLOPs and bytes are known, or with `priced` false its time alone.
  void Add(const PricedKernel& kernel, bool priced);

  /// The unit with most of the FLOPs; without any the first of its units. nullopt: not known.
  std::optional<ops::MathUnit> MainUnit() const;
  /// Seconds that the FLOPs take at the peaks of their units, and the bytes at the bandwidth of
  /// DRAM; nullopt where a unit, a peak or the bandwidth is not known.
  std::optional<double> MathSeconds(const ops::Gpu& gpu) const;
  std::optional<double> MemorySeconds(const ops::Gpu& gpu) const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_ROOF_SUMS_H_
