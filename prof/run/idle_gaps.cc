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

namespace oplens::prof {
namespace {

/// A GPU, or one of its streams, up to the latest work.
struct IdleGapsPlace {
  int32_t device_id;
  int32_t stream_id;
  int64_t end_ns = INT64_MIN;  // Of all work so far.
  size_t window = 0;           // The first that has not ended by then.
};

IdleCause IdleGapsCauseOf(HostDoing doing, bool head) {
  switch (doing) {
    case HostDoing::kWaiting:
      return IdleCause::kSync;
    case HostDoing::kCommunication:
      return IdleCause::kCommunication;
    case HostDoing::kDataLoader:
      return IdleCause::kDataLoader;
    case HostDoing::kOperator:
      return IdleCause::kHostOp;
    case HostDoing::kNothingYet:
      return head ? IdleCause::kHead : IdleCause::kPython;
    case HostDoing::kOther:
      break;
  }
  return IdleCause::kPython;
}

/// When a GPU worked: first other work, then pure communication.
std::map<int32_t, TaggedTimes> BusyTimes(const DeviceWork& work) {
  struct Lists {
    std::vector<Interval> other;
    std::vector<Interval> communication;
  };
  std::map<int32_t, Lists> devices;
  for (const DeviceEvent& event : work.events()) {
    Lists& lists = devices[event.device_id];
    const bool communicates = event.work == WorkClass::kCommunication;
    (communicates ? lists.communication : lists.other).push_back({event.start_ns, event.end_ns});
  }
  std::map<int32_t, TaggedTimes> busy;
  for (auto& [device, lists] : devices) {
    std::vector<IntervalSet> sets;
    sets.emplace_back(std::move(lists.other));
    sets.emplace_back(std::move(lists.communication));
    busy.emplace(device, TaggedTimes(std::move(sets)));
  }
  return busy;
}

class GapFinder {
 public:
  GapFinder(const Run& run, std::span<const Interval> windows, bool by_stream,
            const std::function<void(const IdleGap& gap)>& take)
      : trace_(run.trace()),
        work_(run.device_work()),
        windows_(windows),
        by_stream_(by_stream),
        take_(take),
        host_(run.joined()) {}

  void Find() {
    if (by_stream_) busy_ = BusyTimes(work_);
    for (const DeviceEvent& event : work_.events()) {
      IdleGapsPlace& place = PlaceOf(event);
      const bool first = place.end_ns == INT64_MIN;
      if (event.start_ns > place.end_ns && !(first && by_stream_)) {
        TakeGap({place.end_ns, event.start_ns}, &event, first, &place);
      }
      place.end_ns = std::max(place.end_ns, event.end_ns);
    }
    if (by_stream_) return;
    for (IdleGapsPlace& place : places_) TakeGap({place.end_ns, INT64_MAX}, nullptr, false, &place);
  }

 private:
  IdleGapsPlace& PlaceOf(const DeviceEvent& event) {
    const int32_t stream_id = by_stream_ ? event.stream_id : 0;
    if (last_ < places_.size() && places_[last_].device_id == event.device_id &&
        places_[last_].stream_id == stream_id) {
      return places_[last_];
    }
    const auto [known, added] =
        index_.try_emplace(std::pair(event.device_id, stream_id), places_.size());
    if (added) places_.push_back({event.device_id, stream_id});
    last_ = known->second;
    return places_[last_];
  }

  /// `next`: the work that ends the gap; null at the end.
  void TakeGap(const Interval& gap, const DeviceEvent* next, bool head, IdleGapsPlace* place) {
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
      found_ = &found;
      Split(part, next, head);
      take_(found);
    }
  }

  void Add(IdleCause cause, int64_t start_ns, int64_t end_ns) {
    int64_t& sum = found_->ns[static_cast<size_t>(cause)];
    SaturatingAdd(&sum, LengthOf({start_ns, end_ns}));
  }

  void Split(const Interval& gap, const DeviceEvent* next, bool head) {
    if (next == nullptr) return Add(IdleCause::kTail, gap.start_ns, gap.end_ns);
    const LaunchIndex launch = work_.LaunchOf(*next);
    if (launch == kNoLaunch) return Add(IdleCause::kUnknown, gap.start_ns, gap.end_ns);
    const LaunchCall& call = trace_.launches[launch];
    const int64_t begun_ns = std::clamp(call.start_ns, gap.start_ns, gap.end_ns);
    if (gap.start_ns < begun_ns) {
      host_.ForEach(call.thread, {gap.start_ns, begun_ns},
                    [&](HostDoing doing, int64_t start_ns, int64_t end_ns) {
                      Add(IdleGapsCauseOf(doing, head), start_ns, end_ns);
                    });
    }
    const int64_t launched_ns =
        by_stream_ ? std::clamp(call.end_ns, begun_ns, gap.end_ns) : gap.end_ns;
    Add(IdleCause::kLaunch, begun_ns, launched_ns);
    if (launched_ns < gap.end_ns) SplitQueued({launched_ns, gap.end_ns}, next->device_id);
  }

  /// For an empty stream, so the GPU's work belongs to others.
  void SplitQueued(const Interval& queued, int32_t device_id) {
    constexpr IdleCause kCauses[] = {IdleCause::kOtherStream, IdleCause::kCommunication};
    busy_.at(device_id).ForEach(queued, [&](uint8_t tag, int64_t start_ns, int64_t end_ns) {
      Add(tag == TaggedTimes::kNone ? IdleCause::kLaunch : kCauses[tag], start_ns, end_ns);
    });
  }

  const Trace& trace_;
  const DeviceWork& work_;
  std::span<const Interval> windows_;
  bool by_stream_;
  const std::function<void(const IdleGap& gap)>& take_;
  HostActivity host_;
  std::map<int32_t, TaggedTimes> busy_;  // By GPU; for streams only.
  std::vector<IdleGapsPlace> places_;
  std::map<std::pair<int32_t, int32_t>, size_t> index_;
  size_t last_ = 0;
  IdleGap* found_ = nullptr;  // The gap being split.
};

}  // namespace

std::string_view IdleCauseWord(IdleCause cause) {
  constexpr std::string_view kWords[kIdleCauseCount] = {
      "launch",  "other-stream", "communication", "sync", "dataloader",
      "host-op", "python",       "head",          "tail", "unknown"};
  return kWords[static_cast<size_t>(cause)];
}

int64_t IdleGap::length_ns() const {
  int64_t sum = 0;
  for (const int64_t part : ns) SaturatingAdd(&sum, part);
  return sum;
}

void FindIdleGaps(const Run& run, std::span<const Interval> windows, bool by_stream,
                  const std::function<void(const IdleGap& gap)>& take) {
  GapFinder(run, windows, by_stream, take).Find();
}

}  // namespace oplens::prof
