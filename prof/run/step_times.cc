#include "prof/run/step_times.h"

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

/// The intervals of classes in successive windows, without keeping those of the whole run: there
/// may be 20 API calls per kernel.
class ClassReader {
 public:
  ClassReader(const Run& run, const ClassRules& rules)
      : run_(run), rules_(rules), classes_(run.joined(), rules), calls_(run.trace().api_times) {
    ReadCall();
  }

  /// Those that overlap the window. Windows must ascend.
  ClassIntervals Within(const Interval& window);

 private:
  void ReadCall() { more_calls_ = calls_.Next(&call_.start_ns, &call_.end_ns); }

  const Run& run_;
  const ClassRules& rules_;
  HostClasses classes_;
  TimeSpans::Reader calls_;
  bool more_calls_ = false;
  Interval call_;               // The next one.
  std::vector<Interval> open_;  // API calls that began, and end after the window.
};

ClassIntervals ClassReader::Within(const Interval& window) {
  const Trace& trace = run_.trace();
  Lists lists;
  const auto push = [&](int64_t start_ns, int64_t end_ns, TimeClass of) {
    PushStepTimes(start_ns, end_ns, &Of(of, &lists));
  };
  const auto overlaps = [&](int64_t start_ns, int64_t end_ns) {
    return start_ns < window.end_ns && end_ns > window.start_ns;
  };
  for (const DeviceEvent& event : run_.device_work().events()) {
    if (!overlaps(event.start_ns, event.end_ns)) continue;
    const bool is_collective =
        !rules_.collectives.empty() && event.IsKernel() && rules_.collectives[event.index];
    push(event.start_ns, event.end_ns,
         is_collective ? TimeClass::kComm : ClassOf(event.work, rules_));
  }
  for (const LaunchCall& call : trace.launches) {
    if (!overlaps(call.start_ns, call.end_ns)) continue;
    if (rules_.left_out.empty() || !rules_.left_out[call.api]) {
      push(call.start_ns, call.end_ns, TimeClass::kRuntime);
    }
  }
  std::vector<Interval> open;
  const auto push_call = [&](const Interval& call) {
    if (overlaps(call.start_ns, call.end_ns)) push(call.start_ns, call.end_ns, TimeClass::kRuntime);
    if (call.end_ns > window.end_ns) open.push_back(call);
  };
  for (const Interval& call : open_) push_call(call);
  for (; more_calls_ && call_.start_ns < window.end_ns; ReadCall()) push_call(call_);
  open_ = std::move(open);
  for (const Range& range : trace.ranges) {
    if (!overlaps(range.start_ns, range.end_ns)) continue;
    if (const auto known = classes_.Of(range)) push(range.start_ns, range.end_ns, *known);
  }
  if (rules_.shadows) {
    for (const DeviceAnnotation& shadow : trace.device_annotations) {
      if (!overlaps(shadow.start_ns, shadow.end_ns)) continue;
      if (const auto known = classes_.OfText(shadow.text)) {
        push(shadow.start_ns, shadow.end_ns, *known);
      }
    }
  }
  std::vector<IntervalSet> sets;
  for (std::vector<Interval>& list : lists) sets.emplace_back(std::move(list));
  return ClassIntervals(std::move(sets));
}

/// Each window looks at all of the run but its API calls.
constexpr size_t kMostWindows = 16;

/// Ends of windows that make up all of the time, each with about `at_once` intervals, or more so
/// that there are few.
std::vector<int64_t> WindowEndsOf(const Run& run, size_t at_once) {
  const Trace& trace = run.trace();
  const size_t count = run.device_work().events().size() + trace.launches.size() +
                       trace.ranges.size() + trace.api_times.size();
  at_once = std::max(at_once, count / kMostWindows);
  const size_t one_of = std::max<size_t>(1, at_once / 1024);
  std::vector<int64_t> starts;
  size_t seen = 0;
  const auto see = [&](int64_t start_ns) {
    if (seen++ % one_of == 0) starts.push_back(start_ns);
  };
  for (const DeviceEvent& event : run.device_work().events()) see(event.start_ns);
  for (const LaunchCall& call : trace.launches) see(call.start_ns);
  for (const Range& range : trace.ranges) see(range.start_ns);
  trace.api_times.ForEach([&](int64_t start_ns, int64_t) { see(start_ns); });
  std::sort(starts.begin(), starts.end());
  std::vector<int64_t> ends;
  for (size_t i = at_once / one_of; i < starts.size(); i += at_once / one_of) {
    if (ends.empty() || ends.back() < starts[i]) ends.push_back(starts[i]);
  }
  ends.push_back(INT64_MAX);
  return ends;
}

/// A time in which the times of classes are asked for.
struct AskedTimes {
  Interval time;
  size_t number = 0;
};

/// Calls f(number, MaskTimes) for each.
template <typename F>
void FindTimes(const Run& run, std::vector<AskedTimes> asked, size_t at_once, F f) {
  std::sort(asked.begin(), asked.end(), [](const AskedTimes& a, const AskedTimes& b) {
    return a.time.start_ns < b.time.start_ns;
  });
  struct Open {
    AskedTimes asked;
    MaskTimes times;
  };
  std::vector<Open> open;  // Of the current window.
  const ClassRules rules;
  ClassReader reader(run, rules);
  Interval window = {INT64_MIN, INT64_MIN};
  size_t next = 0;
  for (const int64_t end_ns : WindowEndsOf(run, at_once)) {
    window = {window.end_ns, end_ns};
    const bool last = end_ns == INT64_MAX;
    for (; next < asked.size() && (last || asked[next].time.start_ns < end_ns); ++next) {
      open.push_back({asked[next], {}});
    }
    if (open.empty()) continue;
    const ClassIntervals classes = reader.Within(window);
    std::erase_if(open, [&](Open& one) {
      classes.AddTimes({std::max(one.asked.time.start_ns, window.start_ns),
                        std::min(one.asked.time.end_ns, window.end_ns)},
                       &one.times);
      if (one.asked.time.end_ns > window.end_ns) return false;
      f(one.asked.number, one.times);
      return true;
    });
  }
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
  return ClassReader(run, rules).Within({INT64_MIN, INT64_MAX});
}

void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step) {
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    step->parts[i] = times.Of(StepTimesBitOf(i), BitsOf(first[i], i));
  }
  const int64_t taken_ns = times.Of(BitsOf(first[kTimeClassCount], kTimeClassCount));
  step->parts[kTimeClassCount] = std::max<int64_t>(0, total_ns - taken_ns);
}

StepTimes TimesOfStep(const Step& step, const MaskTimes& times) {
  StepTimes own;
  FillParts(times, kAllFromFirst, LengthOf(step.span), &own);
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    own.exposed[i] = times.Of(StepTimesBitOf(i), kDeviceClasses & ~StepTimesBitOf(i));
    own.hidden[i] = times.Of(StepTimesBitOf(i)) - *own.exposed[i];
  }
  own.busy = times.Of(kDeviceClasses);
  return own;
}

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes) {
  std::vector<StepTimes> all;
  all.reserve(steps.size());
  for (const Step& step : steps) {
    MaskTimes times;
    classes.AddTimes(step.span, &times);
    all.push_back(TimesOfStep(step, times));
  }
  return all;
}

std::vector<StepTimes> StepTimesOf(const Run& run, size_t at_once) {
  constexpr size_t kRest = kTimeClassCount;
  constexpr size_t kFirstOfHost = static_cast<size_t>(TimeClass::kRuntime);
  const std::span<const Step> steps = run.steps().all();
  std::vector<AskedTimes> asked;
  for (size_t i = 0; i < steps.size(); ++i) asked.push_back({steps[i].span, i});
  std::vector<StepTimes> all(steps.size());
  const bool worked = !run.device_work().events().empty();
  for (StepTimes& step : all) {
    if (!worked) break;
    for (size_t i = kFirstOfHost; i <= kRest; ++i) step.parts[i] = 0;
    step.queued = 0;
    step.cold = 0;
    step.ended = 0;
  }
  const auto add = [](StepTimes::Time* to, int64_t ns) {
    *to = SaturatingSum(to->value_or(0), ns);
  };
  const bool of_run = run.steps().source() == StepSource::kNone;
  const std::vector<Interval> windows = worked ? WindowsOf(run.steps()) : std::vector<Interval>();
  const auto take = [&](const IdleGap& gap) {
    StepTimes& step = all[gap.window];
    for (const IdlePart& part : gap.parts) {
      const int64_t ns = LengthOf(part.time);
      if (of_run && part.cause == IdleCause::kTail) add(&step.ended, ns);
      if ((part.cause == IdleCause::kTail && !of_run) || part.cause == IdleCause::kUnknown) {
        // What any thread does.
        add(&step.parts[kRest], ns);
        asked.push_back({part.time, steps.size() + gap.window});
        continue;
      }
      add(&step.parts[PartOf(part.cause)], ns);
      if (part.cause == IdleCause::kQueued) add(&step.queued, ns);
      if (part.cause == IdleCause::kColdStart) add(&step.cold, ns);
    }
  };
  if (worked) FindIdleGaps(run, windows, IdleOf::kRank, take);
  FindTimes(run, std::move(asked), at_once, [&](size_t number, const MaskTimes& times) {
    if (number >= steps.size()) {
      StepTimes& step = all[number - steps.size()];
      for (size_t i = kFirstOfHost; i < kRest; ++i) {
        const int64_t ns = times.Of(StepTimesBitOf(i), BitsOf(kFirstOfHost, i));
        add(&step.parts[i], ns);
        *step.parts[kRest] -= ns;
      }
      return;
    }
    StepTimes step = TimesOfStep(steps[number], times);
    if (worked) {
      std::copy(all[number].parts.begin() + kFirstOfHost, all[number].parts.end(),
                step.parts.begin() + kFirstOfHost);
      step.queued = all[number].queued;
      step.cold = all[number].cold;
      step.ended = all[number].ended;
    }
    all[number] = step;
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
