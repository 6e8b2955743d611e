#include "prof/run/extent.h"

#include <algorithm>

namespace oplens::prof {

void Extend(int64_t start_ns, int64_t end_ns, std::optional<Interval>* extent) {
  if (end_ns < start_ns) return;
  if (!*extent) {
    *extent = Interval{start_ns, end_ns};
    return;
  }
  (*extent)->start_ns = std::min((*extent)->start_ns, start_ns);
  (*extent)->end_ns = std::max((*extent)->end_ns, end_ns);
}

std::optional<Interval> HostExtent(const Trace& trace, const DeviceWork& work) {
  std::optional<Interval> extent;
  for (const Range& range : trace.ranges) {
    const bool ends = !range.open() && range.end_ns >= range.start_ns;
    Extend(range.start_ns, ends ? range.end_ns : range.start_ns, &extent);
  }
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch == kNoLaunch) continue;
    Extend(trace.launches[launch].start_ns, trace.launches[launch].end_ns, &extent);
  }
  return extent;
}

std::optional<Interval> RunExtent(const Trace& trace, const DeviceWork& work) {
  std::optional<Interval> extent = HostExtent(trace, work);
  if (!work.events().empty()) Extend(work.first_ns(), work.last_ns(), &extent);
  return extent;
}

}  // namespace oplens::prof
