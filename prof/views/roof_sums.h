#ifndef OPLENS_PROF_VIEWS_ROOF_SUMS_H_
#define OPLENS_PROF_VIEWS_ROOF_SUMS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "ops/gpu/gpu.h"
#include "prof/price/priced_kernel.h"

namespace oplens::prof {

/// Sums over kernels of one GPU, held against its roofs. Kernels without a usable time are counted,
/// but have no part in any sum.
struct RoofSums {
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t inferred_ns = 0;  ///< Of it: of kernels whose op is inferred (IsInferred).
  Checked flops;
  Checked bytes;
  /// FLOPs that count, by the unit whose peak they are held against (MathRoofOf).
  std::array<Checked, ops::kMathUnitCount> unit_flops{};
  int64_t without_unit = 0;  ///< Kernels whose unit is not known.
  uint32_t units = 0;        ///< Bits of the units of its kernels.

  /// Adds a kernel whose FLOPs and bytes are known, or with `priced` false its time alone.
  void Add(const PricedKernel& kernel, bool priced);
  void Add(const RoofSums& other);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Counts(&self->count);
    bytes->Sums(&self->time_ns, &self->inferred_ns);
    bytes->Values(&self->flops, &self->bytes, &self->unit_flops);
    bytes->Counts(&self->without_unit);
    bytes->Values(&self->units);
    if constexpr (Bytes::kReads) {
      bytes->Check(self->units >> ops::kMathUnitCount == 0, "a sum is of a unit that none is");
    }
  }

  /// The unit with most of the FLOPs; without any the first of its units. nullopt: not known.
  std::optional<ops::MathUnit> MainUnit() const;
  /// Seconds that the FLOPs take at the peaks of their units, and the bytes at the bandwidth of
  /// DRAM; nullopt where a unit, a peak or the bandwidth is not known.
  std::optional<double> MathSeconds(const ops::Gpu& gpu) const;
  std::optional<double> MemorySeconds(const ops::Gpu& gpu) const;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_ROOF_SUMS_H_
