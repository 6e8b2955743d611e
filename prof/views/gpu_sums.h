#ifndef OPLENS_PROF_VIEWS_GPU_SUMS_H_
#define OPLENS_PROF_VIEWS_GPU_SUMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "prof/run/interval_set.h"

namespace oplens::prof {

/// Sums over one GPU, or over the same GPU of several inputs.
struct GpuSums {
  std::string name;
  int64_t window_ns = 0;
  int64_t busy_ns = 0;
  // Where some kernel tells its blocks: the integral in 10 fs, and the window that it is over.
  int64_t sm_integral = 0;
  int64_t sm_window_ns = 0;
  // Of kernels with an occupancy: percent x ns / 1000.
  int64_t occupancy_sum = 0;
  int64_t occupancy_ns = 0;
  int64_t tc_ns = 0;
  int64_t tc_known_ns = 0;
  bool tc_any = false;  ///< Some kernel of the rank counts.
  int64_t kernels = 0;
  int64_t kernel_ns = 0;
  int64_t copy_ns = 0;
  int64_t comm_ns = 0;
  int64_t replays = 0;
  int64_t replay_ns = 0;
  int64_t memory_bytes = 0;
  std::optional<int64_t> peak_allocated_bytes;

  void Add(const GpuSums& other);

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->name);
    bytes->Sums(&self->window_ns, &self->busy_ns, &self->sm_integral, &self->sm_window_ns,
                &self->occupancy_sum, &self->occupancy_ns, &self->tc_ns, &self->tc_known_ns);
    bytes->Values(&self->tc_any);
    bytes->Sums(&self->kernels, &self->kernel_ns, &self->copy_ns, &self->comm_ns, &self->replays,
                &self->replay_ns);
    bytes->Values(&self->memory_bytes, &self->peak_allocated_bytes);
  }
};

/// How much of [start_ns, end_ns] is in a window.
int64_t ClippedLength(int64_t start_ns, int64_t end_ns, const Interval& window);
/// A sum as an integer, so that sums of several inputs do not depend on their order.
int64_t GpuRounded(double value);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GPU_SUMS_H_
