#include "prof/run/steps_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/ratio.h"
#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

constexpr double kLeastOutsidePct = 0.5;

}  // namespace

std::optional<OutsideSteps> FindOutsideSteps(const Run& run) {
  const Steps& steps = run.steps();
  const bool repeats = steps.source() == StepSource::kRepetition;
  if (!run.selects_all() || (!repeats && steps.source() != StepSource::kPattern)) {
    return std::nullopt;
  }
  const std::optional<Interval>& extent = run.extent();
  if (!extent) return std::nullopt;
  // Spans are disjoint.
  int64_t inside_ns = 0;
  for (const Step& step : steps.all()) SaturatingAdd(&inside_ns, LengthOf(step.span));
  int64_t kernels_ns = 0;
  int64_t outside_ns = 0;
  for (const DeviceEvent& event : run.work().events()) {
    if (!event.IsKernel() && event.work != WorkClass::kReplay) continue;
    SaturatingAdd(&kernels_ns, event.duration_ns());
    if (steps.OfEvent(event) == Steps::kNone) SaturatingAdd(&outside_ns, event.duration_ns());
  }
  const int64_t run_ns = LengthOf(*extent);
  OutsideSteps outside;
  outside.repeats = repeats;
  outside.time_pct = Percent(std::max<int64_t>(run_ns - inside_ns, 0), run_ns).value_or(0);
  outside.kernel_pct = Percent(outside_ns, kernels_ns).value_or(0);
  if (std::max(outside.time_pct, outside.kernel_pct) < kLeastOutsidePct) return std::nullopt;
  return outside;
}

std::string SentenceOf(const OutsideSteps& outside) {
  return fmt::format(
      "{:.0f} % of the run and {:.0f} % of the time of its kernels lie outside of all {}",
      outside.time_pct, outside.kernel_pct, outside.repeats ? "repetitions" : "steps");
}

}  // namespace oplens::prof
