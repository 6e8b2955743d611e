#include "prof/path/moment_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace oplens::prof::moment_graph_test {
namespace {

struct MadeEdge {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t weight_ns = 0;
};

MomentGraph MakeGraph(uint32_t nodes, const std::vector<MadeEdge>& edges) {
  MomentGraph graph;
  for (uint32_t node = 0; node < nodes; ++node) {
    graph.AddNode();
    for (const MadeEdge& edge : edges) {
      if (edge.to == node) graph.AddEdge(edge.from, edge.weight_ns, PathLink::kHost);
    }
  }
  return graph;
}

/// By trying every path that ends at a node.
int64_t Longest(const std::vector<MadeEdge>& edges, uint32_t node) {
  int64_t longest = 0;
  for (const MadeEdge& edge : edges) {
    if (edge.to == node) longest = std::max(longest, Longest(edges, edge.from) + edge.weight_ns);
  }
  return longest;
}

/// The sum over the edges that lead to a node, found backwards.
int64_t SumOfWay(const MomentGraph& graph, const LongestPaths& paths, uint32_t node) {
  int64_t sum = 0;
  size_t edges = 0;
  for (uint32_t edge = paths.EdgeInto(node); edge != LongestPaths::kNone;
       edge = paths.EdgeInto(node)) {
    sum += graph.edges()[edge].weight_ns;
    node = graph.edges()[edge].from;
    if (++edges > graph.size()) return -1;
  }
  return sum;
}

//   0 --3--> 1 --4--> 3
//   0 --5--> 2 --1--> 3      by 1: 7, by 2: 6
TEST(MomentGraphTest, TakesTheLongerWay) {
  const MomentGraph graph = MakeGraph(4, {{0, 1, 3}, {0, 2, 5}, {1, 3, 4}, {2, 3, 1}});
  LongestPaths paths;
  paths.Find(graph);
  EXPECT_EQ(paths.LengthTo(3), 7);
  EXPECT_EQ(graph.edges()[paths.EdgeInto(3)].from, 1u);
  EXPECT_EQ(paths.cut(), 0);
  // With other times: edges are in the order of what they lead to.
  const std::vector<int64_t> changed = {3, 5, 0, 1};
  paths.FindAgain(graph, changed);
  EXPECT_EQ(paths.LengthTo(3), 6);
  EXPECT_EQ(graph.edges()[paths.EdgeInto(3)].from, 2u);
}

TEST(MomentGraphTest, OfEqualWaysTheFirstEdgeCounts) {
  const MomentGraph graph = MakeGraph(4, {{0, 1, 2}, {0, 2, 2}, {2, 3, 1}, {1, 3, 1}});
  LongestPaths paths;
  paths.Find(graph);
  EXPECT_EQ(graph.edges()[paths.EdgeInto(3)].from, 2u);
}

TEST(MomentGraphTest, CyclesAreCutAndCounted) {
  // 0 -> 1 -> 2 -> 1, 3 -> 3, and an edge from nowhere.
  const MomentGraph graph =
      MakeGraph(4, {{0, 1, 5}, {2, 1, 100}, {1, 2, 7}, {3, 3, 9}, {77, 3, 4}});
  LongestPaths paths;
  paths.Find(graph);
  EXPECT_EQ(paths.cut(), 3);
  EXPECT_EQ(paths.LengthTo(2), 0);  // Met on the way to 1: its edge from there is the one cut.
  EXPECT_EQ(paths.LengthTo(1), 100);
  EXPECT_EQ(paths.LengthTo(3), 0);
  EXPECT_EQ(paths.EdgeInto(3), LongestPaths::kNone);
}

TEST(MomentGraphTest, ALongChainNeedsNoStack) {
  MomentGraph graph;
  constexpr uint32_t kNodes = 300'000;
  for (uint32_t node = 0; node < kNodes; ++node) {
    graph.AddNode();
    if (node + 1 < kNodes) graph.AddEdge(node + 1, 1, PathLink::kHost);  // Each on the next.
  }
  LongestPaths paths;
  paths.Find(graph);
  EXPECT_EQ(paths.LengthTo(0), kNodes - 1);
  EXPECT_EQ(paths.cut(), 0);
}

TEST(MomentGraphTest, HugeTimesDoNotWrap) {
  const MomentGraph graph = MakeGraph(3, {{0, 1, INT64_MAX}, {1, 2, INT64_MAX}});
  LongestPaths paths;
  paths.Find(graph);
  EXPECT_EQ(paths.LengthTo(2), INT64_MAX);
}

RC_GTEST_PROP(MomentGraphProperty, AsLongAsTheLongestOfAllPaths, ()) {
  const auto nodes = *rc::gen::inRange<uint32_t>(1, 9);
  // A hidden order makes it acyclic; the numbers of the nodes do not follow it.
  const auto order =
      *rc::gen::container<std::vector<uint32_t>>(nodes, rc::gen::arbitrary<uint32_t>());
  std::vector<MadeEdge> edges;
  for (int i = *rc::gen::inRange(0, 16); i > 0; --i) {
    const MadeEdge edge = {*rc::gen::inRange<uint32_t>(0, nodes),
                           *rc::gen::inRange<uint32_t>(0, nodes),
                           *rc::gen::inRange<int64_t>(0, 20)};
    if (std::pair(order[edge.from], edge.from) < std::pair(order[edge.to], edge.to)) {
      edges.push_back(edge);
    }
  }
  const MomentGraph graph = MakeGraph(nodes, edges);
  LongestPaths paths;
  paths.Find(graph);
  RC_ASSERT(paths.cut() == 0);
  for (uint32_t node = 0; node < nodes; ++node) {
    RC_ASSERT(paths.LengthTo(node) == Longest(edges, node));
    RC_ASSERT(SumOfWay(graph, paths, node) == paths.LengthTo(node));
  }
}

RC_GTEST_PROP(MomentGraphProperty, WhateverLeadsWhere, ()) {
  const auto nodes = *rc::gen::inRange<uint32_t>(1, 9);
  std::vector<MadeEdge> edges;
  for (int i = *rc::gen::inRange(0, 24); i > 0; --i) {
    edges.push_back({*rc::gen::inRange<uint32_t>(0, nodes + 1),
                     *rc::gen::inRange<uint32_t>(0, nodes), *rc::gen::inRange<int64_t>(0, 20)});
  }
  const MomentGraph graph = MakeGraph(nodes, edges);
  LongestPaths paths;
  paths.Find(graph);
  LongestPaths again;
  again.Find(graph);
  std::vector<int64_t> weights_ns;
  for (const MomentGraph::Edge& edge : graph.edges()) weights_ns.push_back(edge.weight_ns);
  again.FindAgain(graph, weights_ns);
  RC_ASSERT(again.cut() == paths.cut());
  for (uint32_t node = 0; node < nodes; ++node) {
    RC_ASSERT(again.LengthTo(node) == paths.LengthTo(node));
    RC_ASSERT(again.EdgeInto(node) == paths.EdgeInto(node));
  }
  // Edges that are not cut go up; so many are cut as do not.
  int64_t impossible = 0;
  for (uint32_t node = 0; node < nodes; ++node) {
    RC_ASSERT(SumOfWay(graph, paths, node) == paths.LengthTo(node));
    for (uint32_t i = graph.FirstInto(node); i < graph.EndInto(node); ++i) {
      const MomentGraph::Edge& edge = graph.edges()[i];
      const bool up =
          edge.from < nodes && paths.LengthTo(edge.from) + edge.weight_ns <= paths.LengthTo(node);
      if (!up) ++impossible;
    }
  }
  RC_ASSERT(impossible <= paths.cut());
}

}  // namespace
}  // namespace oplens::prof::moment_graph_test
