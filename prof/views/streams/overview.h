#ifndef OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_
#define OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_

#include <memory>
#include <vector>

#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/views/common/step_times.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// What the steps of a run are, and where their time went.
struct OverviewSteps {
  std::vector<Step> steps;
  std::vector<StepTimes> times;  ///< One for each.
};
/// The view `overview` of steps found otherwise. Of each there are its length and its times alone:
/// not whether it is whole, when it starts, its length on the host, and what of the peak was
/// reached.
std::unique_ptr<Partial> MakeOverviewOf(OverviewSteps (*find)(const Run& run));

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STREAMS_OVERVIEW_H_
