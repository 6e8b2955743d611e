#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "prof/compat/tb/tree.h"

namespace oplens::prof::tb_tree_test {
namespace {

using Kind = TorchEvent::Kind;

class TbTreeTest : public ::testing::Test {
 protected:
  TorchEvent& Add(Kind kind, const std::string& name, double start_us, double end_us,
                  int64_t external_id = TorchEvent::kNone) {
    TorchEvent& event = trace_.torch_events.emplace_back();
    event.kind = kind;
    event.name = trace_.strings.Intern(name);
    event.start_us = start_us;
    event.end_us = end_us;
    event.external_id = external_id;
    event.thread_id = 1;
    return event;
  }
  void Op(const std::string& name, double start_us, double end_us, int64_t external_id = 99) {
    Add(Kind::kOperator, name, start_us, end_us, external_id);
  }
  /// A call of 1 us for an operator, and its kernel.
  void Launch(int64_t external_id, double start_us, double kernel_us,
              const std::string& kernel = "kernel") {
    const int64_t id = ++correlation_id_;
    Add(Kind::kApiCall, "cudaLaunchKernel", start_us, start_us + 1, external_id).correlation_id =
        id;
    Add(Kind::kKernel, kernel, start_us + 50, start_us + 50 + kernel_us).correlation_id = id;
  }
  /// Nodes that count, by name.
  std::map<std::string, TbTree::Node> Find() {
    tree_.emplace(trace_);
    std::map<std::string, TbTree::Node> found;
    for (const uint32_t index : tree_->listed()) {
      const TbTree::Node& node = tree_->nodes()[index];
      found[NameOf(trace_.torch_events[node.event].name)] = node;
    }
    return found;
  }
  std::string NameOf(StringId name) const { return std::string(trace_.strings.View(name)); }

  Trace trace_;
  int64_t correlation_id_ = 100;
  std::optional<TbTree> tree_;
};

TEST_F(TbTreeTest, SelfAndTotal) {
  Op("aten::linear", 0, 100, 1);
  Op("aten::addmm", 10, 40, 2);
  Launch(2, 20, 7);
  Launch(1, 60, 5);
  auto found = Find();
  EXPECT_EQ(found["aten::addmm"].host_self_ns, 29'000);
  EXPECT_EQ(found["aten::addmm"].device_self_ns, 7000);
  EXPECT_EQ(found["aten::linear"].host_self_ns, 69'000);
  EXPECT_EQ(found["aten::linear"].device_self_ns, 5000);
  EXPECT_EQ(found["aten::linear"].device_total_ns, 12'000);
  EXPECT_TRUE(found["aten::linear"].eligible);
}

// Its kernels are gone with it.
TEST_F(TbTreeTest, AnOperatorThatOutlivesTheOneAroundItIsLost) {
  Op("a", 0, 50, 1);
  Op("b", 40, 60, 2);
  Launch(2, 45, 7);
  auto found = Find();
  EXPECT_EQ(found.count("b"), 0u);
  EXPECT_EQ(found["a"].device_total_ns, 0);
  EXPECT_EQ(found["a"].host_self_ns, 50'000);
}

// Of the outer only the times are left: its own launch is lost.
TEST_F(TbTreeTest, AnOnlyChildOfTheSameNameIsMerged) {
  Op("f", 0, 100, 1);
  Op("f", 10, 90, 2);
  Op("g", 20, 30, 3);
  Launch(1, 5, 7);
  Launch(2, 50, 3);
  auto found = Find();
  EXPECT_EQ(tree_->listed().size(), 2u);
  EXPECT_EQ(found["f"].length_ns, 100'000);
  EXPECT_EQ(found["f"].host_self_ns, 89'000);
  EXPECT_EQ(found["f"].device_self_ns, 3000);
}

// A number that no operator has, or several: the first has them.
TEST_F(TbTreeTest, LaunchesGoByTheirNumbers) {
  Op("a", 0, 50, 1);
  Op("b", 60, 90, 1);
  Launch(1, 70, 7);
  Launch(5, 80, 3);
  auto found = Find();
  EXPECT_EQ(found["a"].device_self_ns, 7000);
  EXPECT_EQ(found["b"].device_self_ns, 0);
  EXPECT_EQ(tree_->kernels().size(), 1u);
}

TEST_F(TbTreeTest, NumberZeroCountsTwice) {
  Op("a", 0, 50, 0);
  Launch(0, 10, 7);
  auto found = Find();
  EXPECT_EQ(found["a"].device_self_ns, 7000);
  ASSERT_EQ(tree_->kernels().size(), 2u);
  EXPECT_EQ(tree_->kernels()[0].op, 0u);  // The root had it last.
}

TEST_F(TbTreeTest, KernelsWithoutACallAreOfTheRootsWithAStep) {
  Op("a", 0, 50, 1);
  Add(Kind::kKernel, "kernel", 60, 70).correlation_id = 7;
  Find();
  EXPECT_TRUE(tree_->kernels().empty());
  Add(Kind::kAnnotation, "ProfilerStep#3", 0, 100);
  Find();
  EXPECT_EQ(tree_->kernels().size(), 1u);
}

TEST_F(TbTreeTest, WhatIsNoOperator) {
  Op("Optimizer.step#SGD.step", 0, 10);
  Op("Optimizer.zero_grad#SGD.zero_grad", 10, 20);
  Op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 20, 30);
  Op("DistributedDataParallel.forward", 30, 40);
  Op("ProfilerStep#1", 0, 100);
  Add(Kind::kAnnotation, "mine", 40, 50);
  Add(Kind::kModule, "nn.Module: Linear_0", 50, 60);
  Op("aten::relu", 70, 80);
  const auto found = Find();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, "aten::relu");
}

TEST_F(TbTreeTest, EligibleByTheKernelsOfItOrOfThoseInside) {
  Op("outer", 0, 100, 1);
  Op("custom", 10, 40, 2);
  Op("aten::relu", 50, 60, 3);
  Launch(2, 20, 7, "volta_h884gemm");
  Launch(3, 55, 3);
  auto found = Find();
  EXPECT_TRUE(found["custom"].eligible);
  EXPECT_TRUE(found["outer"].eligible);
  EXPECT_FALSE(found["aten::relu"].eligible);
  EXPECT_EQ(found["outer"].tensor_core_total_ns, 7000);
  // What a kernel's row says of its operator is by name.
  EXPECT_FALSE(tree_->kernels()[0].op_eligible);
  EXPECT_EQ(tree_->kernel_ns(), 10'000);
  EXPECT_EQ(tree_->eligible_kernel_ns(), 7000);
}

TEST_F(TbTreeTest, AThousandLevelsAndNothing) {
  Find();
  EXPECT_TRUE(tree_->nodes().empty());
  for (int i = 0; i < 1000; ++i) Op("f", i, 10'000 - i, i + 1);
  Launch(1000, 5000, 4);
  auto found = Find();
  EXPECT_EQ(tree_->listed().size(), 1u);
  EXPECT_EQ(found["f"].device_self_ns, 4000);
}

}  // namespace
}  // namespace oplens::prof::tb_tree_test
