#include "prof/run/queue_length.h"

#include <algorithm>

#include "parse/model/trace.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

struct StreamTimes {
  std::vector<int64_t> asked_ns;
  std::vector<int64_t> begun_ns;  // Ascends.
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
    // Every piece is asked for before it begins: the calls never end last.
    const bool call = asked != times.asked_ns.end() && *asked <= *begun;
    const int64_t now_ns = call ? *asked : *begun;
    const int64_t before = length;
    for (; asked != times.asked_ns.end() && *asked == now_ns; ++asked) ++length;
    for (; begun != times.begun_ns.end() && *begun == now_ns; ++begun) --length;
    if (length != before) points.push_back({now_ns, length});
  }
  return points;
}

}  // namespace

std::map<StreamKey, std::vector<SeriesPoint>> QueueLengths(const Run& run) {
  std::map<StreamKey, std::vector<SeriesPoint>> lengths;
  for (auto& [key, times] : QueueLengthTimesOf(run))
    lengths.emplace(key, QueueLengthPointsOf(std::move(times)));
  return lengths;
}

}  // namespace oplens::prof
