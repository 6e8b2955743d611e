#include "prof/path/hta_path_graph.h"

#include <set>
#include <tuple>

namespace oplens::prof {
namespace {

using HtaPathGraphEvent = HtaPathEvent;
using HtaPathGraphKind = HtaPathEvent::Kind;

constexpr uint32_t kHtaPathGraphNone = HtaPathEvent::kNone;

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool HtaPathGraph::HoldsLock(uint32_t node) const {
  const HtaPathGraphEvent& event = events_[nodes_[node].event];
  return event.kind != HtaPathGraphKind::kWait &&
         IsOneOf(events_.NameOf(event), {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"});
}

void HtaPathGraph::Clip(int64_t first_us, int64_t last_us) {
  const auto starts_within = [&](const HtaPathGraphEvent& event) {
    return event.start_us >= first_us && event.start_us <= last_us && event.duration_us() > 0;
  };
  const auto all = events_.all();
  for (uint32_t i = 0; i < all.size(); ++i) {
    const HtaPathGraphEvent& event = all[i];
    const bool kept = event.stream == -1 ? starts_within(event)
                                         : (event.link != HtaPathGraphEvent::kNone &&
                                            starts_within(all[event.link])) ||
                                               event.wait == WaitKind::kStreamWaitEvent;
    if (kept) clipped_.push_back(i);
  }
}

void HtaPathGraph::MakeNodes() {
  for (const bool is_start : {true, false}) {
    for (const uint32_t index : clipped_) {
      const HtaPathGraphEvent& event = events_[index];
      const bool on_host =
          event.kind == HtaPathGraphKind::kOperator || event.kind == HtaPathGraphKind::kCall;
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
  HtaGraphEdge edge = {from, to, 0, type, kHtaPathGraphNone};
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

/// Of calls that hold the runtime's lock one runs at a time: in the order in which they return.
void HtaPathGraph::AddLocks() {
  std::vector<uint32_t> open;
  uint32_t last = kHtaPathGraphNone;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!HoldsLock(i)) continue;
    if (nodes_[i].is_start) {
      open.push_back(i);
    } else {
      for (; !open.empty(); open.pop_back()) {
        const bool own = nodes_[open.back()].event == nodes_[i].event;
        Add(open.back(), i, own ? HtaEdgeType::kOperator : HtaEdgeType::kDependency);
      }
      if (last != kHtaPathGraphNone && !nodes_[last].is_start)
        Add(last, i, HtaEdgeType::kDependency);
    }
    last = i;
  }
}

/// The one thread of the operators and annotations whose name holds a text.
std::optional<int64_t> HtaPathGraph::ThreadWith(std::string_view part) const {
  std::set<int64_t> threads;
  for (const uint32_t index : clipped_) {
    const HtaPathGraphEvent& event = events_[index];
    if ((event.kind == HtaPathGraphKind::kOperator || event.kind == HtaPathGraphKind::kOther) &&
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
    const HtaPathGraphEvent& event = events_[index];
    if (!event.OnHost()) continue;
    const bool merged = forward && backward && event.thread_id == *backward;
    threads[merged ? *forward : event.thread_id].push_back(index);
  }
  for (auto& [thread, events] : threads) AddCallStack(std::move(events));
}

/// What is nested follows each other; of what is not only the order is kept.
void HtaPathGraph::AddCallStack(std::vector<uint32_t> events) {
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
    const HtaPathGraphEvent& event = events_[index];
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
  uint32_t last = kHtaPathGraphNone;
  uint32_t last_parent = kHtaPathGraphNone;
  int64_t depth = 0;
  for (const Point& point : points) {
    Open at = {point.event, open.empty() ? kHtaPathGraphNone : open.back().event};
    if (point.is_start) {
      open.push_back(at);
    } else {
      // Where events cross, what opened last ends first.
      at = open.back();
      open.pop_back();
    }
    const uint32_t node = (point.is_start ? starts_ : ends_)[at.event];
    if (node == kHtaPathGraphNone) continue;
    if (last != kHtaPathGraphNone && !ShareLock(last, node)) {
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

}  // namespace oplens::prof
