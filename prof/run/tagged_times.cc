#include "prof/run/tagged_times.h"

#include <iterator>
#include <utility>

namespace oplens::prof {

TaggedTimes::TaggedTimes(std::vector<IntervalSet> sets) {
  IntervalSet taken;
  for (size_t tag = 0; tag < sets.size(); ++tag) {
    if (sets[tag].empty()) continue;
    const bool first = taken.empty();
    IntervalSet left = first ? std::move(sets[tag]) : sets[tag].Difference(taken);
    std::vector<Stretch> more;
    more.reserve(left.intervals().size());
    for (const Interval& interval : left.intervals()) {
      more.push_back({interval.start_ns, interval.end_ns, static_cast<uint8_t>(tag)});
    }
    std::vector<Stretch> all;
    all.reserve(stretches_.size() + more.size());
    std::merge(stretches_.begin(), stretches_.end(), more.begin(), more.end(),
               std::back_inserter(all),
               [](const Stretch& a, const Stretch& b) { return a.start_ns < b.start_ns; });
    stretches_ = std::move(all);
    taken = first ? std::move(left) : taken.Union(left);
  }
}

size_t TaggedTimes::FirstAfter(int64_t time_ns) const {
  constexpr size_t kNear = 8;
  size_t from = last_;
  if (from > 0 && stretches_[from - 1].end_ns > time_ns) from = 0;
  const size_t near = std::min(from + kNear, stretches_.size());
  if (near == stretches_.size() || stretches_[near].end_ns > time_ns) {
    while (from < near && stretches_[from].end_ns <= time_ns) ++from;
    last_ = from;
    return from;
  }
  const auto found =
      std::partition_point(stretches_.begin() + static_cast<std::ptrdiff_t>(near), stretches_.end(),
                           [&](const Stretch& stretch) { return stretch.end_ns <= time_ns; });
  last_ = static_cast<size_t>(found - stretches_.begin());
  return last_;
}

}  // namespace oplens::prof
