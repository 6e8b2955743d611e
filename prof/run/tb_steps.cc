#include "prof/run/tb_steps.h"

#include <algorithm>
#include <optional>

#include "prof/run/extent.h"
#include "prof/run/host_steps.h"

namespace oplens::prof {
namespace {

/// cuLaunchKernel, but not cudaLaunchKernel.
bool IsDriverCall(std::string_view api) {
  return api.size() > 2 && api.starts_with("cu") && api[2] >= 'A' && api[2] <= 'Z';
}

std::vector<Step> HostSteps(const Trace& trace) {
  std::vector<HostStep> found = StepsOfRanges(trace);
  for (const DeviceAnnotation& shadow : trace.device_annotations) {
    const auto number = parse::StepIndex::NumberIn(trace.strings.View(shadow.text));
    if (number) found.push_back({*number, shadow.start_ns, shadow.end_ns});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const HostStep& a, const HostStep& b) { return a.start_ns < b.start_ns; });
  std::vector<Step> steps;
  for (const HostStep& step : found) {
    if (step.end_ns < step.start_ns) continue;
    steps.emplace_back().number = step.number;
    steps.back().host = {step.start_ns, step.end_ns};
  }
  return steps;
}

}  // namespace

LeftOutCalls TensorBoardLeftOut(const Trace& trace) {
  LeftOutCalls left_out(trace.strings.size());
  for (const LaunchCall& call : trace.launches) {
    if (!left_out[call.api]) left_out[call.api] = IsDriverCall(trace.strings.View(call.api));
  }
  return left_out;
}

std::vector<Step> TensorBoardSteps(const Trace& trace, const DeviceWork& work) {
  std::vector<Step> steps = HostSteps(trace);
  if (steps.empty()) {
    std::optional<Interval> extent;
    for (const Range& range : trace.ranges) {
      const bool counts = range.kind == RangeKind::kOperator || range.kind == RangeKind::kMarker;
      if (counts && !range.open()) Extend(range.start_ns, range.end_ns, &extent);
    }
    if (!extent) return {};
    steps.emplace_back().host = *extent;
  }
  ExtendSteps(work, trace, TensorBoardLeftOut(trace), true, &steps);
  steps.resize(WholeSteps(steps));
  return steps;
}

}  // namespace oplens::prof
