#ifndef OPLENS_PROF_RUN_INTERVAL_SET_H_
#define OPLENS_PROF_RUN_INTERVAL_SET_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace oplens::prof {

/// A stretch of time, [start, end).
struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Whether a moment is in one of the ascending, disjoint intervals. O(log n).
bool IsWithin(std::span<const Interval> intervals, int64_t time_ns);

/// A set of moments as ascending, nonempty intervals that do not touch. All operations are linear
/// in the intervals, except the first constructor, which sorts.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of intervals in any order; empty and reversed ones are ignored.
  explicit IntervalSet(std::vector<Interval> intervals);

  /// Adds an interval that starts after those before it, or at the same time. O(1).
  void Add(const Interval& interval);

  std::span<const Interval> intervals() const { return intervals_; }
  std::vector<Interval> Take() && { return std::move(intervals_); }
  bool empty() const { return intervals_.empty(); }
  /// At most INT64_MAX.
  int64_t length_ns() const;

  IntervalSet Union(const IntervalSet& other) const;
  IntervalSet Difference(const IntervalSet& other) const;
  /// The part within one interval. O(log n + result).
  IntervalSet Within(const Interval& window) const;

 private:
  std::vector<Interval> intervals_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_INTERVAL_SET_H_
