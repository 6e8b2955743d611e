#include "prof/path/moment_graph.h"

#include "base/saturating.h"

namespace oplens::prof {

void LongestPaths::Find(const MomentGraph& graph) {
  cut_ = 0;
  order_.clear();
  order_.reserve(graph.size());
  lengths_ns_.assign(graph.size(), 0);
  best_.assign(graph.size(), kUnseen);
  for (uint32_t node = 0; node < graph.size(); ++node) {
    if (best_[node] == kUnseen) Visit(graph, node);
  }
}

void LongestPaths::FindAgain(const MomentGraph& graph, std::span<const int64_t> weights_ns) {
  cut_ = 0;
  best_.assign(graph.size(), kOpen);
  for (const uint32_t node : order_) {
    Close(graph, node, [&](uint32_t edge) { return weights_ns[edge]; });
  }
}

void LongestPaths::Visit(const MomentGraph& graph, uint32_t node) {
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
    Close(graph, top.node, [&](uint32_t edge) { return edges[edge].weight_ns; });
    order_.push_back(top.node);
    stack_.pop_back();
  }
}

/// All predecessors of the node are known, except those still being visited.
template <typename WeightOf>
void LongestPaths::Close(const MomentGraph& graph, uint32_t node, WeightOf weight_of) {
  const std::span<const MomentGraph::Edge> edges = graph.edges();
  uint32_t best = kNone;
  int64_t longest_ns = -1;
  for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
    const uint32_t from = edges[i].from;
    if (from >= graph.size() || best_[from] == kOpen) {
      ++cut_;
      continue;
    }
    const int64_t weight_ns = weight_of(i);
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
