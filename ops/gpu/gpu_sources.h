#ifndef OPLENS_OPS_GPU_GPU_SOURCES_H_
#define OPLENS_OPS_GPU_GPU_SOURCES_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace oplens::ops {

/// Source of a figure in the table of GPUs.
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

struct GpuSource {
  SourceId id;
  std::string_view word;      ///< Short, as in docs/gpus.md.
  std::string_view document;  ///< A maker's document, or a repository.
  std::string_view where;     ///< Table, page or path within it.
};

/// All except kNone and kNotFound, in the order of SourceId.
std::span<const GpuSource> GpuSources();

/// nullptr for kNone and kNotFound.
const GpuSource* FindGpuSource(SourceId id);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_GPU_SOURCES_H_
