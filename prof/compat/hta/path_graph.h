#ifndef OPLENS_PROF_COMPAT_HTA_PATH_GRAPH_H_
#define OPLENS_PROF_COMPAT_HTA_PATH_GRAPH_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prof/compat/hta/path_events.h"

namespace oplens::prof {

/// What an edge of the reference's graph is.
enum class HtaEdgeType : uint8_t { kOperator, kDependency, kLaunch, kKernelKernel, kSync };

/// The beginning or end of an event.
struct HtaPathNode {
  int64_t time_us = 0;
  uint32_t event = 0;
  bool is_start = false;
};

/// One node depends on another.
struct HtaGraphEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t weight_us = 0;
  HtaEdgeType type = HtaEdgeType::kOperator;
  uint32_t event = HtaPathEvent::kNone;  ///< That its time is attributed to.
};

/// Edges in the order in which they were first added; one that is added again replaces the former.
class HtaEdgeList {
 public:
  void Add(const HtaGraphEdge& edge) {
    const uint64_t key = uint64_t{edge.from} << 32 | edge.to;
    const auto [place, is_new] = places_.try_emplace(key, edges_.size());
    if (is_new) {
      edges_.push_back(edge);
    } else {
      edges_[place->second] = edge;
    }
  }
  std::vector<HtaGraphEdge>& all() { return edges_; }

 private:
  std::vector<HtaGraphEdge> edges_;
  std::unordered_map<uint64_t, size_t> places_;
};

/// The graph of the events in a window, by the rules of HolisticTraceAnalysis.
class HtaPathGraph {
 public:
  /// Of the host's events that begin in the window, and what they put into streams. `events` must
  /// outlive this object.
  HtaPathGraph(const HtaPathEvents& events, int64_t first_us, int64_t last_us)
      : events_(events),
        starts_(events.all().size(), HtaPathEvent::kNone),
        ends_(events.all().size(), HtaPathEvent::kNone) {
    Clip(first_us, last_us);
    MakeNodes();
    AddLocks();
    AddCallStacks();
    AddWork();
  }

  /// In the order of the path; empty where the reference refuses the graph (HtaCriticalPath). Once.
  std::vector<HtaGraphEdge> LongestPath();

 private:
  void Clip(int64_t first_us, int64_t last_us);
  void MakeNodes();
  void AddLocks();
  void AddCallStacks();
  void AddCallStack(std::vector<uint32_t> events);
  void AddWork();
  void FindRecords();
  void TakeWait(const HtaPathEvent& wait);
  void TakeWork(uint32_t index);
  uint32_t NextLaunch(const HtaPathEvent& wait) const;
  bool HoldsLock(uint32_t node) const;
  bool ShareLock(uint32_t first, uint32_t second) const {
    return HoldsLock(first) && HoldsLock(second) &&
           (nodes_[first].is_start || !nodes_[second].is_start);
  }
  void Add(uint32_t from, uint32_t to, HtaEdgeType type, uint32_t parent = HtaPathEvent::kNone,
           bool is_free = false);
  std::optional<int64_t> ThreadWith(std::string_view part) const;

  const HtaPathEvents& events_;
  std::vector<uint32_t> clipped_;
  std::vector<HtaPathNode> nodes_;
  std::vector<uint32_t> starts_;  // Nodes by event.
  std::vector<uint32_t> ends_;
  HtaEdgeList edges_;
  std::vector<uint32_t> launches_;  // Calls whose work is known, by start.
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> launches_by_;  // Thread, stream.
  std::unordered_map<int64_t, uint32_t> last_launch_;         // Before a recording, by its call.
  std::vector<std::pair<int64_t, uint32_t>> last_of_stream_;  // Nodes, in the order of first use.
  std::unordered_map<uint32_t, uint32_t> work_waits_;         // For other work.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_PATH_GRAPH_H_
