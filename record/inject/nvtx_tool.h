#ifndef OPLENS_RECORD_INJECT_NVTX_TOOL_H_
#define OPLENS_RECORD_INJECT_NVTX_TOOL_H_

#include <cstdint>

#include "record/inject/nvtx_functions.h"

namespace oplens::record::inject {

/// What happens at each call of NVTX: it goes into the spool. See NvtxFunctions.
struct NvtxTool {
  static int Push(uint32_t domain, const NvtxEvent& event);
  static int Pop(uint32_t domain, const NvtxEvent& event);
  static uint64_t Start(uint32_t domain, const NvtxEvent& event);
  static void End(uint32_t domain, uint64_t range, const NvtxEvent& event);
  static void Mark(uint32_t domain, const NvtxEvent& event);
  static uint32_t Domain(NvtxText name);
  static uint32_t String(uint32_t domain, NvtxText text);
  static void NameCategory(uint32_t domain, uint32_t category, NvtxText name);
  static void NameThread(uint32_t thread, NvtxText name);
  static uint64_t AddSchema(uint32_t domain, const nvtxPayloadSchemaAttr_t& schema);
};

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_NVTX_TOOL_H_
