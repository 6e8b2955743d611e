#ifndef OPLENS_PROF_PATH_MOMENT_GRAPH_H_
#define OPLENS_PROF_PATH_MOMENT_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prof/path/path_edge.h"

namespace oplens::prof {

/// Moments of a step and their dependencies. GPU work is one node, its end: its duration is part of
/// the edges that lead to it.
class MomentGraph {
 public:
  struct Edge {
    int64_t weight_ns = 0;  ///< >= 0.
    uint32_t from = 0;
    PathLink link = PathLink::kHost;
  };

  /// Begins the next node and returns its number, from 0: edges added next lead to it.
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
  /// Unused capacity costs no memory, but growing would copy.
  void Reserve(size_t nodes, size_t edges) {
    firsts_.reserve(nodes);
    edges_.reserve(edges);
  }

  size_t size() const { return firsts_.size(); }
  std::span<const Edge> edges() const { return edges_; }
  /// The range in edges() of the edges that lead to a node.
  uint32_t FirstInto(uint32_t node) const { return firsts_[node]; }
  uint32_t EndInto(uint32_t node) const {
    return node + 1 < firsts_.size() ? firsts_[node + 1] : static_cast<uint32_t>(edges_.size());
  }

 private:
  std::vector<uint32_t> firsts_;  // By node.
  std::vector<Edge> edges_;
};

/// The longest path to each node of a graph, from any node without incoming edges. Need not be
/// acyclic: an edge that closes a cycle is cut, and so is one from a nonexistent node. Which edge
/// of a cycle is cut depends only on the numbers of the nodes. Of several longest paths into a
/// node, the one by its first edge counts.
///
/// O(nodes + edges), without recursion; 16 bytes per node.
class LongestPaths {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A weight that removes its edge.
  static constexpr int64_t kNoEdge = -1;

  void Find(const MomentGraph& graph);
  /// Of the graph of the last Find(), with other weights, by edge.
  void FindAgain(const MomentGraph& graph, std::span<const int64_t> weights_ns);

  /// Saturates at INT64_MAX.
  int64_t LengthTo(uint32_t node) const { return lengths_ns_[node]; }
  /// The last edge of the path to a node; kNone: the path begins there.
  uint32_t EdgeInto(uint32_t node) const { return best_[node]; }
  int64_t cut() const { return cut_; }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX - 1;
  static constexpr uint32_t kOpen = UINT32_MAX - 2;  // In progress: an edge from it makes a cycle.

  struct Frame {
    uint32_t node;
    uint32_t next;  // Edge.
  };

  void Visit(const MomentGraph& graph, uint32_t node);
  /// `weight_of`: by edge.
  template <typename WeightOf>
  void Close(const MomentGraph& graph, uint32_t node, WeightOf weight_of);

  std::vector<int64_t> lengths_ns_;
  std::vector<uint32_t> best_;
  std::vector<Frame> stack_;
  std::vector<uint32_t> order_;  // In which nodes were closed; it depends on no weight.
  int64_t cut_ = 0;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_MOMENT_GRAPH_H_
