#ifndef OPLENS_PROF_RUN_TAGGED_TIMES_H_
#define OPLENS_PROF_RUN_TAGGED_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prof/run/interval_set.h"

namespace oplens::prof {

/// What moments are, of several things at once the first in a list of priorities: a number for
/// each, kNone where there is nothing. 24 bytes a stretch.
class TaggedTimes {
 public:
  static constexpr uint8_t kNone = UINT8_MAX;

  TaggedTimes() = default;
  /// `sets` by priority; their places are the tags. O(n) for each of them.
  explicit TaggedTimes(std::vector<IntervalSet> sets);

  /// Calls f(tag, start_ns, end_ns) for the parts of [start, end), in the order of time; together
  /// they are all of it. O(log n) and the answers, less where windows come by their starts.
  template <typename F>
  void ForEach(const Interval& window, F f) const {
    int64_t now_ns = window.start_ns;
    for (size_t i = FirstAfter(now_ns); i < stretches_.size() && now_ns < window.end_ns; ++i) {
      const Stretch& next = stretches_[i];
      if (next.start_ns >= window.end_ns) break;
      if (next.start_ns > now_ns) f(kNone, now_ns, next.start_ns);
      const int64_t start_ns = std::max(next.start_ns, now_ns);
      now_ns = std::min(next.end_ns, window.end_ns);
      f(next.tag, start_ns, now_ns);
    }
    if (now_ns < window.end_ns) f(kNone, now_ns, window.end_ns);
  }

 private:
  struct Stretch {
    int64_t start_ns;
    int64_t end_ns;
    uint8_t tag;
  };

  /// The first stretch that ends after a time.
  size_t FirstAfter(int64_t time_ns) const;

  std::vector<Stretch> stretches_;  // By start; none touches the same tag.
  mutable size_t last_ = 0;         // What FirstAfter answered last.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TAGGED_TIMES_H_
