#ifndef OPLENS_REPORT_MISSING_STEPS_H_
#define OPLENS_REPORT_MISSING_STEPS_H_

#include <span>
#include <string>

#include "report/summary.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

/// The steps of a rank without host events on the page, because these were not requested or their
/// chunks did not fit: "steps 3 to 40, 42"; "" if there are none. O(n log n) for n steps and
/// chunks.
std::string StepsWithoutHost(const Timeline& timeline, const Placement& placement,
                             const HostRequest& wish);

/// Ascending numbers as "3 to 40, 42": at most eight stretches, then how many numbers follow.
std::string ListOfNumbers(std::span<const int64_t> numbers);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_MISSING_STEPS_H_
