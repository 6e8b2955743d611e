#include "prof/run/time_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/device_work.h"
#include "prof/run/queue_length.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

/// Parts per million of equal parts of a window, rounded down.
std::vector<SeriesPoint> BusyParts(const IntervalSet& busy, const Interval& window,
                                   size_t buckets) {
  constexpr double kMillion = 1e6;
  const int64_t length_ns = LengthOf(window);
  const auto count =
      static_cast<int64_t>(std::min<uint64_t>(buckets, static_cast<uint64_t>(length_ns)));
  std::vector<SeriesPoint> points;
  if (count == 0) return points;
  const auto start_of = [&](int64_t bucket) {
    // Without the product, which may not fit.
    return window.start_ns + length_ns / count * bucket + length_ns % count * bucket / count;
  };
  auto next = busy.intervals().begin();
  for (int64_t bucket = 0; bucket < count; ++bucket) {
    const Interval part = {start_of(bucket), start_of(bucket + 1)};
    int64_t busy_ns = 0;
    while (next != busy.intervals().end() && next->end_ns <= part.start_ns) ++next;
    for (auto at = next; at != busy.intervals().end() && at->start_ns < part.end_ns; ++at) {
      SaturatingAdd(&busy_ns, LengthOf({std::max(at->start_ns, part.start_ns),
                                        std::min(at->end_ns, part.end_ns)}));
    }
    const double share = static_cast<double>(busy_ns) / static_cast<double>(LengthOf(part));
    points.push_back({part.start_ns, static_cast<int64_t>(share * kMillion)});
  }
  points.push_back({window.end_ns, 0});
  return points;
}

}  // namespace

std::vector<SeriesPoint> Thinned(std::vector<SeriesPoint> points, size_t most) {
  if (points.size() <= most || most < 2) return points;
  const size_t groups = most / 2;
  const size_t size = (points.size() + groups - 1) / groups;
  std::vector<SeriesPoint> left;
  left.reserve(most);
  for (size_t begin = 0; begin < points.size(); begin += size) {
    const size_t end = std::min(begin + size, points.size());
    const auto largest = std::max_element(
        points.begin() + static_cast<std::ptrdiff_t>(begin),
        points.begin() + static_cast<std::ptrdiff_t>(end),
        [](const SeriesPoint& a, const SeriesPoint& b) { return a.value < b.value; });
    const SeriesPoint last = points[end - 1];
    left.push_back(*largest);
    if (largest->time_ns != last.time_ns) left.push_back(last);
  }
  return left;
}

std::vector<TimeSeries> QueueSeries(const Run& run) {
  std::vector<TimeSeries> all;
  for (auto& [key, points] : QueueLengths(run)) {
    all.push_back({key.first, key.second, {}, std::move(points)});
  }
  return all;
}

std::vector<TimeSeries> BandwidthSeries(const Run& run) {
  std::vector<TimeSeries> all;
  for (auto& [key, traffic] : CopyTrafficOf(run)) {
    for (SeriesPoint& point : traffic.points) point.value = std::max<int64_t>(point.value, 0);
    all.push_back({key.device_id, 0, key.Name(), std::move(traffic.points)});
  }
  return all;
}

std::vector<TimeSeries> UtilisationSeries(const Run& run, size_t buckets) {
  std::map<int32_t, std::vector<Interval>> busy;
  for (const DeviceEvent& event : run.device_work().events()) {
    busy[event.device_id].push_back({event.start_ns, event.end_ns});
  }
  std::vector<TimeSeries> all;
  for (auto& [device, intervals] : busy) {
    all.push_back(
        {device, 0, {}, BusyParts(IntervalSet(std::move(intervals)), run.window(), buckets)});
  }
  return all;
}

}  // namespace oplens::prof
