#include "prof/price/forward_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplens::prof::forward_op_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KernelRecord Forward() {
  KernelRecord record;
  record.markers = {"outer", "inner"};
  record.layer = {"encoder"};
  record.trace = {"net.py:1", "net.py:2"};
  record.mod = {"torch", "aten"};
  record.op = {"linear", "mm"};
  record.seq_markers = {"aten::linear, seq = 5"};
  return record;
}

TEST(ForwardOpsTest, HoldsTheListsOfTheRecord) {
  Epochs epochs;
  ForwardOps ops(&epochs);
  const ForwardOp* op = ops.Of(Forward());
  EXPECT_THAT(op->markers, ElementsAre("outer", "inner"));
  EXPECT_THAT(op->layer, ElementsAre("encoder"));
  EXPECT_THAT(op->trace, ElementsAre("net.py:1", "net.py:2"));
  EXPECT_THAT(op->mod, ElementsAre("torch", "aten"));
  EXPECT_THAT(op->op, ElementsAre("linear", "mm"));
  EXPECT_THAT(op->seq_names, ElementsAre("aten::linear"));
}

TEST(ForwardOpsTest, OfTheOuterAnnotationsOnly) {
  Epochs epochs;
  ForwardOps ops(&epochs);
  const ForwardOp* op = ops.Of(Forward(), 1);
  EXPECT_THAT(op->markers, ElementsAre("outer"));
  EXPECT_THAT(op->mod, ElementsAre("torch"));
  EXPECT_THAT(op->op, ElementsAre("linear"));
  EXPECT_THAT(op->trace, ElementsAre("net.py:1", "net.py:2"));
}

TEST(ForwardOpsTest, EqualOpsAreOne) {
  Epochs epochs;
  ForwardOps ops(&epochs);
  const ForwardOp* op = ops.Of(Forward());
  KernelRecord other = Forward();
  other.seq_markers = {"aten::linear, seq = 6"};
  other.thread_id = 9;
  EXPECT_EQ(ops.Of(other), op) << "neither number nor thread is the op's";
  other.trace = {"net.py:1net.py:2"};
  EXPECT_NE(ops.Of(other)->id, op->id);
}

TEST(ForwardOpsTest, DescribedByABackwardKernel) {
  Epochs epochs;
  ForwardOps ops(&epochs);
  KernelRecord backward;
  backward.forward_markers = {"outer"};
  backward.forward_layer = {"encoder"};
  backward.forward_op = {"linear"};
  const ForwardOp* op = ops.DescribedBy(backward);
  EXPECT_THAT(op->markers, ElementsAre("outer"));
  EXPECT_THAT(op->layer, ElementsAre("encoder"));
  EXPECT_THAT(op->op, ElementsAre("linear"));
  EXPECT_THAT(op->seq_names, IsEmpty());
}

TEST(FitsNodeTest, TheNameOfTheNodeIsTheOps) {
  EXPECT_TRUE(FitsNode("aten::mm", {"x", "MmBackward0, seq = 5"}));
  EXPECT_FALSE(FitsNode("mul", {"MmBackward0, seq = 5"}));
  EXPECT_FALSE(FitsNode("mm", {"mm, seq = 5"})) << "no node";
  EXPECT_FALSE(FitsNode("copy_", {"torch::autograd::CppNode<Lookup>, seq = 5"}));
}

}  // namespace
}  // namespace oplens::prof::forward_op_test
