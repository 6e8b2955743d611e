#include "prof/views/group_sums.h"

#include <algorithm>

#include "base/saturating.h"
#include "parse/model/kernel_record.h"

namespace oplens::prof {
namespace {

void AddToGroupSums(int64_t* sum, int64_t value) { *sum = SaturatingSum(*sum, value); }

std::optional<double> GroupSumsRatio(double part, double whole) {
  return whole > 0 ? std::optional<double>(part / whole) : std::nullopt;
}

/// nullopt too where the sum overflowed.
std::optional<double> GroupSumsRatio(Checked part, int64_t whole) {
  const std::optional<double> sum = part.Approximate();
  return sum ? GroupSumsRatio(*sum, static_cast<double>(whole)) : std::nullopt;
}

}  // namespace

std::optional<double> Percent(int64_t part, int64_t whole) {
  return GroupSumsRatio(100.0 * static_cast<double>(part), static_cast<double>(whole));
}

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
  AddToGroupSums(&total_ns, duration);
  if (record.step) AddToGroupSums(&step_ns, duration);
  if (share.flops) {
    AddToGroupSums(&flops_ns, duration);
    timed_flops += *share.flops;
  }
  if (share.bytes) {
    AddToGroupSums(&bytes_ns, duration);
    timed_bytes += *share.bytes;
  }
  if (IsInferred(record.evidence)) AddToGroupSums(&inferred_ns, duration);
  const ops::TensorCoreUse use = TensorCoreUseOf(row);
  if (use == ops::TensorCoreUse::kUnknown) return;
  AddToGroupSums(&tensor_core_known_ns, duration);
  if (use == ops::TensorCoreUse::kYes) AddToGroupSums(&tensor_core_ns, duration);
}

void GroupSums::Add(const GroupSums& other) {
  kernels += other.kernels;
  if (other.timed > 0) {
    min_ns = timed == 0 ? other.min_ns : std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
  }
  timed += other.timed;
  AddToGroupSums(&total_ns, other.total_ns);
  AddToGroupSums(&step_ns, other.step_ns);
  with_flops += other.with_flops;
  with_bytes += other.with_bytes;
  flops += other.flops;
  bytes += other.bytes;
  AddToGroupSums(&flops_ns, other.flops_ns);
  AddToGroupSums(&bytes_ns, other.bytes_ns);
  timed_flops += other.timed_flops;
  timed_bytes += other.timed_bytes;
  AddToGroupSums(&tensor_core_ns, other.tensor_core_ns);
  AddToGroupSums(&tensor_core_known_ns, other.tensor_core_known_ns);
  AddToGroupSums(&inferred_ns, other.inferred_ns);
}

std::optional<double> GroupSums::MeanNs() const {
  return GroupSumsRatio(static_cast<double>(total_ns), static_cast<double>(timed));
}

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
