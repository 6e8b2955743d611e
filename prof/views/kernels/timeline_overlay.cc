#include "prof/views/kernels/timeline_overlay.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/run/run.h"
#include "prof/run/time_series.h"

namespace oplens::prof {
namespace {

using parse::ChromeOverlay;

constexpr size_t kUtilisationBuckets = 1000;

ChromeOverlay::Counter CounterOf(TimeSeries series, std::string name, std::string unit,
                                 double scale) {
  ChromeOverlay::Counter counter;
  counter.name = std::move(name);
  counter.unit = std::move(unit);
  counter.device_id = series.device_id;
  for (const SeriesPoint& point : Thinned(std::move(series.points))) {
    counter.points.push_back({point.time_ns, static_cast<double>(point.value) * scale});
  }
  return counter;
}

/// Keeps where a path changes its thread or stream.
class PathArrows : public PathTaker {
 public:
  explicit PathArrows(std::vector<ChromeOverlay::PathEdge>* arrows) : arrows_(arrows) {}

  void TakeEdge(const PathEdge& edge) override {
    const bool placed = edge.thread != kNoThread || edge.stream_id >= 0;
    if (!placed) return;
    if (last_ && !IsSameTrack(*last_, edge)) {
      arrows_->push_back({MomentOf(*last_, edge.start_ns), MomentOf(edge, edge.start_ns),
                          std::string(PathCauseWord(edge.cause))});
    }
    last_ = edge;
  }
  void TakeStep(const StepPath& path) override {
    static_cast<void>(path);
    last_.reset();
  }

 private:
  static bool IsSameTrack(const PathEdge& a, const PathEdge& b) {
    return a.thread == b.thread && a.device_id == b.device_id && a.stream_id == b.stream_id;
  }
  static ChromeOverlay::Moment MomentOf(const PathEdge& edge, int64_t time_ns) {
    return {time_ns, edge.thread, edge.device_id, edge.stream_id};
  }

  std::vector<ChromeOverlay::PathEdge>* arrows_;
  std::optional<PathEdge> last_;
};

}  // namespace

ChromeOverlay TimelineOverlayOf(const Run& run) {
  ChromeOverlay overlay;
  constexpr double kPercentOfPpm = 1e-4;
  constexpr double kGigabytes = 1e-9;
  for (TimeSeries& series : UtilisationSeries(run, kUtilisationBuckets)) {
    overlay.counters.push_back(CounterOf(std::move(series), "GPU utilisation", "%", kPercentOfPpm));
  }
  for (TimeSeries& series : QueueSeries(run)) {
    std::string name = fmt::format("queue length of stream {}", series.stream_id);
    overlay.counters.push_back(CounterOf(std::move(series), std::move(name), "calls", 1));
  }
  for (TimeSeries& series : BandwidthSeries(run)) {
    std::string name = "bandwidth of " + series.name;
    overlay.counters.push_back(CounterOf(std::move(series), std::move(name), "GB/s", kGigabytes));
  }
  PathArrows arrows(&overlay.path);
  WhatIf as_measured;
  FindCriticalPaths(run, &as_measured, &arrows);
  return overlay;
}

}  // namespace oplens::prof
