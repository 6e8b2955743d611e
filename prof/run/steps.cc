#include "prof/run/steps.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "parse/join/joined.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/device_work.h"
#include "prof/run/host_steps.h"

namespace oplens::prof {
namespace {

/// Not closed: the end is unknown.
constexpr int64_t kOpen = INT64_MAX;
/// One in so many of a repetition is too little to matter.
constexpr int64_t kLittleShare = 100;

/// Merges overlapping ranges of one number: threads and processes may each have their own.
std::vector<HostStep> MergeOverlapping(std::vector<HostStep> found) {
  for (HostStep& step : found) {
    if (step.end_ns < step.start_ns) step.end_ns = kOpen;
  }
  std::sort(found.begin(), found.end(), [](const HostStep& a, const HostStep& b) {
    return std::tie(a.number, a.start_ns, a.end_ns) < std::tie(b.number, b.start_ns, b.end_ns);
  });
  std::vector<HostStep> merged;
  for (const HostStep& step : found) {
    const bool overlaps = !merged.empty() && merged.back().number == step.number &&
                          step.start_ns < merged.back().end_ns;
    if (overlaps) {
      merged.back().end_ns = std::max(merged.back().end_ns, step.end_ns);
    } else {
      merged.push_back(step);
    }
  }
  std::stable_sort(merged.begin(), merged.end(),
                   [](const HostStep& a, const HostStep& b) { return a.start_ns < b.start_ns; });
  return merged;
}

/// When the profiler itself worked, as recorded; what a program loads or compiles is its own work.
IntervalSet ProfilerTimes(const Trace& trace) {
  std::vector<Interval> times;
  for (const Overhead& overhead : trace.overheads) {
    switch (overhead.kind) {
      case OverheadKind::kBufferFlush:
      case OverheadKind::kInstrumentation:
      case OverheadKind::kResource:
      case OverheadKind::kBufferRequest:
        times.push_back({overhead.start_ns, overhead.end_ns});
        break;
      default:
        break;
    }
  }
  return IntervalSet(std::move(times));
}

/// A label of a server's step.
struct ServedLabel {
  Interval time;
  ServedStep says;
};

/// Labels by start that do not overlap: of those that do, the first, which is the outermost. Words
/// alone count only if no label tells requests.
std::vector<ServedLabel> ServedLabelsIn(const Trace& trace) {
  std::vector<ServedLabel> labels;
  std::vector<bool> says_nothing(trace.strings.size());
  bool tells_requests = false;
  for (const Range& range : trace.ranges) {
    if (range.kind != RangeKind::kAnnotation && range.kind != RangeKind::kMarker) continue;
    if (says_nothing[range.text] || range.open() || range.end_ns < range.start_ns) continue;
    const auto says = ServedStepOf(trace.strings.View(range.text));
    says_nothing[range.text] = !says;
    if (!says) continue;
    labels.push_back({{range.start_ns, range.end_ns}, *says});
    tells_requests |= says->requests.has_value();
  }
  if (tells_requests) {
    std::erase_if(labels, [](const ServedLabel& label) { return !label.says.requests; });
  }
  std::sort(labels.begin(), labels.end(), [](const ServedLabel& a, const ServedLabel& b) {
    return std::tie(a.time.start_ns, b.time.end_ns) < std::tie(b.time.start_ns, a.time.end_ns);
  });
  int64_t end_ns = INT64_MIN;
  std::erase_if(labels, [&](const ServedLabel& label) {
    const bool overlaps = label.time.start_ns < end_ns;
    if (!overlaps) end_ns = label.time.end_ns;
    return overlaps;
  });
  return labels;
}

}  // namespace

Steps::Steps(const parse::Joined& joined, const DeviceWork& work) : Steps(joined, work, {}) {}

Steps::Steps(const parse::Joined& joined, const DeviceWork& work, std::vector<HostStep> given,
             bool all_steady)
    : joined_(joined), work_(work) {
  const Trace& trace = joined.trace();
  if (!TakeHostSteps(std::move(given), StepSource::kPattern) &&
      !TakeHostSteps(StepsOfRanges(trace), StepSource::kRanges) &&
      !TakeHostSteps(StepsOfRepetition(trace, work), StepSource::kRepetition)) {
    TakeRun();
  }
  // A file that ends early may miss parts of any step.
  if (trace.lost.file_cut) {
    for (Step& step : steps_) step.complete = false;
  }
  places_ = HostPlaces(steps_);
  ReadServed();
  Judge(all_steady);
}

bool Steps::TakeHostSteps(std::vector<HostStep> found, StepSource source) {
  if (found.empty()) return false;
  source_ = source;
  const std::vector<HostStep> hosts = MergeOverlapping(std::move(found));
  for (size_t i = 0; i < hosts.size(); ++i) {
    const HostStep& host = hosts[i];
    Step& step = steps_.emplace_back();
    step.number = host.number;
    step.host = {host.start_ns, host.end_ns};
    if (host.end_ns != kOpen) continue;
    step.complete = false;
    if (i + 1 < hosts.size()) {
      step.host.end_ns = hosts[i + 1].start_ns;
    } else {
      const auto extent = RunExtent(joined_.trace(), work_);
      step.host.end_ns = std::max(host.start_ns, extent ? extent->end_ns : host.start_ns);
    }
  }
  ExtendSteps(work_, joined_.trace(), {}, false, &steps_);
  for (size_t i = WholeSteps(steps_); i < steps_.size(); ++i) steps_[i].complete = false;
  return true;
}

void Steps::TakeRun() {
  const auto extent = RunExtent(joined_.trace(), work_);
  if (!extent) return;
  Step& step = steps_.emplace_back();
  step.span = *extent;
  const auto host = HostExtent(joined_.trace(), work_);
  step.host = host.value_or(Interval{extent->start_ns, extent->start_ns});
  step.device_events = static_cast<int64_t>(work_.events().size());
}

void Steps::ReadServed() {
  for (const ServedLabel& label : ServedLabelsIn(joined_.trace())) {
    const int64_t end_ns = label.time.end_ns;
    int64_t time_ns = label.time.start_ns;
    while (time_ns < end_ns) {
      const size_t place = PlaceOfHost(time_ns);
      if (place == kNone) {
        const auto next = std::ranges::upper_bound(
            steps_, time_ns, {}, [](const Step& step) { return step.host.start_ns; });
        if (next == steps_.end()) break;
        time_ns = next->host.start_ns;
        continue;
      }
      Step& step = steps_[place];
      const bool of_run = source_ == StepSource::kNone;
      const int64_t until_ns = of_run ? end_ns : std::min(end_ns, step.host.end_ns);
      const int64_t shared_ns = LengthOf({time_ns, until_ns});
      const int64_t shorter_ns = std::min(LengthOf(label.time), LengthOf(step.host));
      if (of_run || shared_ns > shorter_ns / 2) {
        step.served = step.served ? Together(*step.served, label.says) : label.says;
      }
      time_ns = until_ns;
    }
  }
}

void Steps::Judge(bool all_steady) {
  std::vector<StepLength> lengths;
  const IntervalSet profiler = ProfilerTimes(joined_.trace());
  for (const Step& step : steps_) {
    lengths.push_back({.length_ns = LengthOf(step.span),
                       .profiler_ns = profiler.Within(step.span).length_ns(),
                       .cut = !step.complete,
                       .phase = step.served ? step.served->phase : ServedPhase::kUnknown});
  }
  std::vector<StepState> states = StatesOf(lengths);
  if (std::ranges::find(states, StepState::kWarmUp) != states.end()) {
    const std::vector<Interval> windows = WindowsOf(*this);
    ClassSweep sweep(windows);
    for (const DeviceEvent& event : work_.events()) {
      sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
    }
    const std::vector<ClassTimes> times = sweep.Finish();
    for (size_t i = 0; i < steps_.size(); ++i) {
      lengths[i].busy_ns = times[i].AnyOf(kComputeBit | kCommunicationBit | kMemoryBit);
    }
    states = StatesOf(lengths);
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].state = !steps_[i].complete ? StepState::kCut
                      : all_steady        ? StepState::kSteady
                                          : states[i];
  }
  if (all_steady || source_ != StepSource::kRepetition) return;
  Step& last = steps_.back();
  if (last.steady() && LastLacksItsEnd()) last.state = StepState::kEnding;
}

/// Whether some steady repetition goes on after its kernels, with other work of the host or the
/// GPU. The last one then lacks such a time.
bool Steps::LastLacksItsEnd() const {
  std::vector<int64_t> ends_ns(steps_.size(), INT64_MIN);
  for (const DeviceEvent& event : work_.events()) {
    if (!event.IsKernel() && event.work != WorkClass::kReplay) continue;
    const size_t place = PlaceOfEvent(event);
    if (place == kNone) continue;
    const LaunchIndex launch = work_.LaunchOf(event);
    const int64_t launched_ns =
        launch == kNoLaunch ? event.start_ns : joined_.trace().launches[launch].end_ns;
    ends_ns[place] = std::max({ends_ns[place], event.end_ns, launched_ns});
  }
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    if (!steps_[i].steady()) continue;
    const int64_t after_ns = LengthOf({ends_ns[i], steps_[i].span.end_ns});
    if (after_ns > LengthOf(steps_[i].span) / kLittleShare) return true;
  }
  return false;
}

Interval Steps::window() const {
  if (steps_.empty()) return {};
  return {steps_.front().span.start_ns, steps_.back().span.end_ns};
}

size_t Steps::PlaceOfEvent(const DeviceEvent& event) const {
  if (source_ == StepSource::kNone) return steps_.empty() ? kNone : 0;
  const LaunchIndex launch = work_.LaunchOf(event);
  if (launch != kNoLaunch) return PlaceOfHost(joined_.trace().launches[launch].start_ns);
  // Spans ascend and are disjoint.
  const std::span<const Step> all = whole();
  const auto after = std::upper_bound(
      all.begin(), all.end(), event.start_ns,
      [](int64_t time_ns, const Step& step) { return time_ns < step.span.end_ns; });
  const bool within = after != all.end() && after->span.start_ns <= event.start_ns;
  return within ? static_cast<size_t>(after - all.begin()) : kNone;
}

}  // namespace oplens::prof
