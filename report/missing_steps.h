#ifndef OPLENS_REPORT_MISSING_STEPS_H_
#define OPLENS_REPORT_MISSING_STEPS_H_

#include <span>
#include <string>

#include "report/summary.h"
#include "report/timeline/timeline.h"

namespace oplens::report {

/// The steps of a rank that lack host events on the page, since these were not wanted or their
/// chunks had no room: "steps 3 to 40, 42". "" where none does. O(n log n) for n steps and chunks.
std::string StepsWithoutHost(const Timeline& timeline, const Placement& placement,
                             const HostWish& wish);

/// Numbers that ascend, as "3 to 40, 42"; of more than eight stretches the first ones, and how many
/// numbers further ones have.
std::string ListOfNumbers(std::span<const int64_t> numbers);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_MISSING_STEPS_H_
