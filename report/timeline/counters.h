#ifndef OPLENS_REPORT_TIMELINE_COUNTERS_H_
#define OPLENS_REPORT_TIMELINE_COUNTERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

/// A counter keeps no more points than this: of each equal stretch of time the least and the
/// largest.
inline constexpr size_t kMaxPoints = 16384;

/// What was allocated and reserved on each device, as the framework's allocator told it; without it
/// what the driver gave out. Times from `origin_ns`.
std::vector<Counter> MemoryCounters(const Trace& trace, int64_t origin_ns, const std::string& rank);

/// Leaves out points of a counter whose times ascend, so that no more than kMaxPoints stay.
void Thin(Counter* counter);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_COUNTERS_H_
