#include "prof/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "prof/columns.h"

namespace oplens::prof {
namespace {

/// Stops at the largest value instead of wrapping: sums of hostile times.
int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t Length(int64_t start, int64_t end) {
  int64_t length = 0;
  return __builtin_sub_overflow(end, start, &length) ? std::numeric_limits<int64_t>::max() : length;
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

bool Coverage::Busy::Add(int64_t start, int64_t end) {
  if (!any || start > end_ns) {
    if (any) closed_ns = Total();
    any = true;
    start_ns = start;
    end_ns = end;
    return true;
  }
  end_ns = std::max(end_ns, end);
  return start >= start_ns;
}

int64_t Coverage::Busy::Total() const { return Sum(closed_ns, Length(start_ns, end_ns)); }

Coverage::Busy* Coverage::BusyOf(const KernelRecord& record) {
  const std::string_view rank = record.rank.value_or(std::string_view());
  if (last_busy_ == nullptr || last_rank_ != rank || last_device_ != record.device_id) {
    last_rank_ = rank;
    last_device_ = record.device_id;
    last_busy_ = &busy_[{last_rank_, last_device_}];
  }
  return last_busy_;
}

void Coverage::Add(const Row& row) {
  ++kernel_count_;
  const KernelRecord& record = *row.record;
  if (record.reasons.Has(Reason::kUntimed) || record.reasons.Has(Reason::kBadTimes)) return;
  const int64_t duration = record.duration_ns;
  kernel_ns_ = Sum(kernel_ns_, duration);
  if (!row.op.empty()) op_ns_ = Sum(op_ns_, duration);
  if (row.has_shapes) shapes_ns_ = Sum(shapes_ns_, duration);
  if (IsDirectionKnown(row)) direction_ns_ = Sum(direction_ns_, duration);
  if (row.share.flops) flops_ns_ = Sum(flops_ns_, duration);
  if (!record.start_ns || !record.end_ns) {
    busy_known_ = false;
  } else if (!BusyOf(record)->Add(*record.start_ns, *record.end_ns)) {
    busy_known_ = false;
  }
}

void Coverage::EndInput() {
  if (busy_known_) ended_busy_ns_ = BusyNs();
  busy_.clear();
  last_busy_ = nullptr;
}

int64_t Coverage::BusyNs() const {
  if (!busy_known_) return -1;
  int64_t total = ended_busy_ns_;
  for (const auto& [key, busy] : busy_) total = Sum(total, busy.Total());
  return total;
}

std::vector<std::string> Coverage::Sentences() const {
  if (kernel_count_ == 0) return {};
  const int64_t busy = BusyNs();
  return {fmt::format("kernel time {} ns, GPU busy {}", kernel_ns_,
                      busy < 0 ? "unknown (kernels without a start, or out of order)"
                               : fmt::format("{} ns", busy)),
          fmt::format("share of kernel time with op {:.1f} %, shapes {:.1f} %, direction {:.1f} %, "
                      "FLOPs {:.1f} %",
                      Percent(op_ns_, kernel_ns_), Percent(shapes_ns_, kernel_ns_),
                      Percent(direction_ns_, kernel_ns_), Percent(flops_ns_, kernel_ns_))};
}

}  // namespace oplens::prof
