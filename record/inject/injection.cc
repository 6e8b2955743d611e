// The entry points by which NVTX and the CUDA driver find this library.

#include "record/inject/cupti_session.h"
#include "record/inject/nvtx_functions.h"
#include "record/inject/nvtx_tool.h"
#include "record/inject/process.h"

#define OPLENS_EXPORT __attribute__((visibility("default")))

namespace oplens::record::inject {
namespace {

__attribute__((destructor)) void AtEnd() { EndProcess(); }

}  // namespace
}  // namespace oplens::record::inject

extern "C" {

/// Called once for every object of the process that has NVTX code, each time with tables of its
/// own. 0: NVTX stays off in that object.
OPLENS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  using namespace oplens::record::inject;
  if (!StartProcess() || !TheOptions().nvtx) return 0;
  return NvtxFunctions<NvtxTool>::Fill(export_table) ? 1 : 0;
}

OPLENS_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace oplens::record::inject;
  if (!StartProcess() || !TheOptions().nvtx) return 0;
  return NvtxFunctions<NvtxTool>::FillExtension(module) ? 1 : 0;
}

/// Called by the CUDA driver while it is initialised.
OPLENS_EXPORT int InitializeInjection(void) {
  using namespace oplens::record::inject;
  if (StartProcess() && TheOptions().cuda) StartCupti();
  return 1;
}

}  // extern "C"
