#include "parse/counters/counter_trace.h"

#include <algorithm>
#include <limits>

#include "base/saturating.h"

namespace oplens::parse {
namespace {

int32_t AsExtent(int64_t extent) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::clamp<int64_t>(extent, -1, kMost));
}

}  // namespace

Trace TraceOfCounters(const CounterTable& table) {
  Trace trace;
  int64_t now_ns = 1;  // 0 is no time.
  for (const CountedKernel& counted : table.kernels) {
    Kernel kernel;
    kernel.row_id = static_cast<int64_t>(trace.kernels.size());
    kernel.correlation_id = kUnknownId;
    kernel.name = counted.name.empty() ? 0 : trace.strings.Intern(counted.name);
    if (const auto duration_ns = counted.counters.duration_ns) {
      kernel.start_ns = now_ns;
      SaturatingAdd(&now_ns, *duration_ns);
      kernel.end_ns = now_ns;
    }
    kernel.device_id = AsExtent(counted.device.value_or(0));
    const int64_t extents[] = {counted.grid.x,  counted.grid.y,  counted.grid.z,
                               counted.block.x, counted.block.y, counted.block.z};
    for (size_t i = 0; i < 3; ++i) {
      kernel.grid[i] = AsExtent(extents[i]);
      kernel.block[i] = AsExtent(extents[3 + i]);
    }
    kernel.registers_per_thread = -1;
    kernel.static_shared_memory_bytes = -1;
    kernel.dynamic_shared_memory_bytes = -1;
    trace.kernels.push_back(kernel);
  }
  return trace;
}

}  // namespace oplens::parse
