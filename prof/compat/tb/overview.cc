#include "prof/views/streams/overview.h"

#include <utility>

#include "prof/compat/tb/steps.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"

namespace oplens::prof {
namespace {

OverviewSteps TbStepsOf(const Run& run) {
  std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
  if (steps.empty()) return {};
  std::vector<StepTimes> times = TbTimesOf(steps, TbClassesOf(run));
  return {std::move(steps), std::move(times)};
}

}  // namespace

std::unique_ptr<Partial> MakeTbOverview(const ViewOptions& /*options*/) {
  return MakeOverviewOf(TbStepsOf);
}

}  // namespace oplens::prof
