#include "prof/run/interval_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/saturating.h"

namespace oplens::prof {
namespace {

bool StartsBefore(const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; }

/// Sorts by start. The input usually consists of a few ascending lists, one per thread or table.
void Sort(std::vector<Interval>* intervals) {
  constexpr size_t kMostRuns = 16;
  const auto end = intervals->end();
  std::vector<std::vector<Interval>::iterator> bounds = {intervals->begin()};
  while (bounds.back() != end && bounds.size() <= kMostRuns) {
    bounds.push_back(std::is_sorted_until(bounds.back(), end, StartsBefore));
  }
  if (bounds.back() != end) {
    std::sort(intervals->begin(), end, StartsBefore);
    return;
  }
  while (bounds.size() > 2) {
    size_t kept = 1;
    for (size_t i = 2; i < bounds.size(); i += 2) {
      std::inplace_merge(bounds[i - 2], bounds[i - 1], bounds[i], StartsBefore);
      bounds[kept++] = bounds[i];
    }
    if (bounds[kept - 1] != end) bounds[kept++] = end;
    bounds.resize(kept);
  }
}

}  // namespace

bool IsWithin(std::span<const Interval> intervals, int64_t time_ns) {
  const auto after = std::upper_bound(
      intervals.begin(), intervals.end(), time_ns,
      [](int64_t time, const Interval& interval) { return time < interval.start_ns; });
  return after != intervals.begin() && time_ns < std::prev(after)->end_ns;
}

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  Sort(&intervals);
  // In place, since there may be millions.
  size_t count = 0;
  for (const Interval& interval : intervals) {
    if (interval.end_ns <= interval.start_ns) continue;
    if (count > 0 && interval.start_ns <= intervals[count - 1].end_ns) {
      intervals[count - 1].end_ns = std::max(intervals[count - 1].end_ns, interval.end_ns);
    } else {
      intervals[count++] = interval;
    }
  }
  intervals.resize(count);
  if (count < intervals.capacity() / 2) intervals.shrink_to_fit();
  intervals_ = std::move(intervals);
}

void IntervalSet::Add(const Interval& interval) {
  if (interval.end_ns <= interval.start_ns) return;
  if (!intervals_.empty() && interval.start_ns <= intervals_.back().end_ns) {
    intervals_.back().end_ns = std::max(intervals_.back().end_ns, interval.end_ns);
  } else {
    intervals_.push_back(interval);
  }
}

int64_t IntervalSet::length_ns() const {
  int64_t length_ns = 0;
  for (const Interval& interval : intervals_) {
    SaturatingAdd(&length_ns, SaturatingDifference(interval.end_ns, interval.start_ns));
  }
  return length_ns;
}

IntervalSet IntervalSet::Union(const IntervalSet& other) const {
  std::vector<Interval> all(intervals_.size() + other.intervals_.size());
  std::merge(intervals_.begin(), intervals_.end(), other.intervals_.begin(), other.intervals_.end(),
             all.begin(), StartsBefore);
  return IntervalSet(std::move(all));
}

IntervalSet IntervalSet::Difference(const IntervalSet& other) const {
  IntervalSet rest;
  auto hole = other.intervals_.begin();
  for (Interval left : intervals_) {
    while (hole != other.intervals_.end() && hole->end_ns <= left.start_ns) ++hole;
    for (auto cut = hole; cut != other.intervals_.end() && cut->start_ns < left.end_ns; ++cut) {
      rest.Add({left.start_ns, cut->start_ns});
      left.start_ns = std::max(left.start_ns, std::min(cut->end_ns, left.end_ns));
    }
    rest.Add(left);
  }
  return rest;
}

IntervalSet IntervalSet::Within(const Interval& window) const {
  IntervalSet part;
  auto next = std::partition_point(
      intervals_.begin(), intervals_.end(),
      [&](const Interval& interval) { return interval.end_ns <= window.start_ns; });
  for (; next != intervals_.end() && next->start_ns < window.end_ns; ++next) {
    part.Add({std::max(next->start_ns, window.start_ns), std::min(next->end_ns, window.end_ns)});
  }
  return part;
}

}  // namespace oplens::prof
