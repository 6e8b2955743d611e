#ifndef OPLENS_PROF_RUN_TIME_SERIES_H_
#define OPLENS_PROF_RUN_TIME_SERIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "prof/run/interval_set.h"

namespace oplens::prof {

class Run;

/// A value that holds from a time on, until that of the next point.
struct SeriesPoint {
  int64_t time_ns = 0;  ///< On the clock of the file.
  int64_t value = 0;
  friend auto operator<=>(const SeriesPoint&, const SeriesPoint&) = default;
};

/// A GPU and a stream.
using StreamKey = std::pair<int32_t, int32_t>;

/// How many pieces of work waited on each stream, as points at which that changes: one more when
/// the call begins that asks for it, one less when the work begins. Work that began before its call
/// never waited. What one call launched (a graph's kernels) is one piece. Work whose call is not
/// known has no part.
///
/// O(n log n) in the work, O(n) where the calls of a stream come in the order of its work; 16 bytes
/// a piece meanwhile.
std::map<StreamKey, std::vector<SeriesPoint>> QueueLengths(const Run& run);

/// How something changed over time.
struct TimeSeries {
  int32_t device_id = 0;
  int32_t stream_id = 0;            ///< Of the length of a queue; else 0.
  std::string name;                 ///< Of a bandwidth: "Memcpy HtoD", "Memset"; else empty.
  std::vector<SeriesPoint> points;  ///< By time.
};

/// Calls f(value, start_ns, end_ns) for each time that a value holds between two points; with
/// `windows`, which ascend, for the parts of it in them.
template <typename F>
void ForEachHeld(std::span<const SeriesPoint> points,
                 const std::optional<std::vector<Interval>>& windows, F f) {
  size_t window = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const int64_t start_ns = points[i].time_ns;
    const int64_t end_ns = points[i + 1].time_ns;
    if (!windows) {
      f(points[i].value, start_ns, end_ns);
      continue;
    }
    while (window < windows->size() && (*windows)[window].end_ns <= start_ns) ++window;
    for (size_t w = window; w < windows->size() && (*windows)[w].start_ns < end_ns; ++w) {
      const int64_t from_ns = std::max(start_ns, (*windows)[w].start_ns);
      const int64_t to_ns = std::min(end_ns, (*windows)[w].end_ns);
      if (from_ns < to_ns) f(points[i].value, from_ns, to_ns);
    }
  }
}

/// At most so many points are shown of a series.
inline constexpr size_t kMostPoints = 10'240;

/// Leaves out points, so that at most `most` (an even number) are left: of each of most / 2 groups
/// of neighbours the first largest and the last. The largest of all stays, as does the value behind
/// each group. O(n).
std::vector<SeriesPoint> Thinned(std::vector<SeriesPoint> points, size_t most = kMostPoints);

/// How much work waited on each stream: calls of launches, copies and fills that have begun, and
/// whose work has not. See QueueLengths. By GPU and stream.
std::vector<TimeSeries> QueueSeries(const Run& run);

/// Bytes per second that copies and fills moved, by GPU and kind. See copy_bandwidth.h.
std::vector<TimeSeries> BandwidthSeries(const Run& run);

/// How busy each GPU was: of each of `buckets` equal parts of the run's window the time in which
/// anything ran, in parts per million of it; and 0 at the end. O(n + buckets) a GPU.
std::vector<TimeSeries> UtilisationSeries(const Run& run, size_t buckets);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TIME_SERIES_H_
