#include "prof/price/priced_kernel.h"

#include <algorithm>

#include "parse/model/kernel_record.h"

namespace oplens::prof {

bool IsDirectionKnown(const PricedKernel& row) {
  const KernelRecord& record = *row.record;
  // PyProf writes fprop unless it knows backward. Forward is only certain for a kernel inside an
  // annotation or sequence marker, or a range that names its pass.
  if (record.direction == Direction::kForward) {
    return !record.markers.empty() || !record.seq_markers.empty() ||
           record.phase == Phase::kForward;
  }
  return record.direction != Direction::kUnknown;
}

std::optional<int64_t> LaunchDelayNs(const KernelRecord& record) {
  if (!record.timed() || !record.start_ns || !record.launch_end_ns) return std::nullopt;
  int64_t delay_ns = 0;
  if (__builtin_sub_overflow(*record.start_ns, *record.launch_end_ns, &delay_ns)) {
    return std::nullopt;
  }
  return std::max<int64_t>(delay_ns, 0);
}

Evidence EvidenceOf(const PricedKernel& row) {
  if (row.op.empty()) return Evidence::kNone;
  return row.record->evidence == Evidence::kNone ? Evidence::kRange : row.record->evidence;
}

bool HasInferredOp(const PricedKernel& row) {
  return IsInferred(EvidenceOf(row), row.record->confidence);
}

}  // namespace oplens::prof
