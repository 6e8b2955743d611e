#include "prof/path/step_graph.h"

#include <algorithm>

#include "parse/join/joined.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace_needs.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

using StepGraphKind = HostMoment::Kind;

/// On a device with more streams, a wait for all streams is a wait for the work that ended last.
constexpr size_t kMostStreams = 32;
/// Maximum number of unfinished items of work carried to the next step: those that end last.
constexpr size_t kMostRunning = 64;

}  // namespace

StepGraph::StepGraph(const Run& run)
    : run_(run),
      trace_(run.trace()),
      work_(run.device_work()),
      streams_(run.stream_order()),
      moments_(run.host_moments()),
      most_ranges_(ThreadWithMostRanges()),
      last_(streams_.stream_count()) {
  FindParts();
  FindStreamWaits();
}

ThreadIndex StepGraph::ThreadWithMostRanges() const {
  const parse::ThreadRanges& threads = run_.joined().threads();
  ThreadIndex best = kNoThread;
  size_t most = 0;
  for (ThreadIndex thread = 0; thread < threads.thread_count(); ++thread) {
    const size_t ranges = threads.EndOf(thread) - threads.BeginOf(thread);
    if (moments_.IsEngine(thread) || ranges <= most) continue;
    most = ranges;
    best = thread;
  }
  return best;
}

void StepGraph::FindParts() {
  const std::span<const Step> steps = run_.steps().all();
  const std::span<const HostMoment> all = moments_.all();
  for (size_t thread = 0; thread < moments_.thread_count(); ++thread) {
    size_t i = moments_.BeginOf(thread);
    const size_t end = moments_.BeginOf(thread + 1);
    while (i < end) {
      const auto step = std::partition_point(steps.begin(), steps.end(), [&](const Step& item) {
        return item.span.end_ns < all[i].time_ns;
      });
      if (step == steps.end()) break;
      Part part = {static_cast<size_t>(step - steps.begin()), static_cast<ThreadIndex>(thread), 0,
                   0, 0};
      while (i < end && all[i].time_ns <= step->span.start_ns) ++i;
      part.first = static_cast<uint32_t>(i);
      while (i < end && all[i].time_ns <= step->span.end_ns) ++i;
      part.count = static_cast<uint32_t>(i) - part.first;
      if (part.count > 0) parts_.push_back(part);
    }
  }
  std::stable_sort(parts_.begin(), parts_.end(),
                   [](const Part& a, const Part& b) { return a.step < b.step; });
}

/// What was launched into a stream after its wait for an event depends on what was launched into
/// the event's stream before the event was recorded.
void StepGraph::FindStreamWaits() {
  for (const Synchronization& wait : trace_.synchronizations) {
    if (wait.kind != WaitKind::kStreamWaitEvent) continue;
    waits_recorded_ = true;
    if (wait.launch == kNoLaunch || wait.event_record >= trace_.event_records.size()) continue;
    const EventRecord& record = trace_.event_records[wait.event_record];
    if (record.launch == kNoLaunch) continue;
    for (const int32_t device : streams_.DevicesOf(wait.context_id)) {
      const uint32_t waiting = streams_.Find(device, wait.stream_id);
      const uint32_t recorded = streams_.Find(device, record.stream_id);
      if (waiting == kNone || recorded == kNone || waiting == recorded) continue;
      const uint32_t next =
          streams_.FirstLaunchedFrom(waiting, trace_.launches[wait.launch].start_ns);
      const uint32_t last =
          streams_.LastLaunchedBy(recorded, trace_.launches[record.launch].start_ns);
      if (next != kNone && last != kNone) stream_waits_.emplace_back(next, last);
      break;
    }
  }
  std::sort(stream_waits_.begin(), stream_waits_.end());
  stream_waits_.erase(std::unique(stream_waits_.begin(), stream_waits_.end()), stream_waits_.end());
}

int64_t StepGraph::Clipped(int64_t time_ns) const {
  return std::clamp(time_ns, span_.start_ns, span_.end_ns);
}

void StepGraph::Build(const Step& step, size_t place) {
  graph_.Clear();
  place_ = place;
  span_ = step.span;
  host_ = step.host;
  backward_ = 0;
  touched_.clear();
  TakeParts();
  TakeEvents();
  graph_.Reserve(first_work_ + events_.size() + 1, 2 * size_t{first_work_} + 3 * events_.size());
  graph_.AddNode();
  for (const Part& part : step_parts_) AddMoments(part);
  for (const uint32_t event : events_) AddWork(event);
  AddEnd();
}

void StepGraph::TakeParts() {
  while (next_part_ < parts_.size() && parts_[next_part_].step < place_) ++next_part_;
  const size_t first = next_part_;
  first_work_ = 1;
  for (; next_part_ < parts_.size() && parts_[next_part_].step == place_; ++next_part_) {
    parts_[next_part_].node = first_work_;
    first_work_ += parts_[next_part_].count;
  }
  step_parts_ = std::span(parts_).subspan(first, next_part_ - first);
}

void StepGraph::TakeEvents() {
  const std::span<const DeviceEvent> all = work_.events();
  events_.clear();
  for (const uint32_t event : running_) {
    if (all[event].end_ns > span_.start_ns) events_.push_back(event);
  }
  for (; next_event_ < all.size() && all[next_event_].start_ns < span_.end_ns; ++next_event_) {
    const DeviceEvent& event = all[next_event_];
    const auto index = static_cast<uint32_t>(next_event_);
    if (event.end_ns > span_.start_ns || event.start_ns >= span_.start_ns) {
      events_.push_back(index);
      continue;
    }
    Last& last = last_[streams_.StreamOf(index)];
    if (last.event == kNone || all[last.event].end_ns <= event.end_ns) last = {index, kNone};
  }
  running_.clear();
  for (const uint32_t event : events_) {
    if (all[event].end_ns > span_.end_ns) running_.push_back(event);
  }
  if (running_.size() <= kMostRunning) return;
  std::nth_element(running_.begin(), running_.begin() + kMostRunning, running_.end(),
                   [&](uint32_t a, uint32_t b) {
                     return std::pair(all[b].end_ns, a) < std::pair(all[a].end_ns, b);
                   });
  running_.resize(kMostRunning);
  std::sort(running_.begin(), running_.end());
}

uint32_t StepGraph::NodeOfMoment(uint32_t moment) const {
  if (moment == HostMoments::kNone) return kNone;
  const auto after = std::partition_point(step_parts_.begin(), step_parts_.end(),
                                          [&](const Part& part) { return part.first <= moment; });
  if (after == step_parts_.begin()) return kNone;
  const Part& part = *(after - 1);
  return moment < part.first + part.count ? part.node + (moment - part.first) : kNone;
}

uint32_t StepGraph::NodeOfEvent(uint32_t event) const {
  const auto place = std::lower_bound(events_.begin(), events_.end(), event);
  if (place == events_.end() || *place != event) return kNone;
  return first_work_ + static_cast<uint32_t>(place - events_.begin());
}

int64_t StepGraph::TimeOf(uint32_t node) const {
  if (node == 0) return span_.start_ns;
  if (node >= first_work_ + events_.size()) return span_.end_ns;
  const HostMoment* const moment = MomentOf(node);
  return moment != nullptr ? moment->time_ns
                           : Clipped(work_.events()[events_[node - first_work_]].end_ns);
}

const HostMoment* StepGraph::MomentOf(uint32_t node) const {
  if (node == 0 || node >= first_work_) return nullptr;
  const auto after = std::partition_point(step_parts_.begin(), step_parts_.end(),
                                          [&](const Part& part) { return part.node <= node; });
  const Part& part = *(after - 1);
  return &moments_.all()[part.first + (node - part.node)];
}

ThreadIndex StepGraph::ThreadOf(uint32_t node) const {
  const auto after = std::partition_point(step_parts_.begin(), step_parts_.end(),
                                          [&](const Part& part) { return part.node <= node; });
  return after == step_parts_.begin() ? kNoThread : (after - 1)->thread;
}

int64_t StepGraph::StartOf(uint32_t node) const {
  return Clipped(work_.events()[EventOf(node)].start_ns);
}

void StepGraph::AddMoments(const Part& part) {
  uint32_t previous = 0;
  for (uint32_t i = 0; i < part.count; ++i) {
    const uint32_t node = graph_.AddNode();
    AddMoment(moments_.all()[part.first + i], previous);
    previous = node;
  }
}

void StepGraph::AddMoment(const HostMoment& moment, uint32_t previous) {
  const int64_t previous_ns = TimeOf(previous);
  const auto add_burst = [&](uint32_t other) {
    const uint32_t node = NodeOfMoment(other);
    if (node == kNone)
      return graph_.AddEdge(previous, LengthOf({previous_ns, moment.time_ns}), PathLink::kHost);
    graph_.AddEdge(node, 0, PathLink::kThread);
    graph_.AddEdge(previous, 0, PathLink::kHost);
  };
  switch (moment.kind) {
    case StepGraphKind::kWait:
      return AddWait(moments_.wait(moment.item), moment.time_ns, previous);
    case StepGraphKind::kCopied:
      awaited_.assign(1, moment.item);
      return AddAwaited(awaited_, work_.LaunchOf(work_.events()[moment.item]), moment.time_ns,
                        previous);
    case StepGraphKind::kReturn:
      return add_burst(moments_.MomentsOfBurst(moment.item).end);
    case StepGraphKind::kBegin:
      return add_burst(moments_.MomentsOfBurst(moment.item).hand_off);
    default:
      graph_.AddEdge(previous, LengthOf({previous_ns, moment.time_ns}), PathLink::kHost);
  }
}

void StepGraph::AddWait(const HostWait& wait, int64_t end_ns, uint32_t previous) {
  awaited_.clear();
  ListAwaited(wait, end_ns);
  AddAwaited(awaited_, wait.call, end_ns, previous);
}

/// The work that a call returning at `end_ns` may have waited for.
void StepGraph::ListAwaited(const HostWait& wait, int64_t end_ns) {
  const LaunchCall& call = trace_.launches[wait.call];
  const auto add = [&](uint32_t event) {
    if (event != kNone) awaited_.push_back(event);
  };
  const Synchronization known =
      wait.wait == kNoItem ? Synchronization() : trace_.synchronizations[wait.wait];
  const std::span<const int32_t> devices = streams_.DevicesOf(known.context_id);
  const bool recorded = known.kind == WaitKind::kEvent &&
                        known.event_record < trace_.event_records.size() &&
                        trace_.event_records[known.event_record].launch != kNoLaunch;
  if (known.kind == WaitKind::kStream || recorded) {
    const EventRecord* const record =
        recorded ? &trace_.event_records[known.event_record] : nullptr;
    const int64_t by_ns = recorded ? trace_.launches[record->launch].start_ns : call.start_ns;
    for (const int32_t device : devices) {
      const uint32_t stream = streams_.Find(device, recorded ? record->stream_id : known.stream_id);
      if (stream == kNone) continue;
      return add(streams_.LastLaunchedBy(stream, by_ns));
    }
  }
  size_t left = kMostStreams;
  for (const int32_t device : devices) {
    const std::span<const uint32_t> streams = streams_.StreamsOf(device);
    if (known.kind == WaitKind::kContext && streams.size() <= left) {
      left -= streams.size();
      for (const uint32_t stream : streams) {
        add(streams_.LastLaunchedBy(stream, call.start_ns));
      }
      continue;
    }
    // By times: what ended during the wait.
    const uint32_t event = streams_.LastEndedBy(device, end_ns);
    if (event != kNone && work_.events()[event].end_ns > call.start_ns) add(event);
    if (left-- == 0) return;
  }
}

void StepGraph::AddAwaited(std::span<const uint32_t> awaited, LaunchIndex call, int64_t end_ns,
                           uint32_t previous) {
  const std::span<const DeviceEvent> all = work_.events();
  const int64_t start_ns = Clipped(trace_.launches[call].start_ns);
  const int64_t previous_ns = TimeOf(previous);
  sources_.clear();
  size_t last = 0;
  for (const uint32_t event : awaited) {
    if (all[event].end_ns > end_ns) {
      ++backward_;
      continue;
    }
    const uint32_t node = NodeOfEvent(event);
    if (node == kNone) continue;
    sources_.push_back({node, all[event].end_ns, PathLink::kHostWait});
    if (sources_.back().time_ns > sources_[last].time_ns) last = sources_.size() - 1;
  }
  const bool waited = !sources_.empty() && sources_[last].time_ns > start_ns;
  if (waited) {
    graph_.AddEdge(sources_[last].node, LengthOf({sources_[last].time_ns, end_ns}),
                   PathLink::kHostWait);
  }
  graph_.AddEdge(previous, LengthOf({previous_ns, waited ? start_ns : end_ns}), PathLink::kHost);
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!waited || i != last) graph_.AddEdge(sources_[i].node, 0, PathLink::kHostWait);
  }
}

void StepGraph::AddWork(uint32_t event) {
  const DeviceEvent& work = work_.events()[event];
  const uint32_t node = graph_.AddNode();
  const int64_t start_ns = Clipped(work.start_ns);
  const int64_t end_ns = Clipped(work.end_ns);
  const uint32_t stream = streams_.StreamOf(event);
  Last& last = last_[stream];
  const bool here = last.event != kNone && last.step == place_;
  const int64_t last_ns = last.event == kNone ? 0 : Clipped(work_.events()[last.event].end_ns);
  sources_.clear();
  // If both overlap, the later one depends on the end of the earlier for the rest of its time.
  const bool overlaps = here && last_ns > start_ns;
  if (overlaps && end_ns > last_ns) {
    graph_.AddEdge(last.node, LengthOf({last_ns, end_ns}), PathLink::kStream);
  } else if (here && !overlaps) {
    sources_.push_back({last.node, last_ns, PathLink::kStream});
  } else if (last.event != kNone && !here) {
    sources_.push_back({0, span_.start_ns, PathLink::kStream});
  }
  const bool bound = overlaps && end_ns > last_ns;
  if (work.start_ns < span_.start_ns) {
    sources_.clear();
  } else {
    AddSources(event, work, start_ns);
  }
  if (sources_.empty() && !bound) sources_.push_back({0, span_.start_ns, PathLink::kStart});
  size_t binding = SIZE_MAX;
  for (size_t i = 0; i < sources_.size() && !bound; ++i) {
    if (binding == SIZE_MAX || sources_[i].time_ns > sources_[binding].time_ns) binding = i;
  }
  if (binding != SIZE_MAX) {
    graph_.AddEdge(sources_[binding].node, LengthOf({sources_[binding].time_ns, end_ns}),
                   sources_[binding].link);
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    // The start precedes everything.
    if (i == binding || sources_[i].node == 0) continue;
    graph_.AddEdge(sources_[i].node, LengthOf({start_ns, end_ns}), sources_[i].link);
  }
  if (!here) touched_.push_back(stream);
  if (!here || end_ns >= last_ns) last = {event, node, place_};
}

/// Dependencies of work other than the previous work in its stream.
void StepGraph::AddSources(uint32_t event, const DeviceEvent& work, int64_t start_ns) {
  const auto add = [&](int64_t time_ns, uint32_t node, PathLink link) {
    if (time_ns > work.start_ns) {
      ++backward_;
    } else if (time_ns <= span_.start_ns) {
      sources_.push_back({0, span_.start_ns, link});
    } else if (node != kNone) {
      sources_.push_back({node, time_ns, link});
    }
  };
  const auto first = std::lower_bound(stream_waits_.begin(), stream_waits_.end(),
                                      std::pair<uint32_t, uint32_t>(event, 0));
  for (auto wait = first; wait != stream_waits_.end() && wait->first == event; ++wait) {
    add(work_.events()[wait->second].end_ns, NodeOfEvent(wait->second), PathLink::kStreamWait);
  }
  const LaunchIndex launch = work_.LaunchOf(work);
  if (launch != kNoLaunch) {
    add(trace_.launches[launch].start_ns, NodeOfMoment(moments_.MomentOf(launch)),
        PathLink::kLaunch);
  }
  AddInferred(event, work, start_ns);
}

/// Infers dependencies from times: inside a graph, if the file records no stream waits, and for
/// work without a known call. Such work did not begin although its stream was free and its call had
/// returned long before.
void StepGraph::AddInferred(uint32_t event, const DeviceEvent& work, int64_t start_ns) {
  int64_t ready_ns = span_.start_ns;
  for (const Source& source : sources_) ready_ns = std::max(ready_ns, source.time_ns);
  if (ready_ns >= start_ns) return;
  const LaunchIndex launch = work_.LaunchOf(work);
  const bool graph = work.IsKernel() && trace_.kernels[work.index].graph;
  const bool late =
      launch == kNoLaunch || (!waits_recorded_ && LengthOf({ready_ns, start_ns}) > kLongCallNs &&
                              LengthOf({trace_.launches[launch].end_ns, start_ns}) > kLongCallNs);
  if (!graph && !late) return;
  const uint32_t other = streams_.LastEndedBy(work.device_id, start_ns, event);
  if (other == kNone || streams_.StreamOf(other) == streams_.StreamOf(event)) return;
  const DeviceEvent& found = work_.events()[other];
  const bool same_replay = graph && work_.LaunchOf(found) == launch;
  if (found.end_ns <= ready_ns || (!same_replay && !late)) return;
  const uint32_t node = NodeOfEvent(other);
  if (node == kNone) return;
  sources_.push_back({node, found.end_ns, same_replay ? PathLink::kGraph : PathLink::kStreamWait});
}

void StepGraph::AddEnd() {
  main_thread_ = most_ranges_;
  main_end_ns_ = Clipped(host_.end_ns);
  const Part* main = nullptr;
  for (const Part& part : step_parts_) {
    if (moments_.IsEngine(part.thread) || (main != nullptr && part.count <= main->count)) continue;
    main = &part;
  }
  if (main != nullptr) main_thread_ = main->thread;
  sources_.clear();
  for (const uint32_t stream : touched_) {
    const Last& last = last_[stream];
    sources_.push_back({last.node, TimeOf(last.node), PathLink::kEnd});
  }
  for (const Part& part : step_parts_) {
    const uint32_t node = part.node + part.count - 1;
    const int64_t time_ns = TimeOf(node);
    sources_.push_back(
        {node, &part == main ? std::max(time_ns, main_end_ns_) : time_ns, PathLink::kEnd});
  }
  // A thread without dependencies on the GPU.
  if (main == nullptr) {
    const bool known = main_thread_ != kNoThread;
    sources_.push_back({0, known ? main_end_ns_ : span_.start_ns, PathLink::kEnd});
  }
  graph_.AddNode();
  size_t binding = 0;
  for (size_t i = 1; i < sources_.size(); ++i) {
    if (sources_[i].time_ns > sources_[binding].time_ns) binding = i;
  }
  const Source& last = sources_[binding];
  graph_.AddEdge(last.node, LengthOf({TimeOf(last.node), span_.end_ns}), PathLink::kEnd);
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (i == binding) continue;
    const Source& source = sources_[i];
    graph_.AddEdge(source.node, LengthOf({TimeOf(source.node), source.time_ns}), PathLink::kEnd);
  }
}

}  // namespace oplens::prof
