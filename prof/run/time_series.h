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

/// A value that holds from a time until the next point.
struct SeriesPoint {
  int64_t time_ns = 0;  ///< On the file's clock.
  int64_t value = 0;
  friend auto operator<=>(const SeriesPoint&, const SeriesPoint&) = default;
};

/// A GPU and a stream.
using StreamKey = std::pair<int32_t, int32_t>;

/// The number of pieces of work waiting on each stream, as points where it changes: plus one when
/// the call that requests the work starts, minus one when the work starts. Work that started before
/// its call never waited. What one call launched (a graph's kernels) is one piece. Work with an
/// unknown call does not count.
///
/// O(n log n) in the work, O(n) if a stream's calls are in the order of its work; 16 bytes per
/// piece temporarily.
std::map<StreamKey, std::vector<SeriesPoint>> QueueLengths(const Run& run);

/// How a quantity changed over time.
struct TimeSeries {
  int32_t device_id = 0;
  int32_t stream_id = 0;            ///< For queue lengths; otherwise 0.
  std::string name;                 ///< For bandwidths: "Memcpy HtoD", "Memset"; otherwise empty.
  std::vector<SeriesPoint> points;  ///< By time.
};

/// Calls f(value, start_ns, end_ns) per time between two points, or per part in `windows`
/// (ascending).
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

/// Upper bound on the points shown of a series.
inline constexpr size_t kMostPoints = 10'240;

/// Keeps at most `most` (even) points: from each of most / 2 groups of neighbours the first maximum
/// and the last point; thus the overall maximum and the value after each group. O(n).
std::vector<SeriesPoint> Thinned(std::vector<SeriesPoint> points, size_t most = kMostPoints);

/// Work waiting on each stream, by GPU and stream: launches, copies and fills that were called but
/// have not started. See QueueLengths.
std::vector<TimeSeries> QueueSeries(const Run& run);

/// Bytes per second moved by copies and fills, by GPU and kind. See copy_bandwidth.h.
std::vector<TimeSeries> BandwidthSeries(const Run& run);

/// Utilisation of each GPU: for each of `buckets` equal parts of the run's window, the time in
/// which anything ran in parts per million; then 0 at the end. O(n + buckets) per GPU.
std::vector<TimeSeries> UtilisationSeries(const Run& run, size_t buckets);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TIME_SERIES_H_
