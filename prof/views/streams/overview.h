#ifndef OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_
#define OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_

#include <memory>
#include <vector>

#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/step_times.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

struct OverviewSteps {
  std::vector<Step> steps;
  std::vector<StepTimes> times;  ///< One per step.
};
/// The view `overview` of steps found by other rules. They have lengths and times only: not whether
/// they are whole, their start, host length or share of the peak.
std::unique_ptr<Partial> MakeOverviewOf(OverviewSteps (*find)(const Run& run));

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_
