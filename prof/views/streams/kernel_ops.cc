#include "prof/views/streams/kernel_ops.h"

namespace oplens::prof {

void KernelOps::Add(const PricedKernel& kernel) {
  if (kernel.work == PricedKernel::kNoWork || kernel.replay) return;
  if (kernel.work >= ops_.size()) ops_.resize(size_t{kernel.work} + 1, 0);
  ops_[kernel.work] = texts_.NumberOf(kernel.op);
}

uint32_t KernelOps::NumberOf(const Trace& trace, const DeviceEvent& event) {
  switch (event.work) {
    case WorkClass::kCompute:
    case WorkClass::kCommunication:
      return event.index < ops_.size() ? ops_[event.index] : 0;
    case WorkClass::kCopy:
      return texts_.NumberOf(CopyNameOf(trace.copies[event.index].copy_kind));
    case WorkClass::kFill:
      return texts_.NumberOf(kFillName);
    case WorkClass::kReplay:
      break;
  }
  return texts_.NumberOf(kReplay);
}

}  // namespace oplens::prof
