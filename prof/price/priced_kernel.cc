#include "prof/price/priced_kernel.h"

namespace oplens::prof {

bool IsDirectionKnown(const PricedKernel& row) {
  const KernelRecord& record = *row.record;
  // PyProf writes fprop for every kernel that nothing says is backward. Forward is only known of a
  // kernel that an annotation or a sequence marker encloses.
  if (record.direction == Direction::kForward) {
    return !record.markers.empty() || !record.seq_markers.empty();
  }
  return record.direction != Direction::kUnknown;
}

}  // namespace oplens::prof
