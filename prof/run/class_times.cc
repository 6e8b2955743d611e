#include "prof/run/class_times.h"

#include <algorithm>

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
  // Of the classes that run in the window: what is left of them, and when they change next.
  struct Class {
    const Interval* next;
    const Interval* end;
    int64_t change_ns;
    uint32_t bit;
  };
  std::array<Class, MaskTimes::kMostClasses> some;
  size_t count = 0;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const auto all = classes_[i].intervals();
    const auto first = std::partition_point(all.begin(), all.end(), [&](const Interval& interval) {
      return interval.end_ns <= window.start_ns;
    });
    const Interval* const end = all.data() + all.size();
    const Interval* const next = all.data() + (first - all.begin());
    if (next == end || next->start_ns >= window.end_ns) continue;
    some[count++] = {next, end, next->start_ns, 1u << i};
  }
  uint32_t mask = 0;
  for (int64_t now_ns = window.start_ns; now_ns < window.end_ns;) {
    int64_t next_ns = window.end_ns;
    for (size_t i = 0; i < count; ++i) {
      Class& one = some[i];
      while (one.change_ns <= now_ns) {
        // It begins, or ends and waits for its next interval.
        mask ^= one.bit;
        if ((mask & one.bit) != 0) {
          one.change_ns = one.next->end_ns;
        } else {
          one.change_ns = ++one.next == one.end ? INT64_MAX : one.next->start_ns;
        }
      }
      next_ns = std::min(next_ns, one.change_ns);
    }
    times->Add(mask, LengthOf({now_ns, next_ns}));
    now_ns = next_ns;
  }
}

}  // namespace oplens::prof
