#include "prof/run/path_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace oplens::prof::path_tree_test {
namespace {

using ::testing::ElementsAre;

TEST(PathTreeTest, PathsThatBeginAlikeShareTheBeginning) {
  PathTree tree;
  const uint32_t a = tree.ChildOf(PathTree::kRoot, tree.NumberOf("a"));
  const uint32_t ab = tree.ChildOf(a, tree.NumberOf("b"));
  EXPECT_EQ(tree.ChildOf(a, tree.NumberOf("b")), ab);
  EXPECT_NE(tree.ChildOf(PathTree::kRoot, tree.NumberOf("b")), ab);
  EXPECT_EQ(tree.FindChild(ab, tree.NumberOf("a")), PathTree::kNone);
  EXPECT_EQ(tree.TextOf(ab), "b");
  EXPECT_EQ(tree.nodes()[ab].parent, a);
  EXPECT_EQ(tree.nodes()[ab].depth, 2u);
  EXPECT_EQ(tree.nodes().size(), 4u);
}

TEST(PathTreeTest, TakesThoseOfAnother) {
  PathTree other;
  const uint32_t b = other.ChildOf(PathTree::kRoot, other.NumberOf("b"));
  const uint32_t bc = other.ChildOf(b, other.NumberOf("c"));
  PathTree tree;
  const uint32_t a = tree.ChildOf(PathTree::kRoot, tree.NumberOf("a"));
  const std::vector<uint32_t> numbers = tree.Take(other, a);
  EXPECT_EQ(numbers[PathTree::kRoot], a);
  EXPECT_EQ(tree.TextOf(numbers[bc]), "c");
  EXPECT_EQ(tree.nodes()[numbers[bc]].parent, numbers[b]);
  EXPECT_EQ(tree.nodes()[numbers[b]].parent, a);
}

TEST(PathTreeTest, WhatIsTooDeepIsWhatItIsIn) {
  PathTree tree;
  uint32_t path = PathTree::kRoot;
  for (uint32_t i = 0; i < 2 * PathTree::kMaxDepth; ++i) {
    path = tree.ChildOf(path, tree.NumberOf("a"));
  }
  EXPECT_EQ(tree.nodes()[path].depth, PathTree::kMaxDepth);
  EXPECT_EQ(tree.nodes().size(), PathTree::kMaxDepth + 1);
}

TEST(PathTreeTest, OrderOfPrinting) {
  // 0 and 3 are roots; 1, 4 and 5 are in 0, 2 is in 1.
  const std::vector<uint32_t> parents = {PathTree::kNone, 0, 1, PathTree::kNone, 0, 0};
  const auto later = [](uint32_t a, uint32_t b) { return a > b; };
  EXPECT_THAT(TreeOrder(parents, later), ElementsAre(3, 0, 5, 4, 1, 2));
  const auto equal = [](uint32_t, uint32_t) { return false; };
  EXPECT_EQ(TreeOrder(parents, equal).size(), 6u);
  EXPECT_TRUE(TreeOrder(std::vector<uint32_t>(), equal).empty());
}

}  // namespace
}  // namespace oplens::prof::path_tree_test
