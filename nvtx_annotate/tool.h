#ifndef OPLENS_NVTX_ANNOTATE_TOOL_H_
#define OPLENS_NVTX_ANNOTATE_TOOL_H_

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/vocabulary/direct_calls.h"

namespace oplens::annotate {

/// The process's state of the tool.
struct Tool {
  Mode mode = Mode::kOff;
  nvtxDomainHandle_t domain = nullptr;
  uint64_t schema = 0;
  uint64_t memory_schema = 0;  ///< 0: the tool does not take allocator events.
  /// Null: ranges begin and end through NVTX.
  markers::DirectCalls direct = {};
};

/// Determined once, at the first call.
const Tool& TheTool() noexcept;

}  // namespace oplens::annotate

#endif  // OPLENS_NVTX_ANNOTATE_TOOL_H_
