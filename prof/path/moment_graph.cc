#include "prof/path/moment_graph.h"

#include "base/saturating.h"

namespace oplens::prof {

void LongestPaths::Find(const MomentGraph& graph, std::span<const int64_t> weights_ns) {
  cut_ = 0;
  lengths_ns_.assign(graph.size(), 0);
  best_.assign(graph.size(), kUnseen);
  for (uint32_t node = 0; node < graph.size(); ++node) {
    if (best_[node] == kUnseen) Visit(graph, node, weights_ns);
  }
}

void LongestPaths::Visit(const MomentGraph& graph, uint32_t node,
                         std::span<const int64_t> weights_ns) {
  const std::span<const MomentGraph::Edge> edges = graph.edges();
  best_[node] = kOpen;
  stack_.push_back({node, graph.FirstInto(node)});
  while (!stack_.empty()) {
    Frame& top = stack_.back();
    const uint32_t end = graph.EndInto(top.node);
    while (top.next < end) {
      const uint32_t from = edges[top.next].from;
      if (from < graph.size() && best_[from] == kUnseen) break;
      ++top.next;
    }
    if (top.next < end) {
      const uint32_t from = edges[top.next].from;
      best_[from] = kOpen;
      stack_.push_back({from, graph.FirstInto(from)});
      continue;
    }
    Close(graph, top.node, weights_ns);
    stack_.pop_back();
  }
}

/// All predecessors of the node are known, except those still being visited.
void LongestPaths::Close(const MomentGraph& graph, uint32_t node,
                         std::span<const int64_t> weights_ns) {
  const std::span<const MomentGraph::Edge> edges = graph.edges();
  uint32_t best = kNone;
  int64_t longest_ns = -1;
  for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
    const uint32_t from = edges[i].from;
    if (from >= graph.size() || best_[from] == kOpen) {
      ++cut_;
      continue;
    }
    const int64_t weight_ns = weights_ns.empty() ? edges[i].weight_ns : weights_ns[i];
    if (weight_ns == kNoEdge) continue;
    const int64_t length_ns = SaturatingSum(lengths_ns_[from], weight_ns);
    if (length_ns > longest_ns) {
      longest_ns = length_ns;
      best = i;
    }
  }
  best_[node] = best;
  lengths_ns_[node] = best == kNone ? 0 : longest_ns;
}

}  // namespace oplens::prof
