#include "prof/views/group_sums.h"

#include <algorithm>

#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {
namespace {

/// nullopt too where the sum overflowed.
std::optional<double> GroupSumsRatio(Checked part, int64_t whole) {
  const std::optional<double> sum = part.Approximate();
  return sum ? Ratio(*sum, static_cast<double>(whole)) : std::nullopt;
}

}  // namespace

void GroupSums::Add(const PricedKernel& row) {
  ++kernels;
  const KernelRecord& record = *row.record;
  const ops::KernelShare& share = row.share;
  if (share.flops) {
    ++with_flops;
    flops += *share.flops;
  }
  if (share.bytes) {
    ++with_bytes;
    bytes += *share.bytes;
  }
  if (!record.timed()) return;
  const int64_t duration = record.duration_ns;
  min_ns = timed == 0 ? duration : std::min(min_ns, duration);
  max_ns = std::max(max_ns, duration);
  ++timed;
  SaturatingAdd(&total_ns, duration);
  if (record.step) SaturatingAdd(&step_ns, duration);
  if (share.flops) {
    SaturatingAdd(&flops_ns, duration);
    timed_flops += *share.flops;
  }
  if (share.bytes) {
    SaturatingAdd(&bytes_ns, duration);
    timed_bytes += *share.bytes;
  }
  if (IsInferred(record.evidence)) SaturatingAdd(&inferred_ns, duration);
  const ops::TensorCoreUse use = TensorCoreUseOf(row);
  if (use == ops::TensorCoreUse::kUnknown) return;
  SaturatingAdd(&tensor_core_known_ns, duration);
  if (use == ops::TensorCoreUse::kYes) SaturatingAdd(&tensor_core_ns, duration);
}

void GroupSums::Add(const GroupSums& other) {
  kernels += other.kernels;
  if (other.timed > 0) {
    min_ns = timed == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
  }
  timed += other.timed;
  SaturatingAdd(&total_ns, other.total_ns);
  SaturatingAdd(&step_ns, other.step_ns);
  with_flops += other.with_flops;
  with_bytes += other.with_bytes;
  flops += other.flops;
  bytes += other.bytes;
  SaturatingAdd(&flops_ns, other.flops_ns);
  SaturatingAdd(&bytes_ns, other.bytes_ns);
  timed_flops += other.timed_flops;
  timed_bytes += other.timed_bytes;
  SaturatingAdd(&tensor_core_ns, other.tensor_core_ns);
  SaturatingAdd(&tensor_core_known_ns, other.tensor_core_known_ns);
  SaturatingAdd(&inferred_ns, other.inferred_ns);
}

std::optional<double> GroupSums::MeanNs() const { return Ratio(total_ns, timed); }

std::optional<double> GroupSums::TeraflopsPerSecond() const {
  constexpr double kFlopsPerNsInTeraflops = 1e-3;
  const auto rate = GroupSumsRatio(timed_flops, flops_ns);
  return rate ? std::optional<double>(*rate * kFlopsPerNsInTeraflops) : std::nullopt;
}

std::optional<double> GroupSums::GigabytesPerSecond() const {
  return GroupSumsRatio(timed_bytes, bytes_ns);  // 1 B/ns is 1 GB/s.
}

std::optional<double> GroupSums::TensorCorePercent() const {
  return Percent(tensor_core_ns, tensor_core_known_ns);
}

std::optional<double> GroupSums::PercentOfTotal(int64_t part_ns) const {
  return Percent(part_ns, total_ns);
}

}  // namespace oplens::prof
