#include "prof/views/common/step_times.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_index.h"
#include "parse/model/marker_text.h"
#include "prof/run/device_times.h"
#include "prof/run/host_activity.h"
#include "prof/run/idle_gaps.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

constexpr uint32_t StepTimesBitOf(size_t index) { return 1u << index; }

constexpr std::array<size_t, kTimeClassCount + 1> kAllFromFirst{};

using Lists = std::array<std::vector<Interval>, kTimeClassCount>;

std::vector<Interval>& Of(TimeClass time_class, Lists* lists) {
  return (*lists)[static_cast<size_t>(time_class)];
}

void PushStepTimes(int64_t start_ns, int64_t end_ns, std::vector<Interval>* list) {
  // Most ranges of a thread lie inside an earlier one.
  if (!list->empty() && list->back().start_ns <= start_ns && end_ns <= list->back().end_ns) return;
  list->push_back({start_ns, end_ns});
}

/// Classes of ranges by their texts.
class HostClasses {
 public:
  HostClasses(const parse::Joined& joined, const ClassRules& rules)
      : joined_(joined), rules_(rules), by_text_(joined.trace().strings.size(), kUnasked) {}

  std::optional<TimeClass> Of(const Range& range) {
    if (range.open() || range.kind == RangeKind::kFrame || range.kind == RangeKind::kModule ||
        range.kind == RangeKind::kStep) {
      return std::nullopt;
    }
    if (range.kind == RangeKind::kMarker) {
      const MarkerKind kind = joined_.texts().Of(range.text).kind;
      if (kind == MarkerKind::kTrace || kind == MarkerKind::kLayer || kind == MarkerKind::kRepr) {
        return std::nullopt;
      }
    }
    return OfText(range.text);
  }

  std::optional<TimeClass> OfText(StringId text) {
    uint8_t& known = by_text_[text];
    if (known == kUnasked) known = Classify(joined_.trace().strings.View(text));
    return known == kNothing ? std::nullopt : std::optional(static_cast<TimeClass>(known));
  }

 private:
  static constexpr uint8_t kUnasked = 254;
  static constexpr uint8_t kNothing = 255;

  uint8_t Classify(std::string_view name) const {
    TimeClass known = TimeClass::kCpu;
    if (parse::StepIndex::NumberIn(name)) return kNothing;
    if (IsDataLoaderRange(name)) known = TimeClass::kDataLoader;
    if (rules_.is_collective != nullptr && rules_.is_collective(name)) known = TimeClass::kComm;
    return static_cast<uint8_t>(known);
  }

  const parse::Joined& joined_;
  const ClassRules& rules_;
  std::vector<uint8_t> by_text_;
};

TimeClass ClassOf(WorkClass work, const ClassRules& rules) {
  switch (work) {
    case WorkClass::kCopy:
      return TimeClass::kMemcpy;
    case WorkClass::kFill:
      return TimeClass::kMemset;
    case WorkClass::kCommunication:
      return rules.communication_kernels;
    default:
      return TimeClass::kKernel;
  }
}

void AddCalls(const Trace& trace, const LeftOutCalls& left_out, std::vector<Interval>* list) {
  list->reserve(trace.launches.size() + trace.api_times.size());
  for (const LaunchCall& call : trace.launches) {
    if (left_out.empty() || !left_out[call.api]) PushStepTimes(call.start_ns, call.end_ns, list);
  }
  trace.api_times.ForEach(
      [list](int64_t start_ns, int64_t end_ns) { PushStepTimes(start_ns, end_ns, list); });
}

/// Which part of a step the idle time of a cause is.
size_t PartOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kLaunch:
    case IdleCause::kModuleLoad:
    case IdleCause::kSync:
    case IdleCause::kPageableCopy:
    case IdleCause::kApiCall:
      return static_cast<size_t>(TimeClass::kRuntime);
    case IdleCause::kDataLoader:
      return static_cast<size_t>(TimeClass::kDataLoader);
    case IdleCause::kHostOp:
    case IdleCause::kCommunication:
      return static_cast<size_t>(TimeClass::kCpu);
    default:
      return kTimeClassCount;
  }
}

}  // namespace

ClassIntervals TimeClassesOf(const Run& run, const ClassRules& rules) {
  const Trace& trace = run.trace();
  Lists lists;
  for (const DeviceEvent& event : run.device_work().events()) {
    const bool is_collective =
        !rules.collectives.empty() && event.IsKernel() && rules.collectives[event.index];
    const TimeClass known = is_collective ? TimeClass::kComm : ClassOf(event.work, rules);
    PushStepTimes(event.start_ns, event.end_ns, &Of(known, &lists));
  }
  AddCalls(trace, rules.left_out, &Of(TimeClass::kRuntime, &lists));
  HostClasses classes(run.joined(), rules);
  for (const Range& range : trace.ranges) {
    const auto known = classes.Of(range);
    if (known) PushStepTimes(range.start_ns, range.end_ns, &Of(*known, &lists));
  }
  if (rules.shadows) {
    for (const DeviceAnnotation& shadow : trace.device_annotations) {
      const auto known = classes.OfText(shadow.text);
      if (known) PushStepTimes(shadow.start_ns, shadow.end_ns, &Of(*known, &lists));
    }
  }
  std::vector<IntervalSet> sets;
  for (std::vector<Interval>& list : lists) sets.emplace_back(std::move(list));
  return ClassIntervals(std::move(sets));
}

void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step) {
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    step->parts[i] = times.Of(StepTimesBitOf(i), BitsOf(first[i], i));
  }
  const int64_t taken_ns = times.Of(BitsOf(first[kTimeClassCount], kTimeClassCount));
  step->parts[kTimeClassCount] = std::max<int64_t>(0, total_ns - taken_ns);
}

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes) {
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    MaskTimes times;
    classes.AddTimes(step.span, &times);
    StepTimes& own = all.emplace_back();
    FillParts(times, kAllFromFirst, LengthOf(step.span), &own);
    for (size_t i = 0; i < kTimeClassCount; ++i) {
      own.exposed[i] = times.Of(StepTimesBitOf(i), kDeviceClasses & ~StepTimesBitOf(i));
      own.hidden[i] = times.Of(StepTimesBitOf(i)) - *own.exposed[i];
    }
    own.busy = times.Of(kDeviceClasses);
  }
  return all;
}

std::vector<StepTimes> StepTimesOf(const Run& run) {
  constexpr size_t kRest = kTimeClassCount;
  constexpr size_t kFirstOfHost = static_cast<size_t>(TimeClass::kRuntime);
  const ClassIntervals classes = TimeClassesOf(run);
  std::vector<StepTimes> all = TimesOf(run.steps().all(), classes);
  if (run.device_work().events().empty()) return all;
  for (StepTimes& step : all) {
    for (size_t i = kFirstOfHost; i <= kRest; ++i) step.parts[i] = 0;
    step.queued = 0;
    step.cold = 0;
    step.ended = 0;
  }
  const std::vector<Interval> windows = WindowsOf(run.steps());
  const bool of_run = run.steps().source() == StepSource::kNone;
  FindIdleGaps(run, windows, IdleOf::kRank, [&](const IdleGap& gap) {
    StepTimes& step = all[gap.window];
    const auto add = [](StepTimes::Time* to, int64_t ns) {
      *to = SaturatingSum(to->value_or(0), ns);
    };
    for (const IdlePart& part : gap.parts) {
      const int64_t ns = LengthOf(part.time);
      if (of_run && part.cause == IdleCause::kTail) add(&step.ended, ns);
      if ((part.cause == IdleCause::kTail && !of_run) || part.cause == IdleCause::kUnknown) {
        MaskTimes times;
        classes.AddTimes(part.time, &times);
        for (size_t i = kFirstOfHost; i < kRest; ++i) {
          add(&step.parts[i], times.Of(StepTimesBitOf(i), BitsOf(kFirstOfHost, i)));
        }
        add(&step.parts[kRest], ns - times.Of(BitsOf(kFirstOfHost, kRest)));
        continue;
      }
      add(&step.parts[PartOf(part.cause)], ns);
      if (part.cause == IdleCause::kQueued) add(&step.queued, ns);
      if (part.cause == IdleCause::kColdStart) add(&step.cold, ns);
    }
  });
  return all;
}

int64_t GpuCountOf(const DeviceWork& work) {
  std::set<int32_t> devices;
  int32_t last = 0;
  for (const DeviceEvent& event : work.events()) {
    const bool runs = event.IsKernel() || event.work == WorkClass::kReplay;
    if (runs && (devices.empty() || event.device_id != last))
      devices.insert(last = event.device_id);
  }
  return static_cast<int64_t>(devices.size());
}

}  // namespace oplens::prof
