#ifndef OPLENS_PROF_RUN_DEVICE_TIMES_H_
#define OPLENS_PROF_RUN_DEVICE_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/steps.h"

namespace oplens::prof {

class Run;

// Classes of device work as bits.
inline constexpr unsigned kComputeBit = 1;
inline constexpr unsigned kCommunicationBit = 2;
inline constexpr unsigned kMemoryBit = 4;
inline constexpr size_t kClassCombinations = 8;

/// Replays count as compute, since their contents are unknown.
constexpr unsigned ClassBitOf(WorkClass work) {
  switch (work) {
    case WorkClass::kCommunication:
      return kCommunicationBit;
    case WorkClass::kCopy:
    case WorkClass::kFill:
      return kMemoryBit;
    default:
      return kComputeBit;
  }
}

/// Time in ns by what ran at once: [c] while exactly the classes in c ran, [0] while idle.
struct ClassTimes {
  std::array<int64_t, kClassCombinations> ns{};

  /// Time in which at least one of `bits` ran. Saturates, as all sums here.
  int64_t AnyOf(unsigned bits) const;
  /// Time in which all of `bits` ran.
  int64_t AllOf(unsigned bits) const;
  int64_t Sum() const;
  void Add(const ClassTimes& other);
};

/// Sums the times of events added by start: O(1) per event and window.
class ClassSweep {
 public:
  /// One window from the first start to the last end; [0] is idle time in between.
  ClassSweep() : times_(1) {}
  /// Separate times per window; time outside of them does not count.
  explicit ClassSweep(std::vector<Interval> windows);

  /// `end_ns` >= `start_ns`; `start_ns` must not decrease from call to call.
  void Add(unsigned bit, int64_t start_ns, int64_t end_ns);
  /// The times per window, in order; a single one without windows. [0] of a window includes idle
  /// time before the first and after the last event.
  std::vector<ClassTimes> Finish();

 private:
  /// Advances to a time, stopping wherever an event ends.
  void MoveTo(int64_t time_ns);
  void Count(unsigned running, Interval moments);

  static constexpr size_t kClasses = 3;
  std::array<int64_t, kClasses> end_ns_{};  // Of running events, by class.
  int64_t now_ns_ = 0;
  bool any_ = false;
  std::vector<Interval> windows_;
  size_t window_ = 0;  // The first that has not ended.
  std::vector<ClassTimes> times_;
};

/// The windows of a run's steps; each starts no earlier than the previous one ends.
std::vector<Interval> WindowsOf(const Steps& steps);
/// What is selected of a run, ascending and disjoint; its window if nothing is.
std::vector<Interval> WindowsOf(const Run& run);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_DEVICE_TIMES_H_
