#ifndef OPLENS_REPORT_TIMELINE_COUNTERS_H_
#define OPLENS_REPORT_TIMELINE_COUNTERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

/// Maximum points per counter: each of equal stretches of time keeps its minimum and maximum.
inline constexpr size_t kMaxPoints = 16384;

/// Memory allocated and reserved per device according to the framework's allocator or, without it,
/// allocated by the driver. Times are relative to `origin_ns`.
std::vector<Counter> MemoryCounters(const Trace& trace, int64_t origin_ns, const std::string& rank);

/// Thins the points, whose times must ascend, to at most kMaxPoints.
void Thin(Counter* counter);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_COUNTERS_H_
