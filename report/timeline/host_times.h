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

/// Which stretches of a run's time have their host events on the page: all of it where there are
/// few, else
///
///     time   | before | step 0 | step 1 | step 2 | step 3 | step 4 | ... | after |
///     order     last    window    1st     window    2nd     window   3rd
///
/// the windows, each cut to its part where it has more, and then the other steps in the order of
/// time, with what is between them, as long as all of the next one fits and there are no more than
/// kFurtherEvents with it: pages are passed on. Times are from the origin.
class HostTimes {
 public:
  /// A stretch that goes into chunks.
  struct Stretch {
    prof::Interval time;
    size_t place = 0;  ///< Of its window, or EventChunk::kNoWindow.
  };

  static constexpr size_t kFurtherEvents = 65536;

  HostTimes(std::span<const prof::Step> steps, int64_t origin_ns);

  /// Before the events of a thread.
  void BeginThread() { at_ = 0; }
  /// Counts an event; those of a thread ascend. O(log steps).
  void Count(int64_t start_ns);

  /// After all events: chooses stretches with at most `max_events`, and says in `wish` what there
  /// was and what was not chosen.
  void Choose(size_t max_events, HostWish* wish);

  /// By start; they do not overlap.
  std::span<const Stretch> chosen() const { return chosen_; }

 private:
  /// Some chunks: not worth more of them.
  static constexpr size_t kFewEvents = 131072;
  static constexpr size_t kBins = 1024;

  /// The parts follow on each other and cover all of time.
  struct Part {
    prof::Interval time;
    size_t events = 0;
    size_t window = EventChunk::kNoWindow;
    int64_t kept_until_ns = INT64_MIN;  ///< What was chosen of it: from its start.
  };

  void AddPart(int64_t start_ns, int64_t end_ns, size_t window);
  size_t BinOf(const Part& part, int64_t start_ns) const;
  /// Keeps the beginning of a window's part. Answers how many events that has.
  size_t CutWindow(size_t most_events, Part* part);
  void TakeFurther(size_t most_events);

  std::vector<Window> windows_;
  std::vector<Part> parts_;
  std::vector<std::vector<size_t>> bins_;  ///< By window: events by the part of its time.
  size_t at_ = 0;                          ///< The part of the last event that was counted.
  size_t events_ = 0;
  std::vector<Stretch> chosen_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_TIMES_H_
