#include "prof/run/copy_bandwidth.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

/// A copy or fill, with a length.
struct Moved {
  int64_t start_ns;
  int64_t end_ns;
  int64_t bytes_per_s;
};

/// Bytes per second, at most 9 PB/s.
int64_t RateOf(int64_t bytes, int64_t time_ns) {
  constexpr double kMost = 9e15;
  constexpr double kNsOfSecond = 1e9;
  const double rate = static_cast<double>(bytes) / static_cast<double>(time_ns) * kNsOfSecond;
  return std::llround(std::min(rate, kMost));
}

std::vector<SeriesPoint> CopyBandwidthPointsOf(const std::vector<Moved>& starts) {
  std::vector<Moved> ends = starts;
  const auto by_end = [](const Moved& a, const Moved& b) { return a.end_ns < b.end_ns; };
  if (!std::is_sorted(ends.begin(), ends.end(), by_end)) {
    std::sort(ends.begin(), ends.end(), by_end);
  }
  std::vector<SeriesPoint> points;
  points.reserve(2 * starts.size());
  int64_t running = 0;
  uint64_t rate = 0;  // Of a hostile file it may wrap: it is back once they have ended.
  auto start = starts.begin();
  for (auto end = ends.begin(); end != ends.end();) {
    const int64_t now_ns =
        start != starts.end() ? std::min(start->start_ns, end->end_ns) : end->end_ns;
    for (; start != starts.end() && start->start_ns == now_ns; ++start, ++running) {
      rate += static_cast<uint64_t>(start->bytes_per_s);
    }
    for (; end != ends.end() && end->end_ns == now_ns; ++end, --running) {
      rate -= static_cast<uint64_t>(end->bytes_per_s);
    }
    const int64_t value = running > 0 ? static_cast<int64_t>(rate & INT64_MAX) : -1;
    if (points.empty() || points.back().value != value) points.push_back({now_ns, value});
  }
  return points;
}

int64_t CopyBandwidthTimeOf(const std::vector<SeriesPoint>& points) {
  int64_t sum_ns = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (points[i].value < 0) continue;
    SaturatingAdd(&sum_ns, LengthOf({points[i].time_ns, points[i + 1].time_ns}));
  }
  return sum_ns;
}

}  // namespace

bool IsPossibleRate(int64_t size_bytes, int64_t time_ns) {
  constexpr double kMostBytesPerNs = 5 * 8000;
  return time_ns <= 0 ||
         static_cast<double>(size_bytes) <= kMostBytesPerNs * static_cast<double>(time_ns);
}

std::string CopyKindKey::Name() const { return fill ? std::string(kFillName) : CopyNameOf(kind); }

std::map<CopyKindKey, CopyTraffic> CopyTrafficOf(const Run& run) {
  const Trace& trace = run.trace();
  std::map<CopyKindKey, CopyTraffic> kinds;
  std::map<CopyKindKey, std::vector<Moved>> moved;
  for (const DeviceEvent& event : run.work().events()) {
    const bool fill = event.work == WorkClass::kFill;
    if (!fill && event.work != WorkClass::kCopy) continue;
    const CopyKindKey key = {event.device_id, fill,
                             fill ? CopyKind::kUnknown : trace.copies[event.index].copy_kind};
    const int64_t size_bytes =
        fill ? trace.sets[event.index].size_bytes : trace.copies[event.index].size_bytes;
    const int64_t bytes = std::max<int64_t>(size_bytes, 0);
    CopyTraffic& traffic = kinds[key];
    ++traffic.count;
    const int64_t time_ns = std::max(
        event.duration_ns(), event.duration_ns() == 0 ? trace.clock_resolution_ns : int64_t{1});
    if (!IsPossibleRate(bytes, time_ns)) continue;
    SaturatingAdd(&traffic.bytes, bytes);
    int64_t end_ns = 0;
    if (__builtin_add_overflow(event.start_ns, time_ns, &end_ns)) continue;
    moved[key].push_back({event.start_ns, end_ns, RateOf(bytes, time_ns)});
  }
  for (auto& [key, traffic] : kinds) {
    traffic.points = CopyBandwidthPointsOf(moved[key]);
    traffic.time_ns = CopyBandwidthTimeOf(traffic.points);
  }
  return kinds;
}

}  // namespace oplens::prof
