#ifndef OPLENS_OPS_GPU_LINK_H_
#define OPLENS_OPS_GPU_LINK_H_

#include <cstdint>

#include "ops/gpu/gpu.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// Bytes a second that a GPU can send to others at most: all its NVLinks, or PCI Express where no
/// GPU of its compute capability has NVLink. One direction, which bus bandwidths of collectives
/// compare with. 0: not known.
int64_t MostLinkBytesPerS(const Gpu& gpu);

/// A collective on one rank: what it sends, and how long that took.
struct LinkCase {
  const Gpu* gpu = nullptr;
  int64_t bytes = 0;
  int64_t duration_ns = 0;
  /// Begin and end are whole microseconds: the time may be as good as one longer.
  bool whole_microseconds = false;
};

/// `link` where that is faster than the GPU's links, with a microsecond more where the times may
/// hide one; else none.
ReasonSet LinkReasons(const LinkCase& collective);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_LINK_H_
