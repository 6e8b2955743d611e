#include "prof/run/class_times.h"

#include <algorithm>
#include <span>

#include "base/saturating.h"

namespace oplens::prof {

int64_t LengthOf(const Interval& interval) {
  return std::max<int64_t>(SaturatingDifference(interval.end_ns, interval.start_ns), 0);
}

void MaskTimes::Add(uint32_t mask, int64_t time_ns) { SaturatingAdd(&times_ns_[mask], time_ns); }

int64_t MaskTimes::Of(uint32_t any, uint32_t none, uint32_t all) const {
  int64_t sum_ns = 0;
  for (uint32_t mask = 0; mask < times_ns_.size(); ++mask) {
    if ((mask & any) != 0 && (mask & none) == 0 && (mask & all) == all) {
      SaturatingAdd(&sum_ns, times_ns_[mask]);
    }
  }
  return sum_ns;
}

void ClassIntervals::AddTimes(const Interval& window, MaskTimes* times) const {
  std::array<std::span<const Interval>, MaskTimes::kMostClasses> rest;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const auto all = classes_[i].intervals();
    const auto first = std::partition_point(all.begin(), all.end(), [&](const Interval& interval) {
      return interval.end_ns <= window.start_ns;
    });
    rest[i] = all.subspan(static_cast<size_t>(first - all.begin()));
  }
  for (int64_t now_ns = window.start_ns; now_ns < window.end_ns;) {
    int64_t next_ns = window.end_ns;
    uint32_t mask = 0;
    for (size_t i = 0; i < classes_.size(); ++i) {
      if (rest[i].empty()) continue;
      const Interval& interval = rest[i].front();
      if (interval.start_ns <= now_ns) mask |= 1u << i;
      next_ns =
          std::min(next_ns, interval.start_ns <= now_ns ? interval.end_ns : interval.start_ns);
    }
    times->Add(mask, LengthOf({now_ns, next_ns}));
    now_ns = next_ns;
    for (size_t i = 0; i < classes_.size(); ++i) {
      if (!rest[i].empty() && rest[i].front().end_ns <= now_ns) rest[i] = rest[i].subspan(1);
    }
  }
}

}  // namespace oplens::prof
