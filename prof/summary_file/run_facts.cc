#include "prof/summary_file/run_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "parse/model/family.h"
#include "parse/model/trace_devices.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

std::string_view RunFactsWordOf(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "none";
    case StepSource::kRepetition:
      return "repetition";
    default:
      return "marked";
  }
}

std::string RunFactsTextOf(const Selection& selection) {
  std::vector<std::string> parts;
  if (selection.steps) {
    parts.push_back(fmt::format("steps {} to {}", selection.steps->first, selection.steps->last));
  }
  if (selection.device) parts.push_back(fmt::format("device {}", *selection.device));
  if (selection.time) {
    parts.push_back(
        fmt::format("time {} to {} ns", selection.time->start_ns, selection.time->end_ns));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

void RunFacts::Add(const Run* run) {
  ++ranks_;
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  std::set<int64_t> worked;
  for (const DeviceEvent& event : run->device_work().events()) {
    if (!event.IsKernel() && event.work != WorkClass::kReplay) continue;
    worked.insert(event.device_id);
    kernels_ += event.IsKernel() ? 1 : 0;
  }
  gpus_ += static_cast<int64_t>(worked.size());
  for (const int64_t id : worked) {
    const Device* const device = FindDevice(trace, id).device;
    if (device == nullptr) continue;
    names_.emplace(trace.strings.View(device->name));
    clocks_hz_.insert(device->core_clock_hz);
    memories_bytes_.insert(device->memory_bytes);
  }
  if (trace.world_size != kUnknownId) world_sizes_.insert(trace.world_size);
  families_.emplace(FamilyWord(trace.family));
  AddSteps(run->steps());
}

void RunFacts::AddSteps(const Steps& steps) {
  step_sources_.emplace(RunFactsWordOf(steps.source()));
  step_counts_.insert(static_cast<int64_t>(steps.all().size()));
  cut_steps_ += std::count_if(steps.all().begin(), steps.all().end(),
                              [](const Step& step) { return !step.complete; });
}

std::map<std::string, std::string> RunFacts::Texts() const {
  std::map<std::string, std::string> facts;
  facts["ranks"] = std::to_string(ranks_);
  if (!selection_.empty()) facts["selection"] = RunFactsTextOf(selection_);
  if (families_.empty()) return facts;
  facts["gpus"] = std::to_string(gpus_);
  facts["kernels"] = std::to_string(kernels_);
  facts["cut_steps"] = std::to_string(cut_steps_);
  facts["steps"] = step_counts_.size() == 1
                       ? std::to_string(*step_counts_.begin())
                       : fmt::format("{} to {}", *step_counts_.begin(), *step_counts_.rbegin());
  const auto list = [&](const char* key, const auto& values) {
    std::string text = fmt::format("{}", fmt::join(values, "; "));
    if (!text.empty() && text != "0") facts[key] = std::move(text);
  };
  list("gpu", names_);
  list("gpu_clock_hz", clocks_hz_);
  list("gpu_memory_bytes", memories_bytes_);
  list("world_size", world_sizes_);
  list("step_source", step_sources_);
  list("families", families_);
  return facts;
}

}  // namespace oplens::prof
