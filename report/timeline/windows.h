#ifndef OPLENS_REPORT_TIMELINE_WINDOWS_H_
#define OPLENS_REPORT_TIMELINE_WINDOWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "prof/run/step.h"

namespace oplens::report {

/// A stretch of time whose host events have priority; relative to the origin of its rank.
struct Window {
  int64_t step = 0;
  prof::Interval host;
};

/// The steps with priority for host events: the first, the median-length and the longest one, in
/// this order and without duplicates. Steps cut by the recording count only if all are cut.
std::vector<Window> WindowsOf(std::span<const prof::Step> steps, int64_t origin_ns);

/// time_ns - origin_ns, saturating.
int64_t Since(int64_t time_ns, int64_t origin_ns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_WINDOWS_H_
