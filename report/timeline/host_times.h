#ifndef OPLENS_REPORT_TIMELINE_HOST_TIMES_H_
#define OPLENS_REPORT_TIMELINE_HOST_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prof/run/step.h"
#include "report/timeline/timeline.h"
#include "report/timeline/windows.h"

namespace oplens::report {

/// Selects the stretches of a run's time whose host events go on the page: all if there are few,
/// otherwise
///
///     time   | before | step 0 | step 1 | step 2 | step 3 | step 4 | ... | after |
///     order     last    window    1st     window    2nd     window   3rd
///
/// first the windows, each cut to its share if it has more events; then the other steps in time
/// order, with the time between them, as long as the whole next part fits and the total stays
/// within MostFurtherEvents (pages are passed on). Times are relative to the origin.
class HostTimes {
 public:
  /// A stretch that goes into chunks.
  struct Stretch {
    prof::Interval time;
    size_t place = 0;  ///< Index of its window, or EventChunk::kNoWindow.
  };

  /// How many events further steps may bring the page to. It grows with the size that pages may
  /// have: who asks for a larger page gets more of them. `limit_bytes`: of the page.
  static size_t MostFurtherEvents(size_t limit_bytes);

  HostTimes(std::span<const prof::Step> steps, int64_t origin_ns);

  /// Call before the events of each thread.
  void BeginThread() { at_ = 0; }
  /// Counts an event. Starts of a thread must ascend. O(log steps).
  void Count(int64_t start_ns);

  /// Call after all events: chooses stretches with at most `max_events`, and describes in `wish`
  /// what was counted, what was not chosen, and why not. `limit_bytes`: of the page.
  void Choose(size_t max_events, size_t limit_bytes, HostRequest* wish);

  /// By start, disjoint.
  std::span<const Stretch> chosen() const { return chosen_; }

 private:
  static constexpr size_t kFurtherEvents = 65536;  ///< On a page of kUsualBytes or less.
  static constexpr size_t kUsualBytes = 10'000'000;
  /// A few chunks; below that no selection is made.
  static constexpr size_t kFewEvents = 131072;
  static constexpr size_t kBins = 1024;

  /// The parts are consecutive and cover all time.
  struct Part {
    prof::Interval time;
    size_t events = 0;
    size_t window = EventChunk::kNoWindow;
    int64_t kept_until_ns = INT64_MIN;  ///< The chosen part ends here; it begins at its start.
  };

  void AddPart(int64_t start_ns, int64_t end_ns, size_t window);
  size_t BinOf(const Part& part, int64_t start_ns) const;
  /// Keeps a prefix of a window's part; returns the number of its events.
  size_t CutWindow(size_t most_events, Part* part);
  void TakeFurther(size_t most_events);

  std::vector<Window> windows_;
  std::vector<Part> parts_;
  std::vector<std::vector<size_t>> bins_;  ///< By window: events per equal bin of its time.
  size_t at_ = 0;                          ///< The part of the last counted event.
  size_t events_ = 0;
  std::vector<Stretch> chosen_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_TIMES_H_
