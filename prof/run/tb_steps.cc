#include "prof/run/tb_steps.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/id_map.h"
#include "parse/join/step_index.h"
#include "prof/run/extent.h"
#include "prof/run/host_steps.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kTbStepsCollectives[] = {
    "broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter",
};

/// cuLaunchKernel, but not cudaLaunchKernel.
bool IsTbStepsDriverCall(std::string_view api) {
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
    if (!left_out[call.api]) left_out[call.api] = IsTbStepsDriverCall(trace.strings.View(call.api));
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

bool IsTensorBoardCollective(std::string_view name) {
  for (const std::string_view library : {"nccl:", "gloo:"}) {
    if (name.starts_with(library)) {
      name.remove_prefix(library.size());
      return std::find(std::begin(kTbStepsCollectives), std::end(kTbStepsCollectives), name) !=
             std::end(kTbStepsCollectives);
    }
  }
  return false;
}

std::vector<uint32_t> KernelsOfEvents(const Trace& trace, std::span<const uint32_t> events) {
  IdMap kernel_of;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    kernel_of.FindOrInsert(trace.kernels[i].row_id, static_cast<uint32_t>(i));
  }
  std::vector<uint32_t> kernels;
  kernels.reserve(events.size());
  for (const uint32_t event : events) {
    kernels.push_back(kernel_of.Find(trace.torch_events[event].number));
  }
  return kernels;
}

}  // namespace oplens::prof
