#include "prof/run/time_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/run/class_times.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

struct StreamTimes {
  std::vector<int64_t> asked_ns;
  std::vector<int64_t> begun_ns;  // Ascending.
};

std::map<StreamKey, StreamTimes> QueueLengthTimesOf(const Run& run) {
  const Trace& trace = run.trace();
  const DeviceWork& work = run.device_work();
  std::map<StreamKey, StreamTimes> streams;
  auto last = streams.end();
  std::vector<bool> met(trace.launches.size(), false);
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch == kNoLaunch || met[launch]) continue;
    met[launch] = true;
    const int64_t asked_ns = trace.launches[launch].start_ns;
    if (asked_ns >= event.start_ns) continue;
    const StreamKey key(event.device_id, event.stream_id);
    if (last == streams.end() || last->first != key) last = streams.try_emplace(key).first;
    last->second.asked_ns.push_back(asked_ns);
    last->second.begun_ns.push_back(event.start_ns);
  }
  return streams;
}

std::vector<SeriesPoint> QueueLengthPointsOf(StreamTimes times) {
  if (!std::is_sorted(times.asked_ns.begin(), times.asked_ns.end())) {
    std::sort(times.asked_ns.begin(), times.asked_ns.end());
  }
  std::vector<SeriesPoint> points;
  points.reserve(2 * times.begun_ns.size());
  int64_t length = 0;
  auto asked = times.asked_ns.begin();
  for (auto begun = times.begun_ns.begin(); begun != times.begun_ns.end();) {
    // Every piece is requested before it starts, so the calls never end last.
    const bool call = asked != times.asked_ns.end() && *asked <= *begun;
    const int64_t now_ns = call ? *asked : *begun;
    const int64_t before = length;
    for (; asked != times.asked_ns.end() && *asked == now_ns; ++asked) ++length;
    for (; begun != times.begun_ns.end() && *begun == now_ns; ++begun) --length;
    if (length != before) points.push_back({now_ns, length});
  }
  return points;
}

/// Busy time per part of the window, in parts per million, rounded down.
std::vector<SeriesPoint> BusyParts(const IntervalSet& busy, const Interval& window,
                                   size_t buckets) {
  constexpr double kMillion = 1e6;
  const int64_t length_ns = LengthOf(window);
  const auto count =
      static_cast<int64_t>(std::min<uint64_t>(buckets, static_cast<uint64_t>(length_ns)));
  std::vector<SeriesPoint> points;
  if (count == 0) return points;
  const auto start_of = [&](int64_t bucket) {
    // Avoids a product that may overflow.
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

std::map<StreamKey, std::vector<SeriesPoint>> QueueLengths(const Run& run) {
  std::map<StreamKey, std::vector<SeriesPoint>> lengths;
  for (auto& [key, times] : QueueLengthTimesOf(run))
    lengths.emplace(key, QueueLengthPointsOf(std::move(times)));
  return lengths;
}

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
  std::map<int32_t, IntervalSet> busy;
  for (const DeviceEvent& event : run.device_work().events()) {
    busy[event.device_id].Add({event.start_ns, event.end_ns});
  }
  std::vector<TimeSeries> all;
  for (auto& [device, intervals] : busy) {
    all.push_back({device, 0, {}, BusyParts(intervals, run.window(), buckets)});
  }
  return all;
}

}  // namespace oplens::prof
