#ifndef OPLENS_PROF_RUN_CLASS_TIMES_H_
#define OPLENS_PROF_RUN_CLASS_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prof/run/interval_set.h"

namespace oplens::prof {

/// Length of an interval: 0 if it ends before it starts, at most INT64_MAX.
int64_t LengthOf(const Interval& interval);

/// Per set of classes (bits), the time in which exactly these ran.
class MaskTimes {
 public:
  static constexpr size_t kMostClasses = 7;

  void Add(uint32_t mask, int64_t time_ns);
  /// The time in which some class of `any` ran, none of `none`, and all of `all`.
  int64_t Of(uint32_t any, uint32_t none = 0, uint32_t all = 0) const;

 private:
  std::array<int64_t, size_t{1} << kMostClasses> times_ns_{};
};

/// When each class ran; at most MaskTimes::kMostClasses, bit i is the i-th. Overlap, priorities and
/// exposed time follow from the times per set of classes, found in one pass.
class ClassIntervals {
 public:
  explicit ClassIntervals(std::vector<IntervalSet> classes) : classes_(std::move(classes)) {}

  const IntervalSet& Of(size_t index) const { return classes_[index]; }
  /// O(log n) plus the intervals within the window.
  void AddTimes(const Interval& window, MaskTimes* times) const;

 private:
  std::vector<IntervalSet> classes_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CLASS_TIMES_H_
