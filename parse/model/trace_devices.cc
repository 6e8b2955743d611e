#include "parse/model/trace_devices.h"

#include <algorithm>

namespace oplens {
namespace {

bool AreDevicesAlike(const Device& a, const Device& b) {
  return a.name == b.name && a.compute_capability_major == b.compute_capability_major &&
         a.compute_capability_minor == b.compute_capability_minor &&
         a.multiprocessors == b.multiprocessors && a.core_clock_hz == b.core_clock_hz &&
         a.memory_bandwidth_bytes_per_s == b.memory_bandwidth_bytes_per_s &&
         a.memory_bytes == b.memory_bytes;
}

}  // namespace

DeviceMatch FindDevice(const Trace& trace, int64_t device_id) {
  for (const Device& device : trace.devices) {
    if (device.id == device_id) return {&device, false};
  }
  const Device* const unlisted = UnlistedDevice(trace);
  return {unlisted, unlisted != nullptr};
}

const Device* UnlistedDevice(const Trace& trace) {
  if (trace.devices.empty()) return nullptr;
  const Device& first = trace.devices.front();
  const bool alike =
      std::all_of(trace.devices.begin(), trace.devices.end(),
                  [&](const Device& device) { return AreDevicesAlike(device, first); });
  return alike ? &first : nullptr;
}

}  // namespace oplens
