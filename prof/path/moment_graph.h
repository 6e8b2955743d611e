#ifndef OPLENS_PROF_PATH_MOMENT_GRAPH_H_
#define OPLENS_PROF_PATH_MOMENT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

/// Moments of a step and what each depends on. Work of a GPU is one node, its end: the time of the
/// work is part of the edges that lead to it.
class MomentGraph {
 public:
  struct Edge {
    int64_t weight_ns = 0;  ///< Not negative.
    uint32_t from = 0;
    PathLink link = PathLink::kHost;
  };

  /// Begins the next node and answers its number, from 0: edges that are added lead to it.
  uint32_t AddNode() {
    firsts_.push_back(static_cast<uint32_t>(edges_.size()));
    return static_cast<uint32_t>(firsts_.size() - 1);
  }
  /// `from` may be a node that is added later.
  void AddEdge(uint32_t from, int64_t weight_ns, PathLink link) {
    edges_.push_back({weight_ns, from, link});
  }
  void Clear() {
    firsts_.clear();
    edges_.clear();
  }
  /// Room that is not used costs no memory, but growing would copy.
  void Reserve(size_t nodes, size_t edges) {
    firsts_.reserve(nodes);
    edges_.reserve(edges);
  }

  size_t size() const { return firsts_.size(); }
  std::span<const Edge> edges() const { return edges_; }
  /// Where the edges that lead to a node begin and end in edges().
  uint32_t FirstInto(uint32_t node) const { return firsts_[node]; }
  uint32_t EndInto(uint32_t node) const {
    return node + 1 < firsts_.size() ? firsts_[node + 1] : static_cast<uint32_t>(edges_.size());
  }

 private:
  std::vector<uint32_t> firsts_;  // By node.
  std::vector<Edge> edges_;
};

/// The longest path to each node of a graph, from any node that no edge leads to. Whether the graph
/// has a topological order is found out on the way: an edge that closes a cycle is cut, and so is
/// one from a node that there is not. Which edge of a cycle is cut depends on the numbers of the
/// nodes alone. Of several longest paths into a node that by its first edge counts.
///
/// O(nodes + edges), without recursion; 12 bytes a node.
class LongestPaths {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// `weights_ns` takes the place of the edges' own weights, by edge; empty: these.
  void Find(const MomentGraph& graph, std::span<const int64_t> weights_ns = {});

  /// INT64_MAX where it is more.
  int64_t LengthTo(uint32_t node) const { return lengths_ns_[node]; }
  /// The last edge of the path to a node; kNone: it begins there.
  uint32_t EdgeInto(uint32_t node) const { return best_[node]; }
  /// Edges that were cut.
  int64_t cut() const { return cut_; }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX - 1;
  static constexpr uint32_t kOpen = UINT32_MAX - 2;  // On the way to it: whatever leads here from
                                                     // there would be a cycle.
  struct Frame {
    uint32_t node;
    uint32_t next;  // Edge.
  };

  void Visit(const MomentGraph& graph, uint32_t node, std::span<const int64_t> weights_ns);
  void Close(const MomentGraph& graph, uint32_t node, std::span<const int64_t> weights_ns);

  std::vector<int64_t> lengths_ns_;
  std::vector<uint32_t> best_;
  std::vector<Frame> stack_;
  int64_t cut_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_MOMENT_GRAPH_H_
