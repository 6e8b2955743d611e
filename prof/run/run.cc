#include "prof/run/run.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/range_sweep.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"
#include "parse/records/kernel_records.h"
#include "prof/run/call_work.h"
#include "prof/run/collective_calls.h"
#include "prof/run/device_work.h"
#include "prof/run/host_activity.h"
#include "prof/run/host_moments.h"
#include "prof/run/host_steps.h"
#include "prof/run/memory_life.h"
#include "prof/run/steady_idle.h"
#include "prof/run/step_proposals.h"
#include "prof/run/step_times.h"
#include "prof/run/steps.h"
#include "prof/run/steps_coverage.h"
#include "prof/run/stream_order.h"

namespace oplens::prof {
namespace {

struct MemoryOwnersMoment {
  ThreadIndex thread = 0;
  int64_t time_ns = 0;
  uint32_t event = 0;
};

/// By thread and time, without those on no thread.
std::vector<MemoryOwnersMoment> MomentsOf(const Trace& trace) {
  std::vector<MemoryOwnersMoment> moments;
  moments.reserve(trace.memory_events.size());
  for (uint32_t i = 0; i < trace.memory_events.size(); ++i) {
    const MemoryEvent& event = trace.memory_events[i];
    const bool by_call =
        event.launch < trace.launches.size() && trace.launches[event.launch].thread == event.thread;
    const int64_t time_ns = by_call ? trace.launches[event.launch].start_ns : event.time_ns;
    if (event.thread < trace.threads.size()) moments.push_back({event.thread, time_ns, i});
  }
  std::sort(
      moments.begin(), moments.end(), [](const MemoryOwnersMoment& a, const MemoryOwnersMoment& b) {
        return std::tie(a.thread, a.time_ns, a.event) < std::tie(b.thread, b.time_ns, b.event);
      });
  return moments;
}

/// By index in Trace::memory_events: the innermost call (latest start) open on the event's thread
/// when it happened or, if known, when the API call that allocated or released the memory started;
/// as an index into CallTree::all(). CallTree::kNone: none.
///
/// O((n + C) log (n + C)) for n events and C calls, even if calls cross.
std::vector<uint32_t> MemoryOwners(const parse::Joined& joined, const parse::CallTree& calls) {
  const Trace& trace = joined.trace();
  std::vector<uint32_t> owners(trace.memory_events.size(), parse::CallTree::kNone);
  const std::span<const parse::CallTree::Call> all = calls.all();
  const auto range_of = [&](size_t call) -> const Range& { return trace.ranges[all[call].range]; };
  parse::OpenRanges open;
  const MemoryOwnersMoment* before = nullptr;
  size_t next = 0;
  size_t end = 0;
  const std::vector<MemoryOwnersMoment> moments = MomentsOf(trace);
  for (const MemoryOwnersMoment& moment : moments) {
    if (before == nullptr || before->thread != moment.thread) {
      open.Clear();
      next = calls.BeginOf(moment.thread);
      end = next + calls.Of(moment.thread).size();
    }
    before = &moment;
    for (; next < end && range_of(next).start_ns <= moment.time_ns; ++next) {
      open.Push(static_cast<uint32_t>(next), range_of(next).start_ns, range_of(next).end_ns, 0);
    }
    // A call that ends at this moment is over.
    open.MoveTo(moment.time_ns, SaturatingSum(moment.time_ns, 1));
    owners[moment.event] = open.Innermost(0);
  }
  return owners;
}

}  // namespace

Run::Run(const parse::KernelRecords& records, RunOptions options)
    : joined_(records.joined()),
      trace_(joined_.trace()),
      names_(records.names()),
      options_(std::move(options)) {}

Run::~Run() = default;

std::string_view Run::rank() const { return trace_.strings.View(trace_.rank_name); }

const DeviceWork& Run::all_work() const {
  return *all_work_.Get([this] { return std::make_unique<DeviceWork>(joined()); });
}

const DeviceWork& Run::work() const {
  if (options_.selection.empty()) return all_work();
  return *work_.Get([this] {
    auto work = std::make_unique<DeviceWork>(all_work());
    work->Keep([this](const DeviceEvent& event) { return Selects(event); });
    return work;
  });
}

const DeviceWork& Run::device_work() const {
  const auto& device = options_.selection.device;
  if (!device) return all_work();
  return *device_work_.Get([&] {
    auto work = std::make_unique<DeviceWork>(all_work());
    work->Keep([&](const DeviceEvent& event) { return event.device_id == *device; });
    return work;
  });
}

std::optional<std::vector<Interval>> Run::windows() const {
  const Selection& selection = options_.selection;
  if (!selection.steps && !selection.time) return std::nullopt;
  if (!selection.steps) {
    const Interval& time = SelectedTime();
    const std::optional<Interval>& extent = this->extent();
    if (!extent) return std::vector<Interval>();
    const Interval within = {std::max(time.start_ns, extent->start_ns),
                             std::min(time.end_ns, extent->end_ns)};
    return within.start_ns < within.end_ns ? std::vector<Interval>{within}
                                           : std::vector<Interval>();
  }
  std::vector<Interval> windows;
  for (const Step& step : steps().all()) windows.push_back(step.span);
  return windows;
}

const std::optional<Interval>& Run::extent() const {
  return extent_.Get([this] { return RunExtent(trace(), all_work()); });
}

int64_t Run::origin_ns() const { return extent() ? extent()->start_ns : 0; }

Interval Run::window() const {
  const auto windows = this->windows();
  if (!windows) return steps().window();
  if (windows->empty()) return {};
  Interval all = windows->front();
  for (const Interval& window : *windows) all.end_ns = std::max(all.end_ns, window.end_ns);
  return all;
}

const Steps& Run::steps() const {
  return *steps_.Get([this] {
    auto steps =
        std::make_unique<Steps>(joined(), all_work(), StepsOfPattern(), options_.all_steps);
    const Selection& selection = options_.selection;
    if (selection.steps || selection.time) {
      steps->Keep([&](const Step& step) {
        const bool numbered = !selection.steps || (step.number >= selection.steps->first &&
                                                   step.number <= selection.steps->last);
        return numbered && SelectsTime(step.span.start_ns) && SelectsTime(step.span.end_ns - 1);
      });
    }
    return steps;
  });
}

const parse::CallTree& Run::calls() const {
  return *calls_.Get([this] { return std::make_unique<parse::CallTree>(joined()); });
}

const CallWork& Run::call_work() const {
  return *call_work_.Get([this] { return std::make_unique<CallWork>(joined(), work(), calls()); });
}

HostActivity& Run::host_activity() const {
  return *host_activity_.Get(
      [this] { return std::make_unique<HostActivity>(joined(), device_work()); });
}

const HostMoments& Run::host_moments() const {
  return *host_moments_.Get(
      [this] { return std::make_unique<HostMoments>(joined(), device_work()); });
}

const StreamOrder& Run::stream_order() const {
  return *stream_order_.Get(
      [this] { return std::make_unique<StreamOrder>(trace(), device_work()); });
}

const SteadyIdle& Run::steady_idle() const {
  return *steady_idle_.Get([this] { return std::make_unique<SteadyIdle>(*this); });
}

const std::vector<StepTimes>& Run::step_times() const {
  return *step_times_.Get(
      [this] { return std::make_unique<std::vector<StepTimes>>(StepTimesOf(*this)); });
}

const StepProposal* Run::step_proposal() const {
  return step_proposal_
      .Get([this] {
        auto proposal = ProposeSteps(*this);
        return proposal ? std::make_unique<StepProposal>(*std::move(proposal)) : nullptr;
      })
      .get();
}

const OutsideSteps* Run::outside_steps() const {
  return outside_steps_
      .Get([this] {
        const auto outside = FindOutsideSteps(*this);
        return outside ? std::make_unique<OutsideSteps>(*outside) : nullptr;
      })
      .get();
}

const MemoryLife& Run::memory() const {
  return *memory_.Get([this] { return std::make_unique<MemoryLife>(trace()); });
}

const std::vector<uint32_t>& Run::memory_owners() const {
  return memory_owners_.Get([this] { return MemoryOwners(joined(), calls()); });
}

const std::vector<CollectiveCall>& Run::collectives() const {
  return *collectives_.Get(
      [this] { return std::make_unique<std::vector<CollectiveCall>>(FindCollectives(*this)); });
}

std::vector<HostStep> Run::StepsOfPattern() const {
  if (!options_.step_in) return {};
  const Trace& trace = this->trace();
  std::vector<bool> matches_not(trace.strings.size());
  std::vector<StepMatch> matches;
  bool picked = false;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (range.kind == RangeKind::kOperator || range.kind == RangeKind::kFrame) continue;
    if (matches_not[range.text]) continue;
    const StepText text = options_.step_in(trace.strings.View(range.text));
    matches_not[range.text] = !text.matches;
    if (!text.matches || joined().leaks().Has(i)) continue;
    picked |= text.picked;
    const int64_t end_ns = range.open() ? range.start_ns - 1 : range.end_ns;
    matches.push_back({trace.ThreadOf(range), range.start_ns, end_ns, text.number});
  }
  return picked ? StepsOfPicked(matches) : StepsOfMatches(std::move(matches));
}

const Interval& Run::SelectedTime() const {
  return time_.Get([this] {
    Interval time = *options_.selection.time;
    const int64_t origin_ns = this->origin_ns();
    if (__builtin_add_overflow(time.start_ns, origin_ns, &time.start_ns)) time.start_ns = INT64_MAX;
    if (__builtin_add_overflow(time.end_ns, origin_ns, &time.end_ns)) time.end_ns = INT64_MAX;
    return time;
  });
}

bool Run::SelectsTime(int64_t time_ns) const {
  if (!options_.selection.time) return true;
  const Interval& time = SelectedTime();
  return time_ns >= time.start_ns && time_ns < time.end_ns;
}

bool Run::Selects(const DeviceEvent& event) const {
  const Selection& selection = options_.selection;
  if (selection.empty()) return true;
  if (selection.device && event.device_id != *selection.device) return false;
  if (!SelectsTime(event.start_ns)) return false;
  return !selection.steps || steps().OfEvent(event) != Steps::kNone;
}

namespace {

DeviceEvent EventOf(const Kernel& kernel, uint32_t index) {
  return {kernel.start_ns,  kernel.end_ns,    index,
          kernel.device_id, kernel.stream_id, WorkClass::kCompute};
}

DeviceEvent EventOf(const GraphReplay& replay, uint32_t index) {
  return {replay.start_ns,  replay.end_ns,    index,
          replay.device_id, replay.stream_id, WorkClass::kReplay};
}

}  // namespace

bool Run::Selects(const Kernel& kernel, uint32_t index) const {
  return options_.selection.empty() || Selects(EventOf(kernel, index));
}

bool Run::Selects(const GraphReplay& replay, uint32_t index) const {
  return options_.selection.empty() || Selects(EventOf(replay, index));
}

size_t Run::StepOf(const Kernel& kernel, uint32_t index) const {
  return steps().OfEvent(EventOf(kernel, index));
}

size_t Run::StepOf(const GraphReplay& replay, uint32_t index) const {
  return steps().OfEvent(EventOf(replay, index));
}

bool Run::SelectsHost(int64_t time_ns) const {
  const Selection& selection = options_.selection;
  if (!SelectsTime(time_ns)) return false;
  return !selection.steps || steps().OfHost(time_ns) != Steps::kNone;
}

}  // namespace oplens::prof
