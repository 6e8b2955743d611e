#include "prof/views/kernels/roof_sums.h"

#include <algorithm>
#include <cmath>

#include "parse/model/kernel_record.h"

namespace oplens::prof {

void RoofSums::Add(const PricedKernel& kernel, bool priced) {
  ++count;
  if (!kernel.record->timed()) return;
  time_ns += kernel.record->duration_ns;
  if (HasInferredOp(kernel)) inferred_ns += kernel.record->duration_ns;
  if (!priced) return;
  const RatedWork work = RatedWorkOf(kernel);
  flops += *work.flops;
  bytes += *work.bytes;
  const MathRoof roof = MathRoofOf(kernel);
  if (!roof.unit) {
    ++without_unit;
    return;
  }
  const auto unit = static_cast<size_t>(*roof.unit);
  unit_flops[unit] += roof.flops;
  units.Add(uint32_t{1} << unit);
}

std::optional<ops::MathUnit> RoofSums::MainUnit() const {
  std::optional<ops::MathUnit> main;
  double most = -1;
  for (size_t unit = 0; unit < unit_flops.size(); ++unit) {
    const double flops_of_unit = unit_flops[unit].Approximate().value_or(0);
    if ((units >> unit & 1) == 0 || flops_of_unit <= most) continue;
    main = static_cast<ops::MathUnit>(unit);
    most = flops_of_unit;
  }
  return main;
}

std::optional<double> RoofSums::MathSeconds(const ops::Gpu& gpu) const {
  if (without_unit > 0) return std::nullopt;
  double seconds = 0;
  for (size_t unit = 0; unit < unit_flops.size(); ++unit) {
    const std::optional<double> amount = unit_flops[unit].Approximate();
    if (!amount) return std::nullopt;
    if (*amount <= 0) continue;
    if (gpu.peaks_per_s[unit] <= 0) return std::nullopt;
    seconds += *amount / gpu.peaks_per_s[unit];
  }
  return seconds;
}

std::optional<double> RoofSums::MemorySeconds(const ops::Gpu& gpu) const {
  const std::optional<double> amount = bytes.Approximate();
  if (!amount || gpu.dram_bytes_per_s <= 0) return std::nullopt;
  return *amount / static_cast<double>(gpu.dram_bytes_per_s);
}

std::optional<int64_t> RoofSums::RoofNs(const ops::Gpu& gpu) const {
  const std::optional<double> math_s = MathSeconds(gpu);
  const std::optional<double> memory_s = MemorySeconds(gpu);
  if (!math_s || !memory_s) return std::nullopt;
  constexpr double kNsPerSecond = 1e9;
  constexpr double kMostNs = 9e18;
  return std::llround(std::min(std::max(*math_s, *memory_s) * kNsPerSecond, kMostNs));
}

}  // namespace oplens::prof
