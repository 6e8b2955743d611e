#ifndef OPLENS_TEST_OPS_GPU_SOURCES_H_
#define OPLENS_TEST_OPS_GPU_SOURCES_H_

#include <span>
#include <string_view>

#include "ops/gpu/gpu_table.h"

namespace oplens::ops {

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

#endif  // OPLENS_TEST_OPS_GPU_SOURCES_H_
