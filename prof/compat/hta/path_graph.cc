#include "prof/compat/hta/path_graph.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "prof/compat/hta/activity.h"

namespace oplens::prof {
namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Sorts by a time as the reference does: see HtaOrder.
template <typename Key>
void SortByTime(const Key& key_us, std::vector<uint32_t>* events) {
  std::vector<int64_t> keys;
  for (const uint32_t event : *events) keys.push_back(key_us(event));
  std::vector<uint32_t> sorted;
  for (const uint32_t place : HtaOrder(keys)) sorted.push_back((*events)[place]);
  *events = std::move(sorted);
}

/// Longer gaps of a stream have another cause.
constexpr int64_t kMostKernelGapUs = 1500;

}  // namespace

bool HtaPathGraph::HoldsLock(uint32_t node) const {
  const HtaPathEvent& event = events_[nodes_[node].event];
  return event.kind != HtaPathEvent::Kind::kWait &&
         IsOneOf(events_.NameOf(event), {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"});
}

void HtaPathGraph::Clip(int64_t first_us, int64_t last_us) {
  const auto starts_within = [&](const HtaPathEvent& event) {
    return event.start_us >= first_us && event.start_us <= last_us && event.duration_us() > 0;
  };
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const HtaPathEvent& event = all[i];
    // Of the work of one call, such as a graph's, only the last is found.
    const bool launched_within = event.link != HtaPathEvent::kNone && all[event.link].link == i &&
                                 starts_within(all[event.link]);
    const bool kept = event.stream == -1
                          ? starts_within(event)
                          : launched_within || event.wait == WaitKind::kStreamWaitEvent;
    if (kept) clipped_.push_back(i);
  }
}

void HtaPathGraph::MakeNodes() {
  for (const bool is_start : {true, false}) {
    for (const uint32_t index : clipped_) {
      const HtaPathEvent& event = events_[index];
      const bool on_host =
          event.kind == HtaPathEvent::Kind::kOperator || event.kind == HtaPathEvent::Kind::kCall;
      if (!on_host && (event.OnHost() || event.stream == -1)) continue;
      nodes_.push_back({is_start ? event.start_us : event.end_us, index, is_start});
    }
  }
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const HtaPathNode& a, const HtaPathNode& b) {
    return std::pair(a.time_us, a.event) < std::pair(b.time_us, b.event);
  });
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    (nodes_[i].is_start ? starts_ : ends_)[nodes_[i].event] = i;
  }
}

void HtaPathGraph::Add(uint32_t from, uint32_t to, HtaEdgeType type, uint32_t parent,
                       bool is_free) {
  HtaGraphEdge edge = {from, to, 0, type, HtaPathEvent::kNone};
  const HtaPathNode& source = nodes_[from];
  const HtaPathNode& target = nodes_[to];
  if (type != HtaEdgeType::kDependency && type != HtaEdgeType::kSync && !is_free) {
    edge.weight_us = target.time_us - source.time_us;
  }
  if (type == HtaEdgeType::kKernelKernel || (type == HtaEdgeType::kOperator && source.is_start)) {
    edge.event = source.event;
  } else if (type == HtaEdgeType::kOperator) {
    edge.event = target.is_start ? parent : target.event;
  }
  edges_.Add(edge);
}

/// Calls that hold the runtime's lock run one at a time, in the order in which they return.
void HtaPathGraph::AddLocks() {
  std::vector<uint32_t> open;
  uint32_t last = HtaPathEvent::kNone;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!HoldsLock(i)) continue;
    if (nodes_[i].is_start) {
      open.push_back(i);
    } else {
      for (; !open.empty(); open.pop_back()) {
        const bool own = nodes_[open.back()].event == nodes_[i].event;
        Add(open.back(), i, own ? HtaEdgeType::kOperator : HtaEdgeType::kDependency);
      }
      if (last != HtaPathEvent::kNone && !nodes_[last].is_start)
        Add(last, i, HtaEdgeType::kDependency);
    }
    last = i;
  }
}

/// The thread of the operators and annotations whose name contains a text, if there is exactly one.
std::optional<int64_t> HtaPathGraph::ThreadWith(std::string_view part) const {
  std::set<int64_t> threads;
  for (const uint32_t index : clipped_) {
    const HtaPathEvent& event = events_[index];
    if ((event.kind == HtaPathEvent::Kind::kOperator || event.kind == HtaPathEvent::Kind::kOther) &&
        events_.NameOf(event).find(part) != std::string_view::npos) {
      threads.insert(event.thread_id);
    }
  }
  return threads.size() == 1 ? std::optional(*threads.begin()) : std::nullopt;
}

void HtaPathGraph::AddCallStacks() {
  const std::optional<int64_t> forward = ThreadWith("forward");
  const std::optional<int64_t> backward = ThreadWith("autograd");
  std::map<int64_t, std::vector<uint32_t>> threads;
  for (const uint32_t index : clipped_) {
    const HtaPathEvent& event = events_[index];
    if (!event.OnHost()) continue;
    const bool merged = forward && backward && event.thread_id == *backward;
    threads[merged ? *forward : event.thread_id].push_back(index);
  }
  for (auto& [thread, events] : threads) AddCallStack(std::move(events));
}

/// Nested events depend on each other; of others only the order is kept.
void HtaPathGraph::AddCallStack(std::vector<uint32_t> events) {
  struct Point {
    int64_t time_us;
    int64_t order;  // Ends first, shorter events before longer; then starts, longer events first.
    int64_t tie;
    uint32_t event;
    bool is_start;
    auto key() const { return std::tuple(time_us, is_start, order, tie); }
  };
  std::vector<Point> points;
  for (const uint32_t index : events) {
    const HtaPathEvent& event = events_[index];
    const int64_t length_us = event.duration_us();
    points.push_back({event.start_us, -length_us, int64_t{index}, index, true});
    points.push_back({event.end_us, length_us, -int64_t{index}, index, false});
  }
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.key() < b.key(); });
  struct Open {
    uint32_t event;
    uint32_t parent;
  };
  std::vector<Open> open;
  uint32_t last = HtaPathEvent::kNone;
  uint32_t last_parent = HtaPathEvent::kNone;
  int64_t depth = 0;
  for (const Point& point : points) {
    Open at = {point.event, open.empty() ? HtaPathEvent::kNone : open.back().event};
    if (point.is_start) {
      open.push_back(at);
    } else {
      // If events cross, the one that opened last ends first.
      at = open.back();
      open.pop_back();
    }
    const uint32_t node = (point.is_start ? starts_ : ends_)[at.event];
    if (node == HtaPathEvent::kNone) continue;
    if (last != HtaPathEvent::kNone && !ShareLock(last, node)) {
      const bool waits =
          !point.is_start &&
          IsOneOf(events_.NameOf(events_[at.event]),
                  {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
                   "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync"});
      const bool next_of_thread = point.is_start && depth == 0;
      Add(last, node, next_of_thread ? HtaEdgeType::kDependency : HtaEdgeType::kOperator,
          last_parent, waits);
    }
    last = node;
    last_parent = at.parent;
    depth += point.is_start ? 1 : -1;
  }
}

/// The last launch into a wait's stream before its event was recorded.
void HtaPathGraph::FindRecords() {
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (events_.Launches(all[i]) && all[i].link != HtaPathEvent::kNone &&
        all[all[i].link].stream != -1) {
      launches_.push_back(i);
    }
  }
  const auto start_of = [&](uint32_t event) { return all[event].start_us; };
  SortByTime(start_of, &launches_);
  for (const uint32_t launch : launches_) {
    launches_by_[{all[launch].thread_id, all[all[launch].link].stream}].push_back(launch);
  }
  std::unordered_map<int64_t, int64_t> streams;  // By correlation id of the recording.
  for (const HtaPathEvent& event : all) {
    if (event.record_stream >= 0) streams[event.record_correlation_id] = event.record_stream;
  }
  std::vector<uint32_t> records;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == HtaPathEvent::Kind::kCall && streams.contains(all[i].correlation_id) &&
        events_.NameOf(all[i]) == "cudaEventRecord") {
      records.push_back(i);
    }
  }
  SortByTime(start_of, &records);
  std::unordered_map<int64_t, uint32_t> last;  // By stream.
  size_t next = 0;
  for (const uint32_t record : records) {
    for (; next < launches_.size() && all[launches_[next]].start_us <= all[record].start_us;
         ++next) {
      last[all[all[launches_[next]].link].stream] = launches_[next];
    }
    const auto found = last.find(streams[all[record].correlation_id]);
    if (found != last.end()) last_launch_[all[record].correlation_id] = found->second;
  }
}

/// The next launch of a thread into the waiting stream.
uint32_t HtaPathGraph::NextLaunch(const HtaPathEvent& wait) const {
  const HtaPathEvent& call = events_[wait.link];
  const auto launches = launches_by_.find({call.thread_id, wait.stream});
  if (launches == launches_by_.end()) return HtaPathEvent::kNone;
  const std::vector<uint32_t>& list = launches->second;
  const auto first = std::partition_point(list.begin(), list.end(), [&](uint32_t launch) {
    return events_[launch].start_us < call.start_us;
  });
  return first == list.end() ? HtaPathEvent::kNone : *first;
}

void HtaPathGraph::TakeWait(const HtaPathEvent& wait) {
  const uint32_t end = wait.link == HtaPathEvent::kNone ? HtaPathEvent::kNone : ends_[wait.link];
  const bool for_event = wait.wait == WaitKind::kEvent || wait.wait == WaitKind::kStreamWaitEvent;
  if (for_event) {
    const auto launch = last_launch_.find(wait.record_correlation_id);
    if (launch == last_launch_.end() || wait.link == HtaPathEvent::kNone) return;
    const uint32_t source = events_[launch->second].link;
    if (wait.wait == WaitKind::kStreamWaitEvent) {
      const uint32_t next = NextLaunch(wait);
      if (next != HtaPathEvent::kNone) work_waits_[events_[next].link] = source;
    } else if (ends_[source] != HtaPathEvent::kNone && end != HtaPathEvent::kNone) {
      Add(ends_[source], end, HtaEdgeType::kSync);
    }
    return;
  }
  if (end == HtaPathEvent::kNone ||
      (wait.wait != WaitKind::kStream && wait.wait != WaitKind::kContext))
    return;
  for (const auto& [stream, node] : last_of_stream_) {
    if (wait.wait == WaitKind::kContext || stream == wait.stream)
      Add(node, end, HtaEdgeType::kSync);
  }
}

void HtaPathGraph::TakeWork(uint32_t index) {
  const HtaPathEvent& event = events_[index];
  const uint32_t start = starts_[index];
  const uint32_t end = ends_[index];
  Add(start, end, HtaEdgeType::kOperator);
  std::optional<int64_t> source_us;
  const auto wait = work_waits_.find(index);
  if (wait != work_waits_.end()) {
    if (ends_[wait->second] != HtaPathEvent::kNone) {
      source_us = nodes_[ends_[wait->second]].time_us;
      Add(ends_[wait->second], start, HtaEdgeType::kSync);
    }
    work_waits_.erase(wait);
  }
  const auto last = std::find_if(last_of_stream_.begin(), last_of_stream_.end(),
                                 [&](const auto& item) { return item.first == event.stream; });
  const bool any = last != last_of_stream_.end();
  const int64_t last_us = any ? nodes_[last->second].time_us : 0;
  const int64_t call_us = events_[event.link].start_us;
  const bool queue_empty = events_.QueueAt(event.link) == 1 && events_.QueueAt(index) == 0;
  if (queue_empty && (!any || last_us < call_us) && (!source_us || *source_us < call_us)) {
    if (starts_[event.link] != HtaPathEvent::kNone)
      Add(starts_[event.link], start, HtaEdgeType::kLaunch);
  } else if (any && event.start_us - last_us < kMostKernelGapUs &&
             (!source_us || *source_us < last_us)) {
    Add(last->second, start, HtaEdgeType::kKernelKernel);
  }
  if (any) {
    last->second = end;
  } else {
    last_of_stream_.emplace_back(event.stream, end);
  }
}

void HtaPathGraph::AddWork() {
  FindRecords();
  std::vector<uint32_t> work;
  for (const uint32_t index : clipped_) {
    const HtaPathEvent& event = events_[index];
    if (event.OnHost() || event.link == HtaPathEvent::kNone) continue;
    const bool whole_device = event.wait == WaitKind::kEvent || event.wait == WaitKind::kContext;
    if (event.stream != -1 || whole_device) work.push_back(index);
  }
  const auto key = [&](uint32_t index) {
    const HtaPathEvent& event = events_[index];
    return event.kind == HtaPathEvent::Kind::kWait ? event.end_us : event.start_us;
  };
  SortByTime(key, &work);
  for (const uint32_t index : work) {
    if (events_[index].kind == HtaPathEvent::Kind::kWait) {
      TakeWait(events_[index]);
    } else {
      TakeWork(index);
    }
  }
}

}  // namespace oplens::prof
