#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "prof/compat/hta/events.h"
#include "prof/compat/hta/path_events.h"
#include "prof/compat/hta/path_graph.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/view_notes.h"
#include "prof/views/path/critical_path_fields.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kTypeWords[] = {
    "critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
    "critical_path_kernel_kernel_delay", "critical_path_sync_dependency"};

/// The reference's paths: other words for causes, and no steps.
class HtaCriticalPathRows : public Partial {
 public:
  explicit HtaCriticalPathRows(const ViewOptions& options) : notes_("critical-path") {
    if (!options.what_if.empty()) {
      throw UsageError("--what-if: the view critical-path has none with --compat hta");
    }
    by_edge_ = std::find(options.by.begin(), options.by.end(), "edge") != options.by.end();
    by_name_ = std::find(options.by.begin(), options.by.end(), "name") != options.by.end();
  }

  void Begin(const Run* run) override { notes_.Begin(run); }

  /// Takes the first step; without steps the whole trace.
  void End(const Run* run) override {
    if (run == nullptr) return;
    none_ |= run->trace().torch_events.empty();
    std::vector<HtaPathEdge> path = HtaCriticalPath(run->trace(), "ProfilerStep", 0);
    if (path.empty()) path = HtaCriticalPath(run->trace(), "", 0);
    std::vector<HtaPathEdge>& all = ranks_[std::string(run->rank())];
    all.insert(all.end(), path.begin(), path.end());
  }

  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaCriticalPathRows&>(other);
    for (const auto& [name, path] : more.ranks_) {
      std::vector<HtaPathEdge>& mine = ranks_[name];
      mine.insert(mine.end(), path.begin(), path.end());
      if (mine.size() > path.size()) std::sort(mine.begin(), mine.end());
    }
    none_ |= more.none_;
    notes_.Merge(more.notes_);
  }

  std::vector<Field> Fields() const override {
    if (by_edge_) return {std::begin(kPathEdgeColumns), std::end(kPathEdgeColumns)};
    return FieldsOf(PathColumns(by_name_));
  }

  void Emit(Sink* sink) const override {
    for (const auto& [name, path] : ranks_) {
      if (by_edge_) {
        EmitEdges(name, path, sink);
      } else {
        EmitSums(name, path, sink);
      }
    }
  }

  std::vector<std::string> Notes() const override {
    std::vector<std::string> notes = notes_.Sentences();
    if (none_) {
      notes.emplace_back(
          "critical-path: --compat hta reads traces of PyTorch's profiler only: without it any "
          "profile has a critical path");
    }
    return notes;
  }

 private:
  void EmitSums(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) const {
    std::map<std::pair<std::string_view, std::string_view>, PathSum> sums;
    int64_t length_ns = 0;
    for (const HtaPathEdge& edge : path) {
      const std::string_view name = by_name_ ? std::string_view(edge.name) : std::string_view();
      sums[{edge.bound_by, name}].Add({HtaNs(edge.time_us), 1});
      length_ns = SaturatingSum(length_ns, HtaNs(edge.time_us));
    }
    TableOf<PathRow> table(PathColumns(by_name_), sink);
    for (const auto& [key, sum] : sums) {
      table.Add({rank, std::nullopt, key.first, key.second, sum, length_ns});
    }
  }

  static void EmitEdges(const std::string& rank, const std::vector<HtaPathEdge>& path, Sink* sink) {
    TableOf<PathEdgeRow> table(kPathEdgeColumns, sink);
    int64_t number = 0;
    for (const HtaPathEdge& edge : path) {
      PathEdgeRow row = {rank,      std::nullopt,  ++number,     std::nullopt,       edge.name,
                         edge.type, edge.bound_by, std::nullopt, HtaNs(edge.time_us)};
      if (!edge.name.empty()) row.stream = edge.stream;
      table.Add(row);
    }
  }

  bool by_edge_ = false;
  bool by_name_ = false;
  bool none_ = false;  // An input is of another family.
  std::map<std::string, std::vector<HtaPathEdge>, RankBefore> ranks_;
  ViewNotes notes_;
};

}  // namespace

/// Topological order by generations: repeatedly the nodes without unvisited predecessors.
std::vector<HtaGraphEdge> HtaPathGraph::LongestPath() {
  std::vector<HtaGraphEdge>& edges = edges_.all();
  std::vector<std::vector<uint32_t>> into(nodes_.size());
  std::vector<std::vector<uint32_t>> out_of(nodes_.size());
  std::vector<size_t> left(nodes_.size(), 0);
  for (uint32_t i = 0; i < edges.size(); ++i) {
    into[edges[i].to].push_back(i);
    out_of[edges[i].from].push_back(edges[i].to);
    ++left[edges[i].to];
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
  std::vector<uint32_t> best(nodes_.size(), HtaPathEvent::kNone);
  uint32_t last = order.front();
  for (const uint32_t node : order) {
    for (const uint32_t i : into[node]) {
      // Less than nothing is nothing on the way, but not in the sums.
      const int64_t found_us = length_us[edges[i].from] + std::max<int64_t>(edges[i].weight_us, 0);
      if (best[node] != HtaPathEvent::kNone && found_us <= length_us[node]) continue;
      best[node] = i;
      length_us[node] = found_us;
    }
    if (length_us[node] > length_us[last]) last = node;
  }
  std::vector<HtaGraphEdge> path;
  for (; best[last] != HtaPathEvent::kNone; last = edges[best[last]].from)
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
  for (const HtaPathEvent& event : events.all()) {
    if (annotation.empty()) {
      if (!window) window = {event.start_us, event.end_us};
      window = {std::min(window->first, event.start_us), std::max(window->second, event.end_us)};
    } else if (event.kind != HtaPathEvent::Kind::kWait &&
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
    if (edge.event != HtaPathEvent::kNone) {
      row.name = HtaShortName(events.NameOf(events[edge.event]));
      row.stream = events[edge.event].stream;
    }
    row.bound_by = BoundBy(edge, row.stream, row.name);
  }
  return path;
}

std::unique_ptr<Partial> MakeHtaCriticalPath(const ViewOptions& options) {
  return std::make_unique<HtaCriticalPathRows>(options);
}

}  // namespace oplens::prof
