#include "prof/views/gpu_sums.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "prof/run/class_times.h"

namespace oplens::prof {

void GpuSums::Add(const GpuSums& other) {
  name = std::max(name, other.name);
  for (const auto member :
       {&GpuSums::window_ns, &GpuSums::busy_ns, &GpuSums::sm_integral, &GpuSums::sm_window_ns,
        &GpuSums::occupancy_sum, &GpuSums::occupancy_ns, &GpuSums::tc_ns, &GpuSums::tc_known_ns,
        &GpuSums::kernels, &GpuSums::kernel_ns, &GpuSums::copy_ns, &GpuSums::comm_ns,
        &GpuSums::replays, &GpuSums::replay_ns}) {
    this->*member = SaturatingSum(this->*member, other.*member);
  }
  tc_any |= other.tc_any;
  memory_bytes = std::max(memory_bytes, other.memory_bytes);
  // An absent value is less than any other.
  peak_allocated_bytes = std::max(peak_allocated_bytes, other.peak_allocated_bytes);
}

int64_t ClippedLength(int64_t start_ns, int64_t end_ns, const Interval& window) {
  return LengthOf({std::max(start_ns, window.start_ns), std::min(end_ns, window.end_ns)});
}

int64_t GpuRounded(double value) { return std::llround(std::clamp(value, 0.0, 9e18)); }

}  // namespace oplens::prof
