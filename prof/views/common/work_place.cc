#include "prof/views/common/work_place.h"

#include <string_view>

#include "parse/model/kernel_record.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {

const Kernel* ComputeKernelOf(const Run& run, const PricedKernel& kernel) {
  if (kernel.work == PricedKernel::kNoWork) return nullptr;
  const Kernel& own = run.trace().kernels[kernel.work];
  if (!own.timed() || own.end_ns < own.start_ns) return nullptr;
  return run.work().IsCommunication(kernel.work) ? nullptr : &own;
}

WorkPlace PlaceOf(const PricedKernel& kernel, TextNumbers* texts) {
  std::string layer;
  for (const std::string_view part : kernel.layer) {
    if (!layer.empty()) layer += '/';
    layer += part;
  }
  const std::string_view op = HasOwnOp(kernel) ? kernel.op : kernel.record->short_name;
  return {texts->NumberOf(op), texts->NumberOf(layer)};
}

}  // namespace oplens::prof
