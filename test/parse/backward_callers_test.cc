// What the threads that wait for the backward pass are inside of.
#include "parse/join/backward_callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/parse/hand_trace.h"

namespace oplens::parse::backward_callers_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kMm = "{'mod': 'torch', 'op': 'mm', 'args': []}";

class BackwardCallersTest : public HandTrace {
 protected:
  void Forward(int64_t start, int64_t sequence, ThreadIndex thread = 0) {
    Op(start, start + 9, "aten::mm", kMm, sequence, thread);
  }
  void Node(int64_t start, int64_t end, int64_t sequence) {
    Op(start, end, sequence < 0 ? "AccumulateGrad" : "MmBackward0", "", sequence, 1);
  }
  void Label(int64_t start, int64_t end, std::string_view text, ThreadIndex thread = 0) {
    Typed(RangeKind::kAnnotation, start, end, text, thread);
  }
};

TEST_F(BackwardCallersTest, NodesThatBeganInsideOfARangeAreInIt) {
  Forward(0, 5);
  Forward(10, 6);
  Label(20, 100, "step");
  Label(40, 80, "backward");
  Node(30, 50, 6);
  Kernel(45, 1);  // Its node began before "backward".
  Node(60, 90, 5);
  Kernel(85, 1);  // Launched after "backward", which its node began in.
  Node(91, 99, -1);
  Kernel(95, 1);  // No forward op: as the node before.
  Join();
  EXPECT_THAT(Record(0).caller_range, ElementsAre("step"));
  EXPECT_THAT(Record(1).caller_range, ElementsAre("step", "backward"));
  EXPECT_THAT(Record(2).caller_range, ElementsAre("step"));
  EXPECT_THAT(Record(1).range, IsEmpty());
}

TEST_F(BackwardCallersTest, TheOutermostNodeCounts) {
  Forward(0, 5);
  Label(20, 31, "call");
  Label(32, 90, "later");
  Op(30, 80, "autograd::engine::evaluate_function: MmBackward0", "", 5, 1);
  Node(40, 60, 5);
  Kernel(50, 1);
  Kernel(70, 1);  // A hook.
  Join();
  EXPECT_THAT(Record(0).caller_range, ElementsAre("call"));
  EXPECT_THAT(Record(1).caller_range, ElementsAre("call"));
}

TEST_F(BackwardCallersTest, OnlyTheThreadOfTheForwardOpWaits) {
  trace_.threads.push_back({10, 300});
  Forward(0, 5, 0);
  Forward(0, 6, 2);
  Label(20, 90, "replica 0", 0);
  Label(20, 90, "replica 2", 2);
  Node(30, 39, -1);
  Kernel(34, 1);  // Before every node that is linked: as the first that is.
  Node(40, 49, 5);
  Kernel(44, 1);
  Node(50, 59, 6);
  Kernel(54, 1);
  Join();
  EXPECT_THAT(Record(0).caller_range, ElementsAre("replica 0"));
  EXPECT_THAT(Record(1).caller_range, ElementsAre("replica 0"));
  EXPECT_THAT(Record(2).caller_range, ElementsAre("replica 2"));
}

TEST_F(BackwardCallersTest, WithoutLinksAnyThreadOfTheProcessMayWait) {
  trace_.threads.push_back({10, 300});
  trace_.threads.push_back({11, 400});
  Label(20, 90, "main", 0);
  Label(20, 90, "other", 2);
  Label(20, 90, "foreign", 3);
  Node(40, 49, 5);
  Kernel(44, 1);
  Join();
  EXPECT_THAT(Record(0).caller_range, ElementsAre("main", "other"));
}

TEST_F(BackwardCallersTest, NobodyWaitsForForwardKernelsAndOnesOwnThread) {
  Label(0, 90, "all");
  Forward(10, 5);
  Kernel(14);
  Op(30, 39, "MmBackward0", "", 5, 0);
  Kernel(34);
  Join();
  EXPECT_THAT(Record(0).caller_range, IsEmpty());
  EXPECT_THAT(Record(1).caller_range, IsEmpty());
  EXPECT_THAT(Record(1).range, ElementsAre("all"));
}

TEST_F(BackwardCallersTest, StepsAreLeftOutAndOpenRangesMarked) {
  Forward(0, 5);
  Typed(RangeKind::kStep, 10, 90, "ProfilerStep#7");
  Range(11, kNeverClosed, "never popped");
  Node(40, 49, 5);
  Kernel(44, 1);
  Join();
  EXPECT_EQ(Record(0).step, 7);
  EXPECT_THAT(Record(0).caller_range, ElementsAre("never popped [open]"));
}

TEST_F(BackwardCallersTest, TheSixteenOutermostAreNamed) {
  Forward(0, 5);
  for (int i = 0; i < 20; ++i) Label(20 + i, 100 - i, "depth");
  Node(50, 59, 5);
  Kernel(54, 1);
  Join();
  EXPECT_THAT(Record(0).caller_range, SizeIs(kMaxRangePath));
}

}  // namespace
}  // namespace oplens::parse::backward_callers_test
