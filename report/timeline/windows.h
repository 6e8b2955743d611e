#ifndef OPLENS_REPORT_TIMELINE_WINDOWS_H_
#define OPLENS_REPORT_TIMELINE_WINDOWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "prof/run/step.h"

namespace oplens::report {

/// A stretch of time whose host events are wanted first; from the origin of its rank.
struct Window {
  int64_t step = 0;  ///< Number of the step.
  prof::Interval host;
};

/// The steps whose host events are kept: the first, the one of median length and the longest, in
/// this order and each once. Steps that the recording cut count only where there are no others.
std::vector<Window> WindowsOf(std::span<const prof::Step> steps, int64_t origin_ns);

/// The time since an origin; the largest or least number instead of wrapping.
int64_t Since(int64_t time_ns, int64_t origin_ns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_WINDOWS_H_
