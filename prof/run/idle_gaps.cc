#include "prof/run/idle_gaps.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

/// A GPU, all of them, or a stream, up to the latest work.
struct IdleGapsPlace {
  int32_t device_id;
  int32_t stream_id;
  int64_t end_ns = INT64_MIN;         // Of all work so far.
  int64_t busy_ns = 0;                // Time of work so far.
  size_t window = 0;                  // The first that has not ended by then.
  const DeviceEvent* last = nullptr;  // The work that ends at `end_ns`.
};

/// The last work of a stream so far.
struct LastOfStream {
  int64_t end_ns = INT64_MIN;
  int64_t launched_ns = INT64_MIN;
};

IdleCause IdleGapsCauseOf(HostDoing doing) {
  switch (doing) {
    case HostDoing::kWaiting:
      return IdleCause::kSync;
    case HostDoing::kPageableCopy:
      return IdleCause::kPageableCopy;
    case HostDoing::kApiCall:
      return IdleCause::kApiCall;
    case HostDoing::kCommunication:
      return IdleCause::kCommunication;
    case HostDoing::kDataLoader:
      return IdleCause::kDataLoader;
    case HostDoing::kOperator:
      return IdleCause::kHostOp;
    case HostDoing::kOther:
      break;
  }
  return IdleCause::kPython;
}

/// When a GPU worked: first other work, then pure communication.
std::map<int32_t, TaggedTimes> BusyTimes(const DeviceWork& work) {
  std::map<int32_t, std::vector<IntervalSet>> devices;
  for (const DeviceEvent& event : work.events()) {
    std::vector<IntervalSet>& sets = devices.try_emplace(event.device_id, 2).first->second;
    sets[event.work == WorkClass::kCommunication ? 1 : 0].Add({event.start_ns, event.end_ns});
  }
  std::map<int32_t, TaggedTimes> busy;
  for (auto& [device, sets] : devices) busy.emplace(device, TaggedTimes(std::move(sets)));
  return busy;
}

/// For each stream, when it was told to wait for an event, ascending.
std::map<int32_t, std::vector<int64_t>> EventWaits(const Trace& trace) {
  std::map<int32_t, std::vector<int64_t>> waits;
  for (const Synchronization& wait : trace.synchronizations) {
    if (wait.kind != WaitKind::kStreamWaitEvent || wait.launch == kNoLaunch) continue;
    waits[wait.stream_id].push_back(trace.launches[wait.launch].start_ns);
  }
  for (auto& [stream, times] : waits) std::sort(times.begin(), times.end());
  return waits;
}

class GapFinder {
 public:
  GapFinder(const Run& run, std::span<const Interval> windows, IdleOf of,
            const std::function<void(const IdleGap& gap)>& take)
      : run_(run),
        trace_(run.trace()),
        work_(run.device_work()),
        windows_(windows),
        of_(of),
        take_(take),
        host_(run.host_activity()),
        event_waits_(EventWaits(trace_)) {}

  void Find() {
    if (of_ == IdleOf::kStream) busy_ = BusyTimes(work_);
    const StepSource steps = run_.steps().source();
    // Marked steps begin with their causes; StatesOf knows those that warm up.
    has_cold_start_ =
        of_ != IdleOf::kStream && steps != StepSource::kRanges && steps != StepSource::kPattern;
    if (has_cold_start_) FindColdWork();
    for (const DeviceEvent& event : work_.events()) {
      IdleGapsPlace& place = PlaceOf(event);
      const bool first = place.end_ns == INT64_MIN;
      if (event.start_ns > place.end_ns && !(first && of_ == IdleOf::kStream)) {
        TakeGap({place.end_ns, event.start_ns}, &event, &place);
      }
      SaturatingAdd(&place.busy_ns,
                    LengthOf({std::max(place.end_ns, event.start_ns), event.end_ns}));
      if (place.last == nullptr || event.end_ns > place.end_ns) place.last = &event;
      place.end_ns = std::max(place.end_ns, event.end_ns);
      LastOfStream& last = streams_[{event.device_id, event.stream_id}];
      last.end_ns = std::max(last.end_ns, event.end_ns);
      const LaunchIndex launch = work_.LaunchOf(event);
      if (launch != kNoLaunch) last.launched_ns = trace_.launches[launch].start_ns;
    }
    if (of_ == IdleOf::kStream) return;
    for (IdleGapsPlace& place : places_) TakeGap({place.end_ns, INT64_MAX}, nullptr, &place);
  }

 private:
  IdleGapsPlace& PlaceOf(const DeviceEvent& event) {
    const int32_t device_id = of_ == IdleOf::kRank ? 0 : event.device_id;
    const int32_t stream_id = of_ == IdleOf::kStream ? event.stream_id : 0;
    if (last_ < places_.size() && places_[last_].device_id == device_id &&
        places_[last_].stream_id == stream_id) {
      return places_[last_];
    }
    const auto [known, added] = index_.try_emplace(std::pair(device_id, stream_id), places_.size());
    if (added) places_.push_back({device_id, stream_id});
    last_ = known->second;
    return places_[last_];
  }

  /// How much work of each GPU belongs to its cold start.
  void FindColdWork() {
    constexpr int64_t kColdShare = 1000;
    std::map<int32_t, std::pair<int64_t, int64_t>> busy;  // Time and end so far.
    for (const DeviceEvent& event : work_.events()) {
      auto& [time_ns, end_ns] =
          busy.try_emplace(of_ == IdleOf::kRank ? 0 : event.device_id, 0, INT64_MIN).first->second;
      SaturatingAdd(&time_ns, LengthOf({std::max(end_ns, event.start_ns), event.end_ns}));
      end_ns = std::max(end_ns, event.end_ns);
    }
    for (const auto& [device, times] : busy) cold_work_ns_[device] = times.first / kColdShare;
  }

  bool IsCold(const IdleGapsPlace& place) const {
    if (!has_cold_start_) return false;
    return place.busy_ns == 0 || place.busy_ns < cold_work_ns_.at(place.device_id);
  }

  /// `next`: the work that ends the gap; null at the end.
  void TakeGap(const Interval& gap, const DeviceEvent* next, IdleGapsPlace* place) {
    size_t& window = place->window;
    while (window < windows_.size() && windows_[window].end_ns <= gap.start_ns) ++window;
    for (size_t i = window; i < windows_.size() && windows_[i].start_ns < gap.end_ns; ++i) {
      const Interval part = {std::max(gap.start_ns, windows_[i].start_ns),
                             std::min(gap.end_ns, windows_[i].end_ns)};
      if (part.end_ns <= part.start_ns) continue;
      IdleGap found;
      found.device_id = place->device_id;
      found.stream_id = place->stream_id;
      found.window = i;
      found.time = part;
      found.next = next;
      found.previous = place->last;
      found_ = &found;
      parts_.clear();
      if (next != nullptr && IsCold(*place)) {
        Add({part, IdleCause::kColdStart});
      } else {
        Split(part, next);
      }
      found.parts = parts_;
      take_(found);
    }
  }

  void Add(const IdlePart& part) {
    SaturatingAdd(&found_->ns[static_cast<size_t>(part.cause)], LengthOf(part.time));
    parts_.push_back(part);
  }

  void Split(const Interval& gap, const DeviceEvent* next) {
    if (next == nullptr) return Add({gap, IdleCause::kTail});
    const LaunchIndex launch = work_.LaunchOf(*next);
    if (launch == kNoLaunch) return Add({gap, IdleCause::kUnknown});
    const LaunchCall& call = trace_.launches[launch];
    const int64_t begun_ns = std::clamp(call.start_ns, gap.start_ns, gap.end_ns);
    if (gap.start_ns < begun_ns) {
      host_.ForEach(call.thread, {gap.start_ns, begun_ns}, &host_places_,
                    [&](HostDoing doing, int64_t start_ns, int64_t end_ns) {
                      Add({{start_ns, end_ns},
                           IdleGapsCauseOf(doing),
                           HeldBy::kDevice,
                           call.thread,
                           IsInCall(doing) ? host_.CallAt(call.thread, start_ns) : kNoLaunch});
                    });
    }
    const int64_t launched_ns = std::clamp(call.end_ns, begun_ns, gap.end_ns);
    if (begun_ns < launched_ns) {
      const bool copies = next->work == WorkClass::kCopy && IsPageable(trace_.copies[next->index]);
      const bool loads = LengthOf({call.start_ns, call.end_ns}) >= kModuleLoadNs;
      Add({{begun_ns, launched_ns},
           copies  ? IdleCause::kPageableCopy
           : loads ? IdleCause::kModuleLoad
                   : IdleCause::kLaunch,
           HeldBy::kDevice,
           call.thread,
           launch});
    }
    if (launched_ns < gap.end_ns) SplitQueued({launched_ns, gap.end_ns}, *next, launch);
  }

  void SplitQueued(const Interval& queued, const DeviceEvent& next, LaunchIndex launch) {
    const LaunchCall& call = trace_.launches[launch];
    const auto add = [&](IdleCause cause, int64_t start_ns, int64_t end_ns) {
      Add({{start_ns, end_ns}, cause, HeldOf(next, call), call.thread, launch});
    };
    if (of_ != IdleOf::kStream) return add(IdleCause::kQueued, queued.start_ns, queued.end_ns);
    // An empty stream: the GPU's work belongs to others.
    constexpr IdleCause kCauses[] = {IdleCause::kOtherStream, IdleCause::kCommunication};
    busy_.at(next.device_id)
        .ForEach(queued, &busy_places_[next.device_id],
                 [&](uint8_t tag, int64_t start_ns, int64_t end_ns) {
                   add(tag == TaggedTimes::kNone ? IdleCause::kQueued : kCauses[tag], start_ns,
                       end_ns);
                 });
  }

  HeldBy HeldOf(const DeviceEvent& next, const LaunchCall& call) const {
    const auto last = streams_.find({next.device_id, next.stream_id});
    const auto waits = event_waits_.find(next.stream_id);
    if (waits != event_waits_.end()) {
      const std::vector<int64_t>& times = waits->second;
      const auto after = std::upper_bound(times.begin(), times.end(), call.start_ns);
      const int64_t since_ns = last == streams_.end() ? INT64_MIN : last->second.launched_ns;
      if (after != times.begin() && *(after - 1) >= since_ns) return HeldBy::kEvent;
    }
    if (next.work == WorkClass::kCopy) return HeldBy::kCopy;
    const bool follows = last != streams_.end() && last->second.end_ns >= call.end_ns;
    return follows ? HeldBy::kStream : HeldBy::kDevice;
  }

  const Run& run_;
  const Trace& trace_;
  const DeviceWork& work_;
  std::span<const Interval> windows_;
  IdleOf of_;
  bool has_cold_start_ = false;
  const std::function<void(const IdleGap& gap)>& take_;
  HostActivity& host_;
  HostActivity::Places host_places_;
  std::map<int32_t, size_t> busy_places_;  // By GPU.
  std::map<int32_t, std::vector<int64_t>> event_waits_;
  std::map<int32_t, TaggedTimes> busy_;      // By GPU; for streams only.
  std::map<int32_t, int64_t> cold_work_ns_;  // By GPU; if there is a cold start.
  std::map<std::pair<int32_t, int32_t>, LastOfStream> streams_;
  std::vector<IdleGapsPlace> places_;
  std::map<std::pair<int32_t, int32_t>, size_t> index_;
  size_t last_ = 0;
  IdleGap* found_ = nullptr;  // The gap being split.
  std::vector<IdlePart> parts_;
};

}  // namespace

int64_t IdleGap::length_ns() const {
  int64_t sum = 0;
  for (const int64_t part : ns) SaturatingAdd(&sum, part);
  return sum;
}

void FindIdleGaps(const Run& run, std::span<const Interval> windows, IdleOf of,
                  const std::function<void(const IdleGap& gap)>& take) {
  GapFinder(run, windows, of, take).Find();
}

}  // namespace oplens::prof
