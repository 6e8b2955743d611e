#ifndef OPLENS_OPS_GPU_EXCESS_H_
#define OPLENS_OPS_GPU_EXCESS_H_

#include <cstdint>

#include "ops/gpu/gpu.h"
#include "ops/gpu/roofline.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// A kernel, its place under the roofs of its GPU, and what may put it above one.
struct ExcessCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Begin and end are whole microseconds: the time may be as good as one longer.
  bool whole_microseconds = false;
  /// How many times fewer FLOPs the kernel's way of computing may need at most; 1: as many.
  double fewer_flops = 1;
  /// Of `bytes`, reads that may be fewer than the shapes say: of a view that repeats a smaller
  /// tensor.
  int64_t repeated_bytes = 0;
};

/// Why a kernel is above 100 % of a roof, as far as the numbers bear it out. Empty for one below
/// its roofs, and for one that nothing here explains: then its cost is wrong, or its GPU.
///  - winograd: its way of computing needs so many fewer FLOPs;
///  - clock: a microsecond more, which the times may hide, and it is not above;
///  - cache: it is at most as fast as caches are, and not above with what DRAM must move at least:
///    of what it reads, as much as the L2 cache holds may be there already; as much of what it
///    writes may stay there; and a view that repeats a smaller tensor is read from there.
ReasonSet ExcessReasons(const ExcessCase& kernel);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_EXCESS_H_
