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

// Classes of device work as bits.
inline constexpr unsigned kComputeBit = 1;
inline constexpr unsigned kCommunicationBit = 2;
inline constexpr unsigned kMemoryBit = 4;
inline constexpr size_t kClassCombinations = 8;

/// Replays are computation: what is in them is not known.
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

/// Time in ns by what ran at once: [c] while just the classes of c ran, [0] while nothing did.
struct ClassTimes {
  std::array<int64_t, kClassCombinations> ns{};

  /// Time in which at least one of `bits` ran. Saturates, as all sums here do.
  int64_t AnyOf(unsigned bits) const;
  /// Time in which all of `bits` ran.
  int64_t AllOf(unsigned bits) const;
  int64_t Sum() const;
  void Add(const ClassTimes& other);
};

/// Sums up times of events that come in the order of their starts: O(1) an event and a window.
class ClassSweep {
 public:
  /// From the first start to the last end; [0] is what was idle between.
  ClassSweep() : times_(1) {}
  /// Apart for each of some windows; moments outside of them do not count.
  explicit ClassSweep(std::vector<Interval> windows);

  /// `end_ns` is not less than `start_ns`, and this not less than that of the call before.
  void Add(unsigned bit, int64_t start_ns, int64_t end_ns);
  /// One for each window, in their order; without windows one. [0] of a window is what was idle in
  /// it, also before the first event and behind the last.
  std::vector<ClassTimes> Finish();

 private:
  /// Goes on to a time, by the moments in which something ends.
  void MoveTo(int64_t time_ns);
  void Count(unsigned running, Interval moments);

  static constexpr size_t kClasses = 3;
  std::array<int64_t, kClasses> end_ns_{};  // Of what runs, by class.
  int64_t now_ns_ = 0;
  bool any_ = false;
  std::vector<Interval> windows_;
  size_t window_ = 0;  // The first that has not ended.
  std::vector<ClassTimes> times_;
};

/// The windows of the steps of a run, one for each: each begins no earlier than the one before
/// ends.
std::vector<Interval> WindowsOf(const Steps& steps);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_DEVICE_TIMES_H_
