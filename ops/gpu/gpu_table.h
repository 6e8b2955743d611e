#ifndef OPLENS_OPS_GPU_GPU_TABLE_H_
#define OPLENS_OPS_GPU_GPU_TABLE_H_

#include <span>
#include <string_view>

#include "ops/gpu/gpu.h"

namespace oplens::ops {

/// How a GPU's rates compare with those of its compute capability.
enum class Rates : uint8_t {
  kUsual,
  kOwn,  ///< Its own, the peaks of its row: cut down for export or to fit a range of cards.
};

/// A GPU of the table. `required` and `accepted` are the words of its names, in lower case.
struct GpuEntry {
  std::string_view name;
  std::string_view required;  ///< A name must have all of them,
  std::string_view accepted;  ///< and may have these.
  int compute_capability;
  int multiprocessors;
  int clock_mhz;  ///< Boost.
  double dram_gb_per_s;
  int64_t l2_kib;  ///< Of the cache in front of DRAM; 0: not known.
  PeakSource source;
  Rates rates;
  double peaks_tera_per_s[kMathUnitCount];  ///< In the order of MathUnit; 0: none or not known.
};

/// FMAs a clock and multiprocessor, dense, in the order of MathUnit.
struct GpuRates {
  int compute_capability;
  int fma_per_clock[kMathUnitCount];
};

std::span<const GpuEntry> GpuEntries();

/// The entries that a name fits.
std::vector<const GpuEntry*> FindGpuEntries(std::string_view name);

/// nullptr for a compute capability that is not in the table.
const GpuRates* RatesOf(int compute_capability);

/// Whether the name is that of a card sold for games, whose Tensor Cores sum in fp32 at half rate.
bool IsGeForce(std::string_view name);

/// Whether the name says that it is not NVIDIA's.
bool IsOfAnotherMaker(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_TABLE_H_
