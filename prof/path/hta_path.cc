#include "prof/path/hta_path.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "prof/path/hta_path_events.h"
#include "prof/path/hta_path_graph.h"
#include "prof/run/hta_events.h"

namespace oplens::prof {
namespace {

using HtaPathRunEvent = HtaPathEvent;
using HtaPathKind = HtaPathEvent::Kind;

constexpr uint32_t kHtaPathNone = HtaPathEvent::kNone;

constexpr std::string_view kTypeWords[] = {
    "critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
    "critical_path_kernel_kernel_delay", "critical_path_sync_dependency"};

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

}  // namespace

/// Nodes in generations: those on which nothing is left to wait for, again and again.
std::vector<HtaGraphEdge> HtaPathGraph::LongestPath() {
  std::vector<HtaGraphEdge>& edges = edges_.all();
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
    if (edges[i].type == HtaEdgeType::kSync && stream != -1 && same_stream) return {};
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
  std::vector<uint32_t> best(nodes_.size(), kHtaPathNone);
  uint32_t last = order.front();
  for (const uint32_t node : order) {
    for (const uint32_t i : into[node]) {
      const int64_t found_us = length_us[edges[i].from] + edges[i].weight_us;
      if (best[node] != kHtaPathNone && found_us <= length_us[node]) continue;
      best[node] = i;
      length_us[node] = found_us;
    }
    if (length_us[node] > length_us[last]) last = node;
  }
  std::vector<HtaGraphEdge> path;
  for (; best[last] != kHtaPathNone; last = edges[best[last]].from)
    path.push_back(edges[best[last]]);
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {

std::string_view BoundBy(const HtaGraphEdge& edge, int64_t stream, std::string_view name) {
  switch (edge.type) {
    case HtaEdgeType::kKernelKernel:
      return "gpu_kernel_kernel_overhead";
    case HtaEdgeType::kLaunch:
      return "gpu_kernel_launch_overhead";
    case HtaEdgeType::kDependency:
    case HtaEdgeType::kSync:
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
  for (const HtaPathRunEvent& event : events.all()) {
    if (annotation.empty()) {
      if (!window) window = {event.start_us, event.end_us};
      window = {std::min(window->first, event.start_us), std::max(window->second, event.end_us)};
    } else if (event.kind != HtaPathKind::kWait &&
               events.NameOf(event).find(annotation) != std::string_view::npos &&
               number++ == instance) {
      window = {event.start_us, event.end_us};
    }
  }
  if (!window) return {};
  HtaPathGraph graph(events, window->first, window->second);
  std::vector<HtaPathEdge> path;
  for (const HtaGraphEdge& edge : graph.LongestPath()) {
    HtaPathEdge& row = path.emplace_back();
    row.time_us = edge.weight_us;
    row.type = kTypeWords[static_cast<size_t>(edge.type)];
    if (edge.event != kHtaPathNone) {
      row.name = ShortName(events.NameOf(events[edge.event]));
      row.stream = events[edge.event].stream;
    }
    row.bound_by = BoundBy(edge, row.stream, row.name);
  }
  return path;
}

}  // namespace oplens::prof
