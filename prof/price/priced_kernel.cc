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
  if (row.op_by_name) return Evidence::kName;
  return row.record->evidence == Evidence::kNone ? Evidence::kRange : row.record->evidence;
}

Confidence ConfidenceOf(const PricedKernel& row) {
  return row.op_by_name ? row.name_confidence : row.record->confidence;
}

std::string_view SizesEvidenceWord(const PricedKernel& row) {
  if (row.sizes_by_launch) return "sizes";
  if (row.price == nullptr && !row.has_shapes) return {};
  return EvidenceWord(EvidenceOf(row));
}

std::string_view LayerEvidenceWord(const PricedKernel& row) {
  if (row.layer.empty()) return {};
  if (row.layer_by_order) return "order";
  const Evidence evidence = row.record->evidence;
  return EvidenceWord(evidence == Evidence::kNone ? Evidence::kRange : evidence);
}

bool HasInferredOp(const PricedKernel& row) {
  return IsInferred(EvidenceOf(row), ConfidenceOf(row));
}

}  // namespace oplens::prof
