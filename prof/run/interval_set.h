#ifndef OPLENS_PROF_RUN_INTERVAL_SET_H_
#define OPLENS_PROF_RUN_INTERVAL_SET_H_

#include <cstdint>
#include <span>
#include <vector>

namespace oplens::prof {

/// A stretch of time, [start, end).
struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Whether a moment is in one of some intervals, which ascend and share no moment. O(log n).
bool IsWithin(std::span<const Interval> intervals, int64_t time_ns);

/// Moments in time as intervals that ascend, do not touch and are not empty. All operations are
/// linear in the intervals, but for the first constructor, which sorts.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of intervals in any order; those that are empty or end before they start hold
  /// nothing.
  explicit IntervalSet(std::vector<Interval> intervals);

  std::span<const Interval> intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  /// INT64_MAX where it is more.
  int64_t length_ns() const;

  IntervalSet Union(const IntervalSet& other) const;
  IntervalSet Intersection(const IntervalSet& other) const;
  IntervalSet Difference(const IntervalSet& other) const;
  /// The part within one interval. O(log n) and the size of the answer.
  IntervalSet Within(const Interval& window) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_INTERVAL_SET_H_
