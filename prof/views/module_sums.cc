#include "prof/views/module_sums.h"

#include "base/saturating.h"

namespace oplens::prof {

void ModuleSums::Pass::Add(const Pass& other) {
  SaturatingAdd(&device_ns, other.device_ns);
  SaturatingAdd(&host_ns, other.host_ns);
}

void ModuleSums::Add(const ModuleSums& other) {
  for (int64_t ModuleSums::*const sum :
       {&ModuleSums::calls, &ModuleSums::wall_ns, &ModuleSums::ops, &ModuleSums::launches,
        &ModuleSums::tensor_core_ns, &ModuleSums::tensor_core_known_ns, &ModuleSums::with_flops,
        &ModuleSums::with_bytes, &ModuleSums::memory_events, &ModuleSums::collectives,
        &ModuleSums::communication_ns}) {
    SaturatingAdd(&(this->*sum), other.*sum);
  }
  flops += other.flops;
  bytes += other.bytes;
  allocated_bytes += other.allocated_bytes;
  freed_bytes += other.freed_bytes;
  forward.Add(other.forward);
  backward.Add(other.backward);
}

}  // namespace oplens::prof
