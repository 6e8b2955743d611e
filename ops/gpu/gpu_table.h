#ifndef OPLENS_OPS_GPU_GPU_TABLE_H_
#define OPLENS_OPS_GPU_GPU_TABLE_H_

#include <span>
#include <string_view>

#include "ops/gpu/gpu.h"
#include "ops/gpu/gpu_sources.h"

namespace oplens::ops {

/// How a GPU's rates compare with those of its compute capability.
enum class Rates : uint8_t {
  kUsual,
  kOwn,  ///< Its own, the peaks of its row: cut down for export or to fit a range of cards.
};

/// A figure of the table and who says so. 0 is no figure:
///  - with a source: it shows that the GPU has no such unit;
///  - with two: they disagree;
///  - with kNotFound: no document was found.
struct GpuCell {
  double value = 0;
  SourceId source = SourceId::kNone;
  SourceId against = SourceId::kNone;  ///< The other source of two that disagree.
};

/// What a cell says.
enum class CellState : uint8_t {
  kFigure,
  kNoSuchUnit,
  kDisputed,
  kNotFound,
  kBad,  ///< Without a source, or a figure and a reason to have none.
};
CellState StateOf(const GpuCell& cell);

struct GpuFigures {
  GpuCell multiprocessors;  ///< AMD: compute units.
  GpuCell clock_mhz;        ///< Boost.
  GpuCell memory_gib;
  GpuCell dram_gb_per_s;
  GpuCell l2_kib;  ///< The cache in front of DRAM: L2, or AMD's Infinity Cache.
};

/// A GPU of the table. `required` and `accepted` are the words of its names, in lower case.
struct GpuEntry {
  std::string_view name;
  std::string_view required;  ///< A name must have all of them,
  std::string_view accepted;  ///< and may have these.
  Maker maker;
  int compute_capability;  ///< AMD: of gfx90a 90, of gfx942 94, of gfx950 95, as HIP has it.
  Rates rates;
  GpuFigures figures;
  GpuCell peaks_tera_per_s[kMathUnitCount];  ///< In the order of MathUnit.
};

/// FMAs a clock and multiprocessor of an NVIDIA GPU, dense, in the order of MathUnit.
struct GpuRates {
  int compute_capability;
  SourceId vector;  ///< Of the first three,
  SourceId matrix;  ///< and of the others.
  int fma_per_clock[kMathUnitCount];
};

std::span<const GpuEntry> GpuEntries();

/// The entries that a name fits.
std::vector<const GpuEntry*> FindGpuEntries(std::string_view name);

std::span<const GpuRates> AllGpuRates();

/// nullptr for a compute capability that is not in the table.
const GpuRates* RatesOf(int compute_capability);

/// Whether the name is that of a card sold for games, whose Tensor Cores sum in fp32 at half rate.
bool IsGeForce(std::string_view name);

/// Whether the name is that of a model of a market that has many alike (GeForce RTX, Quadro,
/// laptops, parts of a GPU): where the table lacks it, a row of the same size is another model.
bool NamesNvidiaModel(std::string_view name);

/// Whether GPUs of that name have no Tensor Cores, though others of their compute capability do:
/// the GTX 16 series, 7.5.
bool LacksTensorCores(std::string_view name, int compute_capability);

/// Who made a GPU of that name; kNvidia unless it says otherwise.
Maker MakerOf(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_TABLE_H_
