#include "prof/path/hta_path.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "prof/path/hta_path_events.h"
#include "prof/run/hta_events.h"

namespace oplens::prof {
namespace {

using Event = HtaPathEvent;
using Kind = HtaPathEvent::Kind;

constexpr uint32_t kNone = UINT32_MAX;

enum class Type : uint8_t { kOperator, kDependency, kLaunch, kKernelKernel, kSync };

constexpr std::string_view kTypeWords[] = {
    "critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
    "critical_path_kernel_kernel_delay", "critical_path_sync_dependency"};

/// Gaps of a stream that are longer have some other cause.
constexpr int64_t kMostKernelGapUs = 1500;

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Without template arguments, parameters and what stands before the last blank.
std::string ShortName(std::string_view name) {
  if (HtaClassOf(name) == HtaClass::kMemory || name.find_first_of("<(") == name.npos) {
    return std::string(name);
  }
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with("->")) {
      ++i;
      continue;
    }
    const char open = name[i] == '>' ? '<' : name[i] == ')' ? '(' : '\0';
    if (open == '\0') {
      text.push_back(name[i]);
      continue;
    }
    const size_t place = text.rfind(open);
    text.resize(place == text.npos ? 0 : place);
  }
  const size_t blank = text.rfind(' ');
  return blank == text.npos ? text : text.substr(blank + 1);
}

struct Node {
  int64_t time_us = 0;
  uint32_t event = 0;
  bool is_start = false;
};

struct Edge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t weight_us = 0;
  Type type = Type::kOperator;
  uint32_t event = kNone;  ///< That its time is attributed to.
};

/// Edges in the order in which they were first added; one that is added again replaces the former.
class EdgeList {
 public:
  void Add(const Edge& edge) {
    const uint64_t key = uint64_t{edge.from} << 32 | edge.to;
    const auto [place, is_new] = places_.try_emplace(key, edges_.size());
    if (is_new) {
      edges_.push_back(edge);
    } else {
      edges_[place->second] = edge;
    }
  }
  std::vector<Edge>& all() { return edges_; }

 private:
  std::vector<Edge> edges_;
  std::unordered_map<uint64_t, size_t> places_;
};

/// The graph of the events in a window.
class Graph {
 public:
  Graph(const HtaPathEvents& events, int64_t first_us, int64_t last_us)
      : events_(events), starts_(events.all().size(), kNone), ends_(events.all().size(), kNone) {
    Clip(first_us, last_us);
    MakeNodes();
    AddLocks();
    AddCallStacks();
    AddWork();
  }

  std::vector<Edge> LongestPath();
  const HtaPathEvents& events() const { return events_; }

 private:
  void Clip(int64_t first_us, int64_t last_us);
  void MakeNodes();
  void AddLocks();
  void AddCallStacks();
  void AddCallStack(std::vector<uint32_t> events);
  void AddWork();
  void FindRecords();
  void TakeWait(const Event& wait);
  void TakeWork(uint32_t index);
  uint32_t NextLaunch(const Event& wait) const;
  bool HoldsLock(uint32_t node) const {
    const Event& event = events_[nodes_[node].event];
    return event.kind != Kind::kWait &&
           IsOneOf(events_.NameOf(event), {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"});
  }
  bool ShareLock(uint32_t first, uint32_t second) const {
    return HoldsLock(first) && HoldsLock(second) &&
           (nodes_[first].is_start || !nodes_[second].is_start);
  }
  void Add(uint32_t from, uint32_t to, Type type, uint32_t parent = kNone, bool is_free = false);
  std::optional<int64_t> ThreadWith(std::string_view part) const;

  const HtaPathEvents& events_;
  std::vector<uint32_t> clipped_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> starts_;  // Nodes by event.
  std::vector<uint32_t> ends_;
  EdgeList edges_;
  std::vector<uint32_t> launches_;  // Calls whose work is known, by start.
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> launches_by_;  // Thread, stream.
  std::unordered_map<int64_t, uint32_t> last_launch_;         // Before a recording, by its call.
  std::vector<std::pair<int64_t, uint32_t>> last_of_stream_;  // Nodes, in the order of first use.
  std::unordered_map<uint32_t, uint32_t> work_waits_;         // For other work.
};

void Graph::Clip(int64_t first_us, int64_t last_us) {
  const auto starts_within = [&](const Event& event) {
    return event.start_us >= first_us && event.start_us <= last_us && event.duration_us() > 0;
  };
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const Event& event = all[i];
    const bool kept = event.stream == -1
                          ? starts_within(event)
                          : (event.link != Event::kNone && starts_within(all[event.link])) ||
                                event.wait == WaitKind::kStreamWaitEvent;
    if (kept) clipped_.push_back(i);
  }
}

void Graph::MakeNodes() {
  for (const bool is_start : {true, false}) {
    for (const uint32_t index : clipped_) {
      const Event& event = events_[index];
      const bool on_host = event.kind == Kind::kOperator || event.kind == Kind::kCall;
      if (!on_host && (event.OnHost() || event.stream == -1)) continue;
      nodes_.push_back({is_start ? event.start_us : event.end_us, index, is_start});
    }
  }
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
    return std::pair(a.time_us, a.event) < std::pair(b.time_us, b.event);
  });
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    (nodes_[i].is_start ? starts_ : ends_)[nodes_[i].event] = i;
  }
}

void Graph::Add(uint32_t from, uint32_t to, Type type, uint32_t parent, bool is_free) {
  Edge edge = {from, to, 0, type, kNone};
  const Node& source = nodes_[from];
  const Node& target = nodes_[to];
  if (type != Type::kDependency && type != Type::kSync && !is_free) {
    edge.weight_us = target.time_us - source.time_us;
  }
  if (type == Type::kKernelKernel || (type == Type::kOperator && source.is_start)) {
    edge.event = source.event;
  } else if (type == Type::kOperator) {
    edge.event = target.is_start ? parent : target.event;
  }
  edges_.Add(edge);
}

/// Of calls that hold the runtime's lock one runs at a time: in the order in which they return.
void Graph::AddLocks() {
  std::vector<uint32_t> open;
  uint32_t last = kNone;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!HoldsLock(i)) continue;
    if (nodes_[i].is_start) {
      open.push_back(i);
    } else {
      for (; !open.empty(); open.pop_back()) {
        const bool own = nodes_[open.back()].event == nodes_[i].event;
        Add(open.back(), i, own ? Type::kOperator : Type::kDependency);
      }
      if (last != kNone && !nodes_[last].is_start) Add(last, i, Type::kDependency);
    }
    last = i;
  }
}

/// The one thread of the operators and annotations whose name holds a text.
std::optional<int64_t> Graph::ThreadWith(std::string_view part) const {
  std::set<int64_t> threads;
  for (const uint32_t index : clipped_) {
    const Event& event = events_[index];
    if ((event.kind == Kind::kOperator || event.kind == Kind::kOther) &&
        events_.NameOf(event).find(part) != std::string_view::npos) {
      threads.insert(event.thread_id);
    }
  }
  return threads.size() == 1 ? std::optional(*threads.begin()) : std::nullopt;
}

void Graph::AddCallStacks() {
  const std::optional<int64_t> forward = ThreadWith("forward");
  const std::optional<int64_t> backward = ThreadWith("autograd");
  std::map<int64_t, std::vector<uint32_t>> threads;
  for (const uint32_t index : clipped_) {
    const Event& event = events_[index];
    if (!event.OnHost()) continue;
    const bool merged = forward && backward && event.thread_id == *backward;
    threads[merged ? *forward : event.thread_id].push_back(index);
  }
  for (auto& [thread, events] : threads) AddCallStack(std::move(events));
}

/// What is nested follows each other; of what is not only the order is kept.
void Graph::AddCallStack(std::vector<uint32_t> events) {
  struct Point {
    int64_t time_us;
    int64_t order;  // Ends first, shorter ones before longer; then starts, longer ones first.
    int64_t tie;
    uint32_t event;
    bool is_start;
    auto key() const { return std::tuple(time_us, is_start, order, tie); }
  };
  std::vector<Point> points;
  for (const uint32_t index : events) {
    const Event& event = events_[index];
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
  uint32_t last = kNone;
  uint32_t last_parent = kNone;
  int64_t depth = 0;
  for (const Point& point : points) {
    Open at = {point.event, open.empty() ? kNone : open.back().event};
    if (point.is_start) {
      open.push_back(at);
    } else {
      // Where events cross, what opened last ends first.
      at = open.back();
      open.pop_back();
    }
    const uint32_t node = (point.is_start ? starts_ : ends_)[at.event];
    if (node == kNone) continue;
    if (last != kNone && !ShareLock(last, node)) {
      const bool waits =
          !point.is_start &&
          IsOneOf(events_.NameOf(events_[at.event]),
                  {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
                   "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync"});
      const bool next_of_thread = point.is_start && depth == 0;
      Add(last, node, next_of_thread ? Type::kDependency : Type::kOperator, last_parent, waits);
    }
    last = node;
    last_parent = at.parent;
    depth += point.is_start ? 1 : -1;
  }
}

/// The last launch into the stream of an event before it was recorded.
void Graph::FindRecords() {
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (events_.Launches(all[i]) && all[i].link != kNone && all[all[i].link].stream != -1) {
      launches_.push_back(i);
    }
  }
  std::stable_sort(launches_.begin(), launches_.end(),
                   [&](uint32_t a, uint32_t b) { return all[a].start_us < all[b].start_us; });
  for (const uint32_t launch : launches_) {
    launches_by_[{all[launch].thread_id, all[all[launch].link].stream}].push_back(launch);
  }
  std::unordered_map<int64_t, int64_t> streams;  // By correlation id of the recording.
  for (const Event& event : all) {
    if (event.record_stream >= 0) streams[event.record_correlation_id] = event.record_stream;
  }
  std::vector<uint32_t> records;
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == Kind::kCall && streams.contains(all[i].correlation_id) &&
        events_.NameOf(all[i]) == "cudaEventRecord") {
      records.push_back(i);
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [&](uint32_t a, uint32_t b) { return all[a].start_us < all[b].start_us; });
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

/// The next launch of a thread into the stream that waits.
uint32_t Graph::NextLaunch(const Event& wait) const {
  const Event& call = events_[wait.link];
  const auto launches = launches_by_.find({call.thread_id, wait.stream});
  if (launches == launches_by_.end()) return kNone;
  const std::vector<uint32_t>& list = launches->second;
  const auto first = std::partition_point(list.begin(), list.end(), [&](uint32_t launch) {
    return events_[launch].start_us < call.start_us;
  });
  return first == list.end() ? kNone : *first;
}

void Graph::TakeWait(const Event& wait) {
  const uint32_t end = wait.link == kNone ? kNone : ends_[wait.link];
  const bool for_event = wait.wait == WaitKind::kEvent || wait.wait == WaitKind::kStreamWaitEvent;
  if (for_event) {
    const auto launch = last_launch_.find(wait.record_correlation_id);
    if (launch == last_launch_.end() || wait.link == kNone) return;
    const uint32_t source = events_[launch->second].link;
    if (wait.wait == WaitKind::kStreamWaitEvent) {
      const uint32_t next = NextLaunch(wait);
      if (next != kNone) work_waits_[events_[next].link] = source;
    } else if (ends_[source] != kNone && end != kNone) {
      Add(ends_[source], end, Type::kSync);
    }
    return;
  }
  if (end == kNone || (wait.wait != WaitKind::kStream && wait.wait != WaitKind::kContext)) return;
  for (const auto& [stream, node] : last_of_stream_) {
    if (wait.wait == WaitKind::kContext || stream == wait.stream) Add(node, end, Type::kSync);
  }
}

void Graph::TakeWork(uint32_t index) {
  const Event& event = events_[index];
  const uint32_t start = starts_[index];
  const uint32_t end = ends_[index];
  Add(start, end, Type::kOperator);
  std::optional<int64_t> source_us;
  const auto wait = work_waits_.find(index);
  if (wait != work_waits_.end()) {
    if (ends_[wait->second] != kNone) {
      source_us = nodes_[ends_[wait->second]].time_us;
      Add(ends_[wait->second], start, Type::kSync);
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
    if (starts_[event.link] != kNone) Add(starts_[event.link], start, Type::kLaunch);
  } else if (any && event.start_us - last_us < kMostKernelGapUs &&
             (!source_us || *source_us < last_us)) {
    Add(last->second, start, Type::kKernelKernel);
  }
  if (any) {
    last->second = end;
  } else {
    last_of_stream_.emplace_back(event.stream, end);
  }
}

void Graph::AddWork() {
  FindRecords();
  std::vector<uint32_t> work;
  for (const uint32_t index : clipped_) {
    const Event& event = events_[index];
    if (event.OnHost() || event.link == kNone) continue;
    const bool whole_device = event.wait == WaitKind::kEvent || event.wait == WaitKind::kContext;
    if (event.stream != -1 || whole_device) work.push_back(index);
  }
  const auto key = [&](uint32_t index) {
    const Event& event = events_[index];
    return event.kind == Kind::kWait ? event.end_us : event.start_us;
  };
  std::stable_sort(work.begin(), work.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (const uint32_t index : work) {
    if (events_[index].kind == Kind::kWait) {
      TakeWait(events_[index]);
    } else {
      TakeWork(index);
    }
  }
}

/// Nodes in generations: those on which nothing is left to wait for, again and again.
std::vector<Edge> Graph::LongestPath() {
  std::vector<Edge>& edges = edges_.all();
  std::vector<std::vector<uint32_t>> into(nodes_.size());
  std::vector<std::vector<uint32_t>> out_of(nodes_.size());
  std::vector<size_t> left(nodes_.size(), 0);
  for (uint32_t i = 0; i < edges.size(); ++i) {
    into[edges[i].to].push_back(i);
    out_of[edges[i].from].push_back(edges[i].to);
    ++left[edges[i].to];
    edges[i].weight_us = std::max<int64_t>(edges[i].weight_us, 0);
    const int64_t stream = events_[nodes_[edges[i].from].event].stream;
    const bool same_stream = stream == events_[nodes_[edges[i].to].event].stream;
    if (edges[i].type == Type::kSync && stream != -1 && same_stream) return {};
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (left[i] == 0) order.push_back(i);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t node : out_of[order[i]]) {
      if (--left[node] == 0) order.push_back(node);
    }
  }
  if (order.size() != nodes_.size() || order.empty()) return {};
  std::vector<int64_t> length_us(nodes_.size(), 0);
  std::vector<uint32_t> best(nodes_.size(), kNone);
  uint32_t last = order.front();
  for (const uint32_t node : order) {
    for (const uint32_t i : into[node]) {
      const int64_t found_us = length_us[edges[i].from] + edges[i].weight_us;
      if (best[node] != kNone && found_us <= length_us[node]) continue;
      best[node] = i;
      length_us[node] = found_us;
    }
    if (length_us[node] > length_us[last]) last = node;
  }
  std::vector<Edge> path;
  for (; best[last] != kNone; last = edges[best[last]].from) path.push_back(edges[best[last]]);
  std::reverse(path.begin(), path.end());
  return path;
}

std::string_view BoundBy(const Edge& edge, int64_t stream, std::string_view name) {
  switch (edge.type) {
    case Type::kKernelKernel:
      return "gpu_kernel_kernel_overhead";
    case Type::kLaunch:
      return "gpu_kernel_launch_overhead";
    case Type::kDependency:
    case Type::kSync:
      return "";
    default:
      break;
  }
  if (stream < 0) return "cpu_bound";
  return HtaClassOf(name) == HtaClass::kCommunication ? "gpu_communication_bound"
                                                      : "gpu_compute_bound";
}

}  // namespace

std::vector<HtaPathEdge> HtaCriticalPath(const Trace& trace, std::string_view annotation,
                                         size_t instance) {
  const HtaPathEvents events(trace);
  std::optional<std::pair<int64_t, int64_t>> window;
  size_t number = 0;
  for (const Event& event : events.all()) {
    if (annotation.empty()) {
      if (!window) window = {event.start_us, event.end_us};
      window = {std::min(window->first, event.start_us), std::max(window->second, event.end_us)};
    } else if (event.kind != Kind::kWait &&
               events.NameOf(event).find(annotation) != std::string_view::npos &&
               number++ == instance) {
      window = {event.start_us, event.end_us};
    }
  }
  if (!window) return {};
  Graph graph(events, window->first, window->second);
  std::vector<HtaPathEdge> path;
  for (const Edge& edge : graph.LongestPath()) {
    HtaPathEdge& row = path.emplace_back();
    row.time_us = edge.weight_us;
    row.type = kTypeWords[static_cast<size_t>(edge.type)];
    if (edge.event != kNone) {
      row.name = ShortName(events.NameOf(events[edge.event]));
      row.stream = events[edge.event].stream;
    }
    row.bound_by = BoundBy(edge, row.stream, row.name);
  }
  return path;
}

}  // namespace oplens::prof
