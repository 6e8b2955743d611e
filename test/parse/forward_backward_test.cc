// Phases, and which forward op a backward kernel belongs to: one trace shape a rule.
#include "parse/join/forward_backward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/parse/hand_trace.h"

namespace oplens::parse::forward_backward_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMm = "{'mod': 'torch', 'op': 'mm', 'args': []}";
constexpr std::string_view kSplit = "{'mod': 'torch', 'op': 'split', 'args': []}";
constexpr std::string_view kAdd = "{'mod': 'torch', 'op': 'add', 'args': []}";

class ForwardBackwardTest : public HandTrace {
 protected:
  /// A node of the backward pass as PyTorch's profiler records it.
  void Node(int64_t start, int64_t end, std::string_view name, int64_t sequence,
            ThreadIndex thread = 1, int32_t forward_thread = 0) {
    Op(start, end, name, "", sequence, thread);
    trace_.operators.back().forward_thread = forward_thread;
  }
  Phase PhaseOf(size_t kernel) { return Record(kernel).phase; }
};

// ---- markers of nvtx_annotate ----

constexpr std::string_view kToldMm =
    "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), "
    "'dtype': "
    "'float32'}, {'name': '', 'type': 'tensor', 'shape': (3, 4), 'dtype': 'float32'}], 'oplens': "
    "{'v': 1, 'type': 'op', 'seq': 5, 'tid': 70, 'ftid': 0, 'dir': 'f', 'aten': 'aten::mm'}}";
constexpr std::string_view kToldMul =
    "{'mod': 'torch', 'op': 'mul', 'args': [], 'oplens': {'v': 1, 'type': 'op', 'seq': 5, 'tid': "
    "71, "
    "'ftid': 0, 'dir': 'f', 'aten': 'aten::mul.Tensor'}}";

TEST_F(ForwardBackwardTest, MarkersTellTheThreadOfTheForwardOp) {
  trace_.threads.push_back({10, 300});
  Range(0, 9, kToldMm);
  Range(0, 9, "mm, seq = 5");
  Kernel(4);
  Range(0, 9, kToldMul, 2);
  Range(0, 9, "mul, seq = 5", 2);
  Kernel(5, 2);
  Range(20, 30,
        "{'oplens': {'v': 1, 'seq': 5, 'tid': 72, 'ftid': 70, 'dir': 'b', 'node': 'MmBackward0'}}",
        1);
  Range(20, 30, "MmBackward, seq = 5", 1);
  Kernel(24, 1);
  Range(40, 50,
        "{'oplens': {'v': 1, 'seq': 5, 'tid': 72, 'ftid': 71, 'dir': 'b', 'node': 'MulBackward0'}}",
        1);
  Range(40, 50, "MulBackward, seq = 5", 1);
  Kernel(44, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kForward);
  EXPECT_EQ(PhaseOf(2), Phase::kBackward);
  EXPECT_EQ(PhaseOf(3), Phase::kBackward);
  EXPECT_EQ(Record(2).nodes, Record(0).nodes);
  EXPECT_EQ(Record(3).nodes, Record(1).nodes);
  EXPECT_THAT(Record(0).seq_ids, ElementsAre(5));
  EXPECT_THAT(Record(2).range, IsEmpty());
  EXPECT_EQ(Record(2).direction, Direction::kBackward);
}

// An op made of others has several nodes, which are one backward of it.
TEST_F(ForwardBackwardTest, NodesOfOneMarkedOp) {
  Range(0, 19,
        "{'mod': 'torch.nn.functional', 'op': 'cross_entropy', 'args': [], 'oplens': {'v': 1, "
        "'type': "
        "'op', 'seq': 5, 'tid': 70, 'ftid': 0, 'dir': 'f'}}");
  Range(0, 19, "cross_entropy_loss, seq = 5");
  Kernel(4);
  Range(10, 15, "nll_loss_nd, seq = 6");
  Kernel(12);
  for (const int64_t start : {20, 60}) {  // The second time: the graph was kept.
    Range(start, start + 9,
          "{'oplens': {'v': 1, 'seq': 6, 'tid': 72, 'ftid': 70, 'dir': 'b', 'node': "
          "'NllLossBackward0'}}",
          1);
    Range(start, start + 9, "NllLossBackward, seq = 6", 1);
    Kernel(start + 4, 1);
    Range(start + 10, start + 19,
          "{'oplens': {'v': 1, 'seq': 5, 'tid': 72, 'ftid': 70, 'dir': 'b', 'node': "
          "'LogSoftmaxBackward0'}}",
          1);
    Range(start + 10, start + 19, "LogSoftmaxBackward, seq = 5", 1);
    Kernel(start + 14, 1);
  }
  Join();
  for (const size_t kernel : {1U, 2U, 3U, 4U, 5U}) {
    EXPECT_EQ(Record(kernel).nodes, Record(0).nodes) << kernel;
  }
  EXPECT_EQ(Record(2).node_run, 0);
  EXPECT_EQ(Record(3).node_run, 0);
  EXPECT_EQ(Record(4).node_run, 1);
  EXPECT_EQ(Record(5).node_run, 1);
}

TEST_F(ForwardBackwardTest, MarkersTellWhatRunsAgainAndWhatAccumulates) {
  Range(20, 60,
        "{'oplens': {'v': 1, 'seq': 5, 'tid': 72, 'ftid': 0, 'dir': 'b', 'node': 'TanhBackward0'}}",
        1);
  Range(20, 60, "TanhBackward, seq = 5", 1);
  Range(21, 29,
        "{'mod': 'torch', 'op': 'tanh', 'args': [], 'oplens': {'v': 1, 'type': 'op', 'seq': 9, "
        "'tid': "
        "72, 'ftid': 0, 'dir': 'r', 'aten': 'aten::tanh'}}",
        1);
  Range(21, 29, "tanh, seq = 9", 1);
  Kernel(24, 1);
  Kernel(40, 1);
  Range(70, 80,
        "{'oplens': {'v': 1, 'seq': -1, 'tid': 72, 'ftid': 0, 'dir': 'g', 'node': "
        "'torch::autograd::AccumulateGrad'}}",
        1);
  Kernel(74, 1);
  Range(90, 99, "phase:optimizer");
  Kernel(94);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kRecompute);
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  EXPECT_EQ(PhaseOf(2), Phase::kAccumulate);
  EXPECT_EQ(PhaseOf(3), Phase::kOptimizer);
}

// ---- phases ----

TEST_F(ForwardBackwardTest, PhasesOfOneStep) {
  Op(0, 9, "aten::mm", kMm, 5);
  Kernel(4);
  Node(20, 49, "autograd::engine::evaluate_function: MmBackward0", 5);
  Node(30, 39, "MmBackward0", 5);
  Op(31, 38, "aten::mm", kMm, -1, 1);
  Kernel(34, 1);
  Op(41, 45, "aten::add", kAdd, -1, 1);  // Beside the node: a sum of gradients.
  Kernel(42, 1);
  Node(50, 69, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", -1);
  Kernel(51, 1);  // A hook.
  Node(52, 60, "torch::autograd::AccumulateGrad", -1);
  Op(53, 59, "aten::add_", kAdd, -1, 1);
  Kernel(55, 1);
  Typed(RangeKind::kAnnotation, 70, 90, "Optimizer.step#SGD.step");
  Op(71, 80, "aten::add_", kAdd, -1);
  Kernel(75);
  Kernel(95);  // Outside everything.
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kForward);
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  EXPECT_EQ(PhaseOf(2), Phase::kGradient);
  EXPECT_EQ(PhaseOf(3), Phase::kGradient);
  EXPECT_EQ(PhaseOf(4), Phase::kAccumulate);
  EXPECT_EQ(PhaseOf(5), Phase::kOptimizer);
  EXPECT_EQ(PhaseOf(6), Phase::kUnknown);
  for (const size_t backward : {1U, 2U, 3U, 4U}) {
    EXPECT_EQ(Record(backward).direction, Direction::kBackward) << backward;
  }
  EXPECT_EQ(Record(5).direction, Direction::kForward);
}

// Programs that run their own backward pass name it in their ranges.
TEST_F(ForwardBackwardTest, RangesThatNameAPass) {
  Typed(RangeKind::kAnnotation, 0, 9, "dispatch(F)");
  Kernel(4);
  Typed(RangeKind::kAnnotation, 10, 29, "combine(B)");
  Kernel(14);
  Typed(RangeKind::kAnnotation, 20, 28, "mlp(W)");
  Kernel(24);
  Typed(RangeKind::kAnnotation, 30, 39, "attn(F)");
  Kernel(34);
  Typed(RangeKind::kAnnotation, 40, 59, "attn(B)");
  Op(41, 50, "aten::mm", kMm, 5);
  Kernel(44);
  Typed(RangeKind::kAnnotation, 60, 69, "f(x)");
  Kernel(64);
  Typed(RangeKind::kAnnotation, 70, 79, "(F)");
  Kernel(74);
  Join();
  const std::pair<Phase, Direction> expected[] = {
      {Phase::kForward, Direction::kForward},   {Phase::kBackward, Direction::kBackward},
      {Phase::kBackward, Direction::kBackward}, {Phase::kForward, Direction::kForward},
      {Phase::kForward, Direction::kForward},  // An op is recorded.
      {Phase::kUnknown, Direction::kForward},   {Phase::kUnknown, Direction::kForward}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(PhaseOf(i), expected[i].first) << i;
    EXPECT_EQ(Record(i).direction, expected[i].second) << i;
  }
}

// PyTorch 1.0 has no range around what the engine does between the nodes, and numbers it 0.
TEST_F(ForwardBackwardTest, BetweenTheNodesOfAThreadOfTheEngine) {
  Range(0, 9, "mm, seq = 5");
  Kernel(4);
  Range(20, 29, "MmBackward, seq = 5", 1);
  Range(21, 28, "mm, seq = 0", 1);
  Kernel(24, 1);
  Range(30, 39, "sum, seq = 0", 1);
  Kernel(34, 1);
  Range(40, 49, "torch::autograd::AccumulateGrad", 1);
  Range(41, 48, "add_, seq = 0", 1);
  Kernel(44, 1);
  Join();
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  EXPECT_EQ(PhaseOf(2), Phase::kGradient);
  EXPECT_EQ(PhaseOf(3), Phase::kAccumulate);
  EXPECT_THAT(Record(2).seq_ids, IsEmpty()) << "0 is a filler";
}

// The backward pass of the CPU runs on the thread that asked for it.
TEST_F(ForwardBackwardTest, AThreadWithForwardOpsIsNotTheEngines) {
  Range(0, 9, "mm, seq = 5");
  Range(20, 29, "MmBackward, seq = 5");
  Range(30, 39, "add, seq = 7");
  Kernel(34);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kForward);
}

TEST_F(ForwardBackwardTest, GradientFunctionsAreNoNodes) {
  Range(0, 9, "nll_loss, seq = 5");
  Range(20, 29, "NllLossBackward, seq = 5", 1);
  Range(21, 28, "nll_loss_backward, seq = 0", 1);
  Kernel(24, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kBackward);
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
}

// ---- recomputed forward ops ----

// A reentrant checkpoint runs the forward ops, then their nodes, inside its own node.
TEST_F(ForwardBackwardTest, ReentrantCheckpoint) {
  Op(0, 9, "CheckpointFunction", kMm, 5);
  Node(20, 90, "CheckpointFunctionBackward", 5);
  Op(21, 30, "aten::mm", kMm, 9, 1);
  Kernel(25, 1);
  Node(40, 80, "autograd::engine::evaluate_function: MmBackward0", 9);
  Node(41, 79, "MmBackward0", 9);
  Op(42, 70, "aten::mm", kMm, -1, 1);
  Kernel(50, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kRecompute);
  EXPECT_EQ(Record(0).direction, Direction::kBackward);
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  // The node belongs to the op that ran again.
  EXPECT_EQ(Record(1).nodes, Record(0).nodes);
  EXPECT_THAT(Record(0).nodes, testing::SizeIs(1));
}

// Other checkpoints run them inside the first node that needs what was not kept. The node's own ops
// are not recorded, so they have no number.
TEST_F(ForwardBackwardTest, CheckpointThatUnpacksInANode) {
  Op(0, 9, "aten::tanh", kAdd, 5);
  Node(20, 90, "TanhBackward0", 5);
  Op(21, 30, "aten::mm", kMm, 9, 1);
  Kernel(25, 1);
  Op(31, 40, "aten::tanh", kAdd, 10, 1);
  Kernel(35, 1);
  Op(41, 50, "aten::tanh_backward", kAdd, -1, 1);
  Kernel(45, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kRecompute);
  EXPECT_EQ(PhaseOf(1), Phase::kRecompute);
  EXPECT_EQ(PhaseOf(2), Phase::kBackward);
}

TEST_F(ForwardBackwardTest, CheckpointThatItsCodeTells) {
  Op(0, 9, "aten::tanh", kAdd, 5);
  Node(20, 90, "TanhBackward0", 5);
  Typed(RangeKind::kFrame, 20, 45, "/x/torch/utils/checkpoint.py:1119", 1);
  Op(21, 30, "aten::mm", kMm, 9, 1);
  Kernel(25, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kRecompute);
}

// Each node of a checkpoint asks that code for what it needs; behind it come the node's own ops.
TEST_F(ForwardBackwardTest, OpsBehindTheCodeOfACheckpointAreTheNodesOwn) {
  Typed(RangeKind::kModule, 0, 15, "Conv2d_3");
  Op(1, 9, "aten::convolution", kMm, 5);
  Kernel(4);
  Node(20, 90, "autograd::engine::evaluate_function: ConvolutionBackward0", 5);
  Node(21, 89, "ConvolutionBackward0", 5);
  Typed(RangeKind::kFrame, 22, 45, "/x/torch/utils/checkpoint.py:1119", 1);
  Op(23, 30, "aten::mm", kMm, 9, 1);
  Kernel(25, 1);
  Op(50, 60, "aten::convolution_backward", kMm, -1, 1);
  Kernel(52, 1);
  Op(61, 70, "aten::mul", kAdd, -1, 1);
  Kernel(65, 1);
  Join();
  EXPECT_EQ(PhaseOf(1), Phase::kRecompute);
  for (const size_t own : {2U, 3U}) {
    EXPECT_EQ(PhaseOf(own), Phase::kBackward) << own;
    EXPECT_EQ(Record(own).direction, Direction::kBackward) << own;
    EXPECT_EQ(Record(own).nodes, Record(0).nodes) << own;
  }
}

// Whatever else is in the node, and whether the function has a number.
TEST_F(ForwardBackwardTest, GradientFunctionsNeverRunAgain) {
  Op(1, 9, "aten::convolution", kMm, 5);
  Kernel(4);
  Node(20, 95, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 8);
  Node(21, 90, "CheckpointFunctionBackward", 8);
  Typed(RangeKind::kFrame, 22, 89, "/x/torch/utils/checkpoint.py:300", 1);
  Node(23, 88, "ConvolutionBackward0", 5);
  Typed(RangeKind::kFrame, 24, 87, "/x/torch/utils/checkpoint.py:1119", 1);
  Op(25, 40, "aten::convolution_backward", kMm, 12, 1);
  Kernel(30, 1);
  Op(41, 60, "aten::mm", kMm, 13, 1);
  Kernel(45, 1);
  Op(61, 80, "aten::_softmax_backward_data", kMm, -1, 1);
  Kernel(65, 1);
  Join();
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  EXPECT_EQ(Record(1).nodes, Record(0).nodes);
  EXPECT_EQ(PhaseOf(2), Phase::kRecompute);
  EXPECT_EQ(PhaseOf(3), Phase::kBackward);
}

// With create_graph the backward pass is recorded: all its ops have numbers.
TEST_F(ForwardBackwardTest, RecordedBackwardIsNotRecomputed) {
  Op(0, 9, "aten::mm", kMm, 5);
  Node(20, 40, "MmBackward0", 5);
  Op(21, 30, "aten::mm", kMm, 9, 1);
  Kernel(25, 1);
  Op(31, 39, "aten::mm", kMm, 10, 1);
  Kernel(35, 1);
  Node(60, 80, "MmBackward0", 9);
  Op(61, 70, "aten::mm", kMm, -1, 1);
  Kernel(65, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kBackward);
  EXPECT_EQ(PhaseOf(1), Phase::kBackward);
  // Double backward: the node of an op that is itself part of a backward pass.
  EXPECT_EQ(PhaseOf(2), Phase::kBackward);
  EXPECT_THAT(Record(2).nodes, testing::SizeIs(1));
  EXPECT_NE(Record(2).nodes, Record(0).nodes);
}

// ---- which forward op ----

// Ops that made no node share the number of the next one that did.
TEST_F(ForwardBackwardTest, TheLastOpOfANumberMadeTheNode) {
  Op(0, 9, "aten::fill_", kAdd, 5);
  Kernel(4);
  Op(10, 19, "aten::mm", kMm, 5);
  Kernel(14);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Op(40, 49, "aten::fill_", kAdd, 5);  // Later: another iteration.
  Kernel(44);
  Join();
  EXPECT_THAT(Record(0).nodes, IsEmpty());
  EXPECT_THAT(Record(1).nodes, ElementsAre(1));
  EXPECT_THAT(Record(2).nodes, ElementsAre(1));
  EXPECT_THAT(Record(3).nodes, IsEmpty());
}

// Old versions give one number to several ops with nodes of other names.
TEST_F(ForwardBackwardTest, OfOneNumberTheNameDecides) {
  Op(0, 9, "aten::mm", kMm, 5);
  Kernel(4);
  Op(10, 19, "aten::detach", kAdd, 5);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Join();
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
  EXPECT_THAT(Record(1).nodes, ElementsAre(1));
}

// A function of the user runs ops of its own number inside.
TEST_F(ForwardBackwardTest, NodesOfUnknownNamesBelongToTheOutermostOp) {
  Op(0, 5, "aten::mm", kMm, 5);
  Op(10, 30, "my::lookup", kSplit, 5);
  Op(11, 20, "aten::zero_", kAdd, 5);
  Kernel(15);
  Op(21, 29, "aten::fill_", kAdd, 5);
  Node(40, 49, "SearchFunctionBackward", 5);
  Kernel(44, 1);
  Join();
  EXPECT_THAT(Record(1).nodes, ElementsAre(1));
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
  EXPECT_THAT(Record(0).node_ops, ElementsAre(1));
}

// C++ functions of the user have no numbered op: what has the number ran before them.
TEST_F(ForwardBackwardTest, NodesOfCppFunctionsHaveNoForwardOp) {
  Op(0, 5, "aten::zero_", kAdd, 5);
  Kernel(2);
  Op(10, 30, "my::lookup", kSplit, -1);
  Node(40, 49, "torch::autograd::CppNode<LookupFunction>", 5);
  Kernel(44, 1);
  Join();
  EXPECT_THAT(Record(0).nodes, IsEmpty());
  EXPECT_THAT(Record(1).nodes, IsEmpty());
}

TEST_F(ForwardBackwardTest, NumbersComeAgainInEveryIteration) {
  for (const int64_t start : {0, 100, 200}) {
    Op(start, start + 9, "aten::mm", kMm, 5);
    Kernel(start + 4);
    Node(start + 30, start + 39, "MmBackward0", 5);
    Kernel(start + 34, 1);
  }
  Join();
  for (const size_t i : {0U, 2U, 4U}) {
    EXPECT_THAT(Record(i).nodes, testing::SizeIs(1));
    EXPECT_EQ(Record(i).nodes, Record(i + 1).nodes) << i;
    EXPECT_EQ(Record(i + 1).node_run, 0);
  }
  EXPECT_NE(Record(0).nodes, Record(2).nodes);
}

// A graph that is kept may run backward twice.
TEST_F(ForwardBackwardTest, ANodeMayRunTwice) {
  Op(0, 9, "aten::mm", kMm, 5);
  Kernel(4);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Node(50, 59, "MmBackward0", 5);
  Kernel(54, 1);
  Join();
  EXPECT_EQ(Record(1).nodes, Record(2).nodes);
  EXPECT_EQ(Record(1).node_run, 0);
  EXPECT_EQ(Record(2).node_run, 1);
}

// The counter is each thread's own. The profiler's arrow, its number of the forward thread, or that
// only one thread has the number, tell whose.
TEST_F(ForwardBackwardTest, NumbersOfTwoForwardThreads) {
  trace_.threads.push_back({10, 300});
  Op(0, 9, "aten::mm", kMm, 5, 0);
  Kernel(4, 0);
  Op(0, 9, "aten::add", kAdd, 5, 2);
  Kernel(5, 2);
  Op(10, 19, "aten::mm", kMm, 6, 0);
  Op(10, 19, "aten::mm", kMm, 7, 2);
  Node(30, 39, "AddBackward0", 5, 1, 3);
  Kernel(34, 1);
  Node(40, 49, "MmBackward0", 6, 1, 1);
  Node(50, 59, "MmBackward0", 7, 1, 3);
  Node(60, 69, "MmBackward0", 5, 1, 1);
  Kernel(64, 1);
  Join();
  EXPECT_EQ(Record(2).nodes, Record(1).nodes);
  EXPECT_EQ(Record(3).nodes, Record(0).nodes);
  EXPECT_NE(Record(0).nodes, Record(1).nodes);
}

TEST_F(ForwardBackwardTest, ArrowsOfTheProfilerDecide) {
  trace_.threads.push_back({10, 300});
  Op(0, 9, "aten::mm", kMm, 5, 0);
  Kernel(4, 0);
  Op(1, 10, "aten::mm", kMm, 5, 2);
  Kernel(5, 2);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Node(40, 49, "MmBackward0", 5);
  Kernel(44, 1);
  trace_.forward_backward_links = {{0, 30, 0, 1}, {1, 40, 2, 1}};
  Join();
  EXPECT_EQ(Record(2).nodes, Record(0).nodes);
  EXPECT_EQ(Record(3).nodes, Record(1).nodes);
  EXPECT_NE(Record(0).nodes, Record(1).nodes);
}

TEST_F(ForwardBackwardTest, WithoutAnyOfTheseTwoThreadsAreAmbiguous) {
  trace_.threads.push_back({10, 300});
  Op(0, 9, "aten::mm", kMm, 5, 0);
  Op(0, 9, "aten::mm", kMm, 5, 2);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Join();
  EXPECT_THAT(Record(0).nodes, IsEmpty());
}

TEST_F(ForwardBackwardTest, OtherProcessesHaveOtherNumbers) {
  trace_.threads[1].process_id = 11;
  Op(0, 9, "aten::mm", kMm, 5, 0);
  Node(30, 39, "MmBackward0", 5);
  Kernel(34, 1);
  Join();
  EXPECT_THAT(Record(0).nodes, IsEmpty());
}

// Nothing on the GPU tells of a view; the record of its backward kernel does.
TEST_F(ForwardBackwardTest, ForwardOpsThatLaunchNothing) {
  Range(0, 20, "layer:decoder");
  Range(1, 19, kSplit);
  Range(2, 18, "split, seq = 5");
  Range(30, 49, "SplitBackward, seq = 5", 1);
  Range(31, 48, "cat, seq = 0", 1);
  Kernel(40, 1);
  Join();
  const KernelRecord record = Record(0);
  EXPECT_THAT(record.nodes, ElementsAre(1));
  EXPECT_THAT(record.forward_markers, ElementsAre(kSplit));
  EXPECT_THAT(record.forward_layer, ElementsAre("decoder"));
  EXPECT_THAT(record.forward_op, ElementsAre("split"));
}

// Ops that the forward op calls are no part of what its node belongs to.
TEST_F(ForwardBackwardTest, AnnotationsInsideTheForwardOpAreTold) {
  Op(0, 9, "lookup", kMm, -1);
  Op(1, 8, "lookup_function", kSplit, 5);
  Op(2, 7, "aten::add", kAdd, -1);
  Kernel(4);
  Node(30, 39, "LookupFunctionBackward", 5);
  Kernel(34, 1);
  Join();
  EXPECT_THAT(Record(0).markers, testing::SizeIs(3));
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
  EXPECT_THAT(Record(0).node_ops, ElementsAre(2));
}

TEST_F(ForwardBackwardTest, NumberZeroIsTheFirstNode) {
  Op(0, 9, "aten::mm", kMm, 0);
  Kernel(4);
  Node(30, 39, "MmBackward0", 0);
  Kernel(34, 1);
  Join();
  EXPECT_THAT(Record(1).nodes, ElementsAre(1));
  EXPECT_THAT(Record(0).nodes, ElementsAre(1));
}

TEST_F(ForwardBackwardTest, ExtremeTimesAndNumbers) {
  Op(INT64_MIN, INT64_MAX - 1, "aten::mm", kMm, INT64_MAX);
  Node(INT64_MIN, INT64_MAX - 1, "MmBackward0", INT64_MAX);
  Node(INT64_MAX - 2, INT64_MAX - 1, "MmBackward0", INT64_MAX);
  trace_.forward_backward_links = {{INT64_MIN, INT64_MAX, 77, 99}};
  Kernel(50, 1);
  Join();
  EXPECT_EQ(PhaseOf(0), Phase::kBackward);
}

// ---- numbers that come again in every iteration ----

TEST_F(ForwardBackwardTest, OfManyIterationsWithOneNumberTheLastBeforeTheNodeCounts) {
  constexpr int64_t kIterations = 100;
  for (int64_t i = 0; i < kIterations; ++i) {
    const int64_t at = i * 100;
    Range(at, at + 40, "contiguous, seq = 5");
    Range(at + 10, at + 20, "clone, seq = 5");
    Kernel(at + 15);
    Range(at + 50, at + 60, "torch::autograd::CopyBackwards, seq = 5", 1);
    Kernel(at + 55, 1);
  }
  Join();
  for (size_t i = 0; i < kIterations; ++i) {
    // No name fits: the outermost around the last, which is that of the iteration.
    EXPECT_EQ(Record(2 * i + 1).nodes, Record(2 * i).nodes) << i;
    EXPECT_EQ(Record(2 * i + 1).nodes, std::vector<int64_t>{static_cast<int64_t>(i) + 1}) << i;
    EXPECT_EQ(Record(2 * i + 1).node_run, 0) << i;
  }
}

TEST_F(ForwardBackwardTest, AnOpLongBeforeOthersOfItsNumberIsFoundByName) {
  Range(0, 20, "mm, seq = 5");
  Kernel(10);
  constexpr int64_t kOthers = 100;
  for (int64_t i = 1; i <= kOthers; ++i) Range(i * 100, i * 100 + 10, "size, seq = 5");
  for (int64_t run = 0; run < 3; ++run) {
    const int64_t at = (kOthers + 1 + run) * 100;
    Range(at, at + 10, "MmBackward0, seq = 5", 1);
    Kernel(at + 5, 1);
  }
  Join();
  for (size_t run = 0; run < 3; ++run) {
    EXPECT_EQ(Record(run + 1).nodes, Record(0).nodes);
    EXPECT_EQ(Record(run + 1).node_run, static_cast<int64_t>(run));
  }
}

}  // namespace
}  // namespace oplens::parse::forward_backward_test
