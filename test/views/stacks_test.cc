#include "prof/views/calls/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::prof::stacks_test {
namespace {

using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::MadeRun;
using test::ViewRow;
using ::testing::HasSubstr;

const View& kView = kStacksView;

class StacksTest : public ::testing::Test {
 protected:
  void Frame(const std::string& name, int64_t start_ns, int64_t end_ns) {
    builder_.AddHost("python_function", name, start_ns, end_ns - start_ns);
  }
  void Call(const std::string& name, int64_t start_ns, int64_t end_ns,
            const std::string& stack = "", int64_t thread = 1234) {
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_ns;
    op.duration_ns = end_ns - start_ns;
    op.stack = stack;
    op.thread_id = thread;
    builder_.AddOperator(op);
  }
  void Kernel(int64_t launch_ns, int64_t duration_ns) {
    KinetoKernel kernel;
    kernel.start_ns = launch_ns + 50000;
    kernel.duration_ns = duration_ns;
    kernel.correlation = builder_.AddCall("cudaLaunchKernel", launch_ns, 100);
    builder_.AddKernel(kernel);
  }
  std::unique_ptr<Partial> Find(const std::vector<std::string>& by = {}, const View& view = kView) {
    const std::filesystem::path path = test::TestDir() / "trace.json";
    builder_.Write(path);
    return test::PartialOf(view, {path.string()}, {by});
  }
  std::string Lines(const std::vector<std::string>& by = {}, const View& view = kView) {
    const auto partial = Find(by, view);
    EXPECT_TRUE(partial->IsDocument());
    return partial->Document();
  }

  KinetoBuilder builder_;
};

// |- train.py:10 ---------------------------------------|
//    |- aten::linear ----------------------|
//       |- hook.py:3 --|  |- aten::addmm -|
//          |- aten::t -|     kernel 700       kernel 40 of nothing
TEST_F(StacksTest, FramesAndOperatorsNest) {
  Frame("train.py(10): main", 0, 10000);
  Call("aten::linear", 1000, 6000);
  Frame("hook.py(3): f", 2000, 3000);
  Call("aten::t", 2200, 2900);
  Call("aten::addmm", 4000, 5500);
  Kernel(4100, 700);
  Kernel(7000, 40);
  EXPECT_EQ(Lines(),
            "(unattributed) 40\n"
            "train.py:10;aten::linear;aten::addmm 700\n");
  EXPECT_EQ(Lines({"host"}),
            "train.py:10;aten::linear 2800\n"
            "train.py:10;aten::linear;aten::addmm 1500\n"
            "train.py:10;aten::linear;hook.py:3;aten::t 700\n");
  const auto rows = test::RowsOf(*Find());
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("stack"), "train.py:10;aten::linear;aten::addmm");
  EXPECT_EQ(rows[0].at("host_self_ns"), "1500");
  EXPECT_EQ(rows[0].at("launches"), "1");
  EXPECT_EQ(rows[1].at("stack"), "(unattributed)");
}

// Each call shows what its stack has beyond that of the call around it.
TEST_F(StacksTest, RecordedStacks) {
  Call("aten::linear", 0, 9000, "b.py(2): g;a.py(1): <module>");
  Call("aten::t", 1000, 2000, "b.py(2): g;a.py(1): <module>");
  Call("aten::addmm", 3000, 4000, "c.py(3): h;b.py(2): g;a.py(1): <module>");
  Call("aten::mm", 5000, 6000, "d.py(4): k");
  EXPECT_EQ(Lines({"host"}),
            "a.py:1;b.py:2;aten::linear 6000\n"
            "a.py:1;b.py:2;aten::linear;aten::mm 1000\n"
            "a.py:1;b.py:2;aten::linear;aten::t 1000\n"
            "a.py:1;b.py:2;aten::linear;c.py:3;aten::addmm 1000\n");
}

TEST_F(StacksTest, LayersAreFramesToo) {
  builder_.AddHost("python_function", "nn.Module: Net_0", 0, 9000);
  Frame("net.py(5): forward", 500, 8000);
  builder_.AddHost("python_function", "nn.Module: Linear_1", 1000, 3000);
  Call("aten::mm", 1500, 2500);
  Kernel(1600, 70);
  Kernel(5000, 8);
  EXPECT_EQ(Lines({"layer"}),
            "Net_0;(unattributed) 8\n"
            "Net_0;net.py:5;Linear_1;aten::mm 70\n");
}

TEST_F(StacksTest, TheBackwardPassIsInTheLayersOfTheForwardOp) {
  builder_.AddHost("python_function", "nn.Module: Net_0", 0, 9000);
  KinetoOperator op;
  op.name = "aten::mm";
  op.start_ns = 1000;
  op.duration_ns = 500;
  op.sequence = 5;
  builder_.AddOperator(op);
  op.name = "MmBackward0";
  op.start_ns = 20000;
  op.thread_id = 77;
  op.forward_thread = 1;
  builder_.AddOperator(op);
  EXPECT_EQ(Lines({"layer", "host"}), "Net_0;MmBackward0 500\nNet_0;aten::mm 500\n");
}

TEST_F(StacksTest, RanksAreInFront) {
  builder_.AddMember("distributedInfo", R"({"backend": "nccl", "rank": 3, "world_size": 4})");
  Call("aten::mm", 0, 1000);
  EXPECT_EQ(Lines({"rank", "host"}), "rank_3;aten::mm 1000\n");
}

// export_stacks: calls with a stack, which has no operators, in whole microseconds each.
TEST_F(StacksTest, TheLinesOfPyTorch) {
  const std::string stack = "b.py(2): g;a.py(1): <module>";
  Call("aten::linear", 0, 5900, stack);
  Call("aten::mm", 1000, 3500, stack);
  Call("aten::t", 3600, 4000, stack);
  Call("aten::mul", 7000, 8000);
  Kernel(1100, 2999);
  for (const char* const rules : {"torch-1.13", "torch-legacy"}) {
    const View& view = test::ViewBy(rules, "stacks");
    // 5900 - 2500 - 400, 2500, 400
    EXPECT_EQ(Lines({"host"}, view), "a.py:1;b.py:2 5\n");
    EXPECT_EQ(Lines({}, view), "a.py:1;b.py:2 2\n");
  }
}

// Of 2.13: whole frames, and labels too.
TEST_F(StacksTest, TheLinesOfPyTorch2) {
  const std::string stack = "b.py(2): g;a.py(1): <module>;";
  Call("aten::linear", 0, 5900, stack);
  Call("aten::mm", 1000, 3500, stack);
  Call("aten::t", 3600, 4000, stack);
  Call("aten::mul", 7000, 8000);
  const View& view = test::ViewBy("torch-2.13", "stacks");
  // 5.9 - 2.5 - 0.4, 2.5; less than a microsecond is no line.
  EXPECT_EQ(Lines({"host"}, view), "a.py(1):_<module>;b.py(2):_g 5\n");
}

TEST_F(StacksTest, NoStacksForPyTorchsLines) {
  Call("aten::mul", 7000, 8000);
  const auto partial = Find({}, test::ViewBy("torch", "stacks"));
  EXPECT_EQ(partial->Document(), "");
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("no call stacks"));
}

TEST_F(StacksTest, MergingIsAdding) {
  Call("aten::mm", 0, 1000);
  const auto one = Find();
  Call("aten::add", 2000, 2500);
  const auto two = Find();
  const auto forth = kStacksView.make({.by = {"host"}});
  forth->Merge(*one);
  forth->Merge(*two);
  const auto back = kStacksView.make({.by = {"host"}});
  back->Merge(*two);
  back->Merge(*one);
  EXPECT_EQ(forth->Document(), "aten::add 500\naten::mm 2000\n");
  EXPECT_EQ(back->Document(), forth->Document());
  EXPECT_EQ(test::RowsOf(*back), test::RowsOf(*forth));
}

TEST_F(StacksTest, RecordsHaveNoLines) {
  const auto partial = kStacksView.make({});
  partial->Begin(nullptr);
  partial->Add(PricedKernel());
  partial->End(nullptr);
  EXPECT_EQ(partial->Document(), "");
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("records"));
}

TEST_F(StacksTest, OtherWordsAreErrors) {
  EXPECT_THROW(kStacksView.make({.by = {"step"}}), UsageError);
}

// b begins in a and ends after it: neither is in the other, but both are in the frame.
TEST(MadeStacksTest, CallsThatCross) {
  MadeRun made;
  made.AddRange("a.py:1", 0, 1000, RangeKind::kFrame);
  made.AddRange("aten::a", 100, 500, RangeKind::kOperator);
  made.AddRange("aten::b", 300, 800, RangeKind::kOperator);
  const auto partial = made.PartialOf(kStacksView.make, [](PricedKernel*) {}, {.by = {"host"}});
  EXPECT_EQ(partial->Document(), "a.py:1;aten::a 400\na.py:1;aten::b 500\n");
}

TEST(MadeStacksTest, WhatSeparatesFramesIsReplaced) {
  MadeRun made;
  made.AddRange("my op;\tof two\nlines", 0, 1000, RangeKind::kOperator);
  const auto partial = made.PartialOf(kStacksView.make, [](PricedKernel*) {}, {.by = {"host"}});
  EXPECT_EQ(partial->Document(), "my_op__of_two_lines 1000\n");
}

}  // namespace
}  // namespace oplens::prof::stacks_test
