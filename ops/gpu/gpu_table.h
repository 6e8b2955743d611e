#ifndef OPLENS_OPS_GPU_GPU_TABLE_H_
#define OPLENS_OPS_GPU_GPU_TABLE_H_

#include <span>
#include <string_view>

#include "ops/gpu/gpu.h"

namespace oplens::ops {

/// Source of a figure in the table of GPUs (docs/gpus.md, test/ops/gpu_sources.cc).
enum class SourceId : uint8_t {
  kNone,      ///< No source given: invalid in a cell.
  kNotFound,  ///< No document with the figure was found.
  kDerived,
  kRecorded,
  kCudaGuide,
  kGpuSpecs,
  kHighPerformanceOps,
  kLlmProf,
  kHmcTech,
  kTopCpu,
  kTechnicalCity,
  kCpuTronic,
  kSysRqmts,
  kFpsBench,
  kGpuBlog,
  kPascalPaper,
  kP100Sheet,
  kVoltaPaper,
  kV100Sheet,
  kTitanVPage,
  kXavierPage,
  kT4Sheet,
  kTuringPaper,
  kTitanRtxPage,
  kAmperePaper,
  kA100Sheet,
  kA30Sheet,
  kA10Sheet,
  kA10gSheet,
  kLightning,
  kGpuCatalog,
  kA40Sheet,
  kA6000Sheet,
  kA4000Sheet,
  kA16Sheet,
  kGa102Paper,
  kRtx3080Page,
  kOrinBrief,
  kAdaPaper,
  kL4Sheet,
  kL40Sheet,
  kL40sSheet,
  kAda6000Sheet,
  kHopperPaper,
  kH100Sheet,
  kH200Sheet,
  kGh200Sheet,
  kH20Press,
  kVerl,
  kH800Sheet,
  kBlackwellBrief,
  kBlackwellSheet,
  kB200Review,
  kHgxPage,
  kHgxPageEarly,
  kVerdaGb300,
  kUltraBlog,
  kGb300Page,
  kThorSheet,
  kRtxBlackwellPaper,
  kRtxProPaper,
  kSparkArticles,
  kMi100Brief,
  kMi100Bf16,
  kCdna2Sheet,
  kMi210Brief,
  kMi300xSheet,
  kMi300aSheet,
  kMi325xSheet,
  kMi350xBrief,
  kMi355xBrief,
  kCdna4Paper,
  kRocmSpecs,
};

/// Whether a GPU has the rates of its compute capability.
enum class Rates : uint8_t {
  kUsual,
  kOwn,  ///< Has its own rates, the peaks of its row: reduced for export or to fit a product range.
};

/// A figure of the table with its source. A value of 0 means:
///  - with a source: the GPU has no such unit;
///  - with two sources: they disagree;
///  - with kNotFound: no document was found.
struct GpuCell {
  double value = 0;
  SourceId source = SourceId::kNone;
  SourceId against = SourceId::kNone;  ///< The source that disagrees, if any.
};

enum class CellState : uint8_t {
  kFigure,
  kNoSuchUnit,
  kDisputed,
  kNotFound,
  kBad,  ///< Without a source, or a figure with a reason to have none.
};
CellState StateOf(const GpuCell& cell);

struct GpuFigures {
  GpuCell multiprocessors;  ///< AMD: compute units.
  GpuCell clock_mhz;        ///< Boost.
  GpuCell memory_gib;
  GpuCell dram_gb_per_s;
  GpuCell l2_kib;  ///< The cache in front of DRAM: L2, or AMD's Infinity Cache.
};

/// A GPU of the table. `required` and `accepted`: words of its names, in lower case.
struct GpuEntry {
  std::string_view name;
  std::string_view required;  ///< A name must have all of them,
  std::string_view accepted;  ///< and may have these.
  Maker maker;
  int compute_capability;  ///< AMD, as in HIP: 90 for gfx90a, 94 for gfx942, 95 for gfx950.
  Rates rates;
  GpuFigures figures;
  GpuCell peaks_tera_per_s[kMathUnitCount];  ///< In the order of MathUnit.
};

/// FMAs per clock and multiprocessor of an NVIDIA GPU, dense, in the order of MathUnit.
struct GpuRates {
  int compute_capability;
  SourceId vector;  ///< Of the first three,
  SourceId matrix;  ///< and of the others.
  int fma_per_clock[kMathUnitCount];
};

std::span<const GpuEntry> GpuEntries();

/// The entries that match a name.
std::vector<const GpuEntry*> FindGpuEntries(std::string_view name);

std::span<const GpuRates> AllGpuRates();

/// nullptr if the table lacks the compute capability.
const GpuRates* RatesOf(int compute_capability);

/// Whether it is a GeForce card, whose Tensor Cores sum in fp32 at half rate.
bool IsGeForce(std::string_view name);

/// Whether the name is a model from a range with many similar ones (GeForce RTX, Quadro, laptops,
/// parts of a GPU): if it is not in the table, a row of the same size is another model.
bool NamesNvidiaModel(std::string_view name);

/// Whether these GPUs lack the Tensor Cores of their compute capability: the GTX 16 series (7.5).
bool HasNoTensorCores(std::string_view name, int compute_capability);

/// Maker by the GPU's name; kNvidia unless the name says otherwise.
Maker MakerOf(std::string_view name);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_TABLE_H_
