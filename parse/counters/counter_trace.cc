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
    KernelShape shape = KernelShape::Unknown();
    const int64_t extents[] = {counted.grid.x,  counted.grid.y,  counted.grid.z,
                               counted.block.x, counted.block.y, counted.block.z};
    for (size_t i = 0; i < 3; ++i) {
      shape.grid[i] = AsExtent(extents[i]);
      shape.block[i] = AsExtent(extents[3 + i]);
    }
    kernel.shape = trace.shapes.Add(shape);
    trace.kernels.push_back(kernel);
  }
  return trace;
}

}  // namespace oplens::parse
