#include "prof/compat/hta/path_events.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "prof/compat/hta/activity.h"
#include "prof/compat/hta/events.h"

namespace oplens::prof {
namespace {

HtaPathEvent::Kind HtaPathEventsKindOf(TorchEvent::Kind kind) {
  switch (kind) {
    case TorchEvent::Kind::kOperator:
      return HtaPathEvent::Kind::kOperator;
    case TorchEvent::Kind::kApiCall:
      return HtaPathEvent::Kind::kCall;
    case TorchEvent::Kind::kKernel:
    case TorchEvent::Kind::kCopy:
    case TorchEvent::Kind::kFill:
      return HtaPathEvent::Kind::kWork;
    default:
      return HtaPathEvent::Kind::kOther;
  }
}

bool IsHtaDriverCall(std::string_view api) {
  return api.starts_with("cu") && api.size() > 2 && api[2] >= 'A' && api[2] <= 'Z';
}

}  // namespace

HtaPathEvents::HtaPathEvents(const Trace& trace) : trace_(trace) {
  if (trace.torch_events.empty()) return;
  AddTorchEvents();
  AddDriverCalls();
  AddWaits();
  std::stable_sort(
      events_.begin(), events_.end(),
      [](const HtaPathEvent& a, const HtaPathEvent& b) { return a.number < b.number; });
  CutLastStep();
  Link();
  CountQueues();
}

void HtaPathEvents::AddTorchEvents() {
  for (const TorchEvent& event : trace_.torch_events) {
    // An operator that names a stream is work without a launch to the reference.
    if (event.kind == TorchEvent::Kind::kDeviceAnnotation || event.has_stream) continue;
    HtaPathEvent& added = events_.emplace_back();
    added.start_us = HtaStartUs(event.start_us);
    added.end_us = HtaEndUs(event.end_us);
    added.thread_id = event.thread_id;
    added.number = event.number;
    added.name = event.name;
    added.kind = HtaPathEventsKindOf(event.kind);
    // A module's number is no correlation id.
    if (event.correlation_id != TorchEvent::kNone && event.kind != TorchEvent::Kind::kModule) {
      added.correlation_id = event.correlation_id;
    }
    if (added.kind == HtaPathEvent::Kind::kWork) added.stream = event.thread_id;
  }
}

/// Driver calls are no torch events, and their order in the file is unknown.
void HtaPathEvents::AddDriverCalls() {
  for (const LaunchCall& call : trace_.launches) {
    if (!IsHtaDriverCall(trace_.strings.View(call.api))) continue;
    HtaPathEvent& added = events_.emplace_back();
    added.start_us = HtaStartUs(HtaMicroseconds(call.start_ns));
    added.end_us = HtaEndUs(HtaMicroseconds(call.end_ns));
    added.thread_id =
        call.thread < trace_.threads.size() ? trace_.threads[call.thread].thread_id : 0;
    added.number = UINT32_MAX;
    added.name = call.api;
    added.kind = HtaPathEvent::Kind::kCall;
    added.correlation_id = call.correlation_id;
  }
}

void HtaPathEvents::AddWaits() {
  for (const Synchronization& wait : trace_.synchronizations) {
    HtaPathEvent& added = events_.emplace_back();
    added.start_us = HtaStartUs(HtaMicroseconds(wait.start_ns));
    added.end_us = HtaEndUs(HtaMicroseconds(wait.end_ns));
    added.stream = wait.stream_id;
    added.number = UINT32_MAX;
    added.kind = HtaPathEvent::Kind::kWait;
    added.wait = wait.kind;
    if (wait.launch != kNoLaunch) {
      added.correlation_id = trace_.launches[wait.launch].correlation_id;
    }
    if (wait.event_record >= trace_.event_records.size()) continue;
    const EventRecord& record = trace_.event_records[wait.event_record];
    if (record.launch == kNoLaunch) continue;
    added.record_correlation_id = trace_.launches[record.launch].correlation_id;
    added.record_stream = record.stream_id;
  }
}

void HtaPathEvents::CutLastStep() {
  std::set<StringId> steps;
  int64_t last_us = INT64_MIN;
  for (const HtaPathEvent& event : events_) {
    if (!event.OnHost() || !NameOf(event).starts_with("ProfilerStep")) continue;
    steps.insert(event.name);
    last_us = std::max(last_us, event.start_us);
  }
  if (steps.size() < 2) return;
  std::unordered_set<int64_t> kept;  // Correlation ids.
  for (const HtaPathEvent& event : events_) {
    if (event.OnHost() && event.start_us < last_us) kept.insert(event.correlation_id);
  }
  std::erase_if(events_, [&](const HtaPathEvent& event) {
    return event.OnHost() ? event.start_us >= last_us : !kept.contains(event.correlation_id);
  });
}

void HtaPathEvents::Link() {
  std::unordered_map<int64_t, std::vector<uint32_t>> device;  // By correlation id.
  for (uint32_t i = 0; i < events_.size(); ++i) {
    if (!events_[i].OnHost() && events_[i].correlation_id >= 0) {
      device[events_[i].correlation_id].push_back(i);
    }
  }
  std::unordered_set<int64_t> met;
  for (auto i = static_cast<uint32_t>(events_.size()); i-- > 0;) {
    HtaPathEvent& event = events_[i];
    if (!event.OnHost() || event.correlation_id < 0) continue;
    const auto found = device.find(event.correlation_id);
    if (found == device.end()) continue;
    event.link = found->second.back();
    // The last of several calls with one id counts.
    if (!met.insert(event.correlation_id).second) continue;
    for (const uint32_t work : found->second) events_[work].link = i;
  }
}

bool HtaPathEvents::Launches(const HtaPathEvent& event) const {
  constexpr std::string_view kNames[] = {
      "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",     "cuLaunchKernelEx",
      "cudaMemcpyAsync",  "cudaMemsetAsync",     "hipLaunchKernel",    "hipExtModuleLaunchKernel",
      "hipMemsetAsync",   "hipMemcpyAsync",      "hipMemcpyWithStream"};
  return event.kind == HtaPathEvent::Kind::kCall &&
         std::find(std::begin(kNames), std::end(kNames), NameOf(event)) != std::end(kNames);
}

void HtaPathEvents::CountQueues() {
  struct QueueChange {
    int64_t time_us;
    int64_t stream;
    int64_t count;
    uint32_t event;
  };
  std::unordered_map<int64_t, uint32_t> launches;  // The last call of a correlation id.
  for (uint32_t i = 0; i < events_.size(); ++i) {
    if (events_[i].correlation_id >= 0 && Launches(events_[i])) {
      launches[events_[i].correlation_id] = i;
    }
  }
  std::vector<QueueChange> changes;  // Of all calls in file order, then of all work.
  std::vector<QueueChange> begins;
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const HtaPathEvent& event = events_[i];
    if (event.OnHost() || event.stream == -1) continue;
    const auto call = launches.find(event.correlation_id);
    if (call == launches.end()) continue;
    changes.push_back({events_[call->second].start_us, event.stream, 1, call->second});
    begins.push_back({event.start_us, event.stream, -1, i});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const QueueChange& a, const QueueChange& b) { return a.event < b.event; });
  changes.insert(changes.end(), begins.begin(), begins.end());
  std::vector<int64_t> times_us;
  for (const QueueChange& change : changes) times_us.push_back(change.time_us);
  std::unordered_map<int64_t, int64_t> length;  // By stream.
  for (const uint32_t place : HtaOrder(times_us)) {
    const QueueChange& change = changes[place];
    queues_[change.event] = length[change.stream] += change.count;
  }
}

int64_t HtaPathEvents::QueueAt(uint32_t event) const {
  const auto found = queues_.find(event);
  return found == queues_.end() ? -1 : found->second;
}

}  // namespace oplens::prof
