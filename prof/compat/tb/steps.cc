#include "prof/compat/tb/steps.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/id_map.h"
#include "base/saturating.h"
#include "parse/join/step_index.h"
#include "prof/run/device_work.h"
#include "prof/run/host_steps.h"
#include "prof/run/step_times.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kTbStepsCollectives[] = {
    "broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter",
};

/// Such as cuLaunchKernel, but not cudaLaunchKernel.
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

/// By kernel: whether its external id is of a collective's range; empty if the trace has no such
/// ids.
std::vector<bool> CollectiveKernels(const Trace& trace) {
  std::vector<int64_t> ids;
  std::vector<uint32_t> events;
  for (size_t i = 0; i < trace.torch_events.size(); ++i) {
    const TorchEvent& event = trace.torch_events[i];
    if (event.kind == TorchEvent::Kind::kKernel) {
      events.push_back(static_cast<uint32_t>(i));
    } else if (event.kind <= TorchEvent::Kind::kDeviceAnnotation &&
               IsTensorBoardCollective(trace.strings.View(event.name))) {
      ids.push_back(event.external_id);
    }
  }
  if (ids.empty()) return {};
  std::sort(ids.begin(), ids.end());
  std::erase_if(events, [&](uint32_t event) {
    return !std::binary_search(ids.begin(), ids.end(), trace.torch_events[event].external_id);
  });
  std::vector<bool> found(trace.kernels.size(), false);
  for (const uint32_t kernel : KernelsOfEvents(trace, events)) {
    if (kernel < found.size()) found[kernel] = true;
  }
  return found;
}

/// Per class and for the rest: the first class that takes precedence over it.
std::array<size_t, kTimeClassCount + 1> FirstOf(const MaskTimes& all, int64_t total_ns) {
  std::array<size_t, kTimeClassCount + 1> first{};
  size_t begin = 0;
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    first[i] = begin;
    const bool full = all.Of(BitsOf(begin, i + 1)) >= total_ns;
    if (full && i + 1 < kTimeClassCount) begin = i + 1;
  }
  first[kTimeClassCount] = begin;
  return first;
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

ClassIntervals TbClassesOf(const Run& run) {
  ClassRules rules;
  rules.communication_kernels = TimeClass::kKernel;
  rules.collectives = CollectiveKernels(run.trace());
  rules.left_out = TensorBoardLeftOut(run.trace());
  rules.is_collective = IsTensorBoardCollective;
  rules.shadows = true;
  return TimeClassesOf(run, rules);
}

std::vector<StepTimes> TbTimesOf(std::span<const Step> steps, const ClassIntervals& classes) {
  MaskTimes together;
  int64_t total_ns = 0;
  for (const Step& step : steps) {
    classes.AddTimes(step.span, &together);
    SaturatingAdd(&total_ns, LengthOf(step.span));
  }
  const auto first = FirstOf(together, total_ns);
  constexpr auto kKernel = static_cast<size_t>(TimeClass::kKernel);
  constexpr auto kCpu = static_cast<size_t>(TimeClass::kCpu);
  constexpr auto kComm = static_cast<size_t>(TimeClass::kComm);
  const size_t compute = classes.Of(kKernel).empty() ? kCpu : kKernel;
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    MaskTimes times;
    classes.AddTimes(step.span, &times);
    StepTimes& own = all.emplace_back();
    FillParts(times, first, LengthOf(step.span), &own);
    const int64_t both_ns = times.Of(BitsOf(compute, compute + 1), 0, BitOf(TimeClass::kComm));
    for (const size_t i : {compute, kComm}) {
      own.hidden[i] = both_ns;
      own.exposed[i] = times.Of(BitsOf(i, i + 1)) - both_ns;
    }
  }
  return all;
}

}  // namespace oplens::prof
