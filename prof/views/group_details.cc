#include "prof/views/group_details.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "parse/model/kernel_record.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/gpu_launch.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr double kThousandths = 1000;

std::optional<double> GroupDetailsRatio(Checked sum, int64_t count, double unit) {
  const auto whole = sum.Approximate();
  if (!whole || count == 0) return std::nullopt;
  return *whole / static_cast<double>(count) / unit;
}

Cell GroupDetailsQuantileOf(const GroupDetails& details, int percent) {
  return Integer(details.durations.Quantile(percent));
}

constexpr Column<GroupDetails> kDetails[] = {
    {{"calls", "Calls", "", kInteger, 6, "executions, as count", Fold::kSum},
     [](const GroupDetails& of) { return Integer(of.calls); }},
    {{"blocks_per_sm", "Blocks/SM", "", kDecimal, 9,
      "mean of grid blocks / multiprocessors, weighted by time, of kernels of which it is known"},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.blocks, of.blocks_ns, kThousandths));
     }},
    {{"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", kDecimal, 8,
      "mean estimated achieved occupancy, weighted by time, of kernels of which it is known"},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.occupancy, of.occupancy_ns, kThousandths));
     }},
    {{"p50_ns", "P50(ns)", "ns", kInteger, 9,
      "median duration: nearest rank, from a histogram, at most 1.6 % off", Fold::kQuantiles},
     [](const GroupDetails& of) { return GroupDetailsQuantileOf(of, 50); }},
    {{"p95_ns", "P95(ns)", "ns", kInteger, 9,
      "95th percentile of the duration: nearest rank, from a histogram, at most 1.6 % off",
      Fold::kQuantiles},
     [](const GroupDetails& of) { return GroupDetailsQuantileOf(of, 95); }},
    {{"launch_delay_ns", "Delay(ns)", "ns", kDecimal, 10,
      "mean of start - end of the launch call, at least 0, where both are known", Fold::kMean},
     [](const GroupDetails& of) {
       return Decimal(GroupDetailsRatio(of.delay_ns, of.with_delay, 1));
     }},
    {{"gap_ns", "Gap(ns)", "ns", kDecimal, 10,
      "mean of start - end of what its stream did before, at least 0", Fold::kMean},
     [](const GroupDetails& of) { return Decimal(GroupDetailsRatio(of.gap_ns, of.with_gap, 1)); }},
};

/// Of two clocks that need not agree; nullopt where the difference does not fit.
std::optional<int64_t> DistanceNs(int64_t from_ns, int64_t to_ns) {
  int64_t distance_ns = 0;
  if (__builtin_sub_overflow(to_ns, from_ns, &distance_ns)) return std::nullopt;
  return std::max<int64_t>(distance_ns, 0);
}

/// Adds value x duration in thousandths.
void AddWeighted(const std::optional<double>& value, int64_t duration_ns, Checked* sum,
                 int64_t* time_ns) {
  if (!value || !(std::abs(*value) < 1e12)) return;
  *sum += Checked(std::llround(*value * kThousandths)) * Checked(duration_ns);
  SaturatingAdd(time_ns, duration_ns);
}

}  // namespace

void GroupDetails::Add(const GroupDetails& other) {
  calls += other.calls;
  durations.Merge(other.durations);
  blocks += other.blocks;
  occupancy += other.occupancy;
  SaturatingAdd(&blocks_ns, other.blocks_ns);
  SaturatingAdd(&occupancy_ns, other.occupancy_ns);
  delay_ns += other.delay_ns;
  gap_ns += other.gap_ns;
  with_delay += other.with_delay;
  with_gap += other.with_gap;
}

void GroupDetails::Add(const KernelGroupDetails& kernel) {
  ++calls;
  if (!kernel.duration_ns) return;
  durations.Add(*kernel.duration_ns);
  if (kernel.delay_ns) {
    delay_ns += *kernel.delay_ns;
    ++with_delay;
  }
  if (kernel.gap_ns) {
    gap_ns += *kernel.gap_ns;
    ++with_gap;
  }
  AddWeighted(kernel.blocks, *kernel.duration_ns, &blocks, &blocks_ns);
  AddWeighted(kernel.occupancy, *kernel.duration_ns, &occupancy, &occupancy_ns);
}

std::vector<Field> GroupDetailFields() {
  return FieldsOf(std::span<const Column<GroupDetails>>(kDetails));
}

void AppendDetails(const GroupDetails& details, std::vector<Cell>* cells) {
  for (const Column<GroupDetails>& detail : kDetails) cells->push_back(detail.get(details));
}

std::optional<int64_t> StreamGaps::Before(const DeviceEvent& asked) {
  const auto events = run_.work().events();
  for (; next_ < events.size() && events[next_].start_ns <= asked.start_ns; ++next_) {
    const DeviceEvent& event = events[next_];
    auto stream = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& known) {
      return known.stream_id == event.stream_id && known.device_id == event.device_id;
    });
    const bool first = stream == streams_.end();
    const int64_t before_ns = first ? 0 : stream->end_ns;
    if (first) {
      streams_.push_back({event.device_id, event.stream_id, event.end_ns});
    } else {
      stream->end_ns = std::max(stream->end_ns, event.end_ns);
    }
    if (event.index != asked.index || event.work != asked.work) continue;
    ++next_;
    return first ? std::nullopt : DistanceNs(before_ns, event.start_ns);
  }
  return std::nullopt;
}

KernelGroupDetails DetailsOf(const PricedKernel& kernel, const Run* run,
                             std::optional<int64_t> gap_ns) {
  const KernelRecord& record = *kernel.record;
  KernelGroupDetails details;
  if (!record.timed()) return details;
  details.duration_ns = record.duration_ns;
  details.delay_ns = LaunchDelayNs(record);
  details.gap_ns = gap_ns;
  if (run == nullptr || kernel.work == PricedKernel::kNoWork) return details;
  const Trace& trace = run->trace();
  const Kernel& executed = trace.kernels[kernel.work];
  details.blocks = BlocksPerSm(trace, executed, kernel.gpu);
  details.occupancy = AchievedOccupancyPct(trace, executed, kernel.gpu);
  return details;
}

}  // namespace oplens::prof
