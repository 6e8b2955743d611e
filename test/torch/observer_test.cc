// What is emitted for the ops and nodes of a C++ program.

#include <gmock/gmock.h>

#include <algorithm>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::observer_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto Holds(const std::vector<std::string>& lines) { return ::testing::IsSupersetOf(lines); }

void Replace(const std::string& what, const std::string& by, std::string* text) {
  for (size_t at = text->find(what); at != text->npos; at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

/// The ops of a case: "mm({tensor (2, 3) float32}, {int 2})", the texts of positional arguments
/// without what all of them have in common.
std::vector<std::string> Calls(const TorchRun& run) {
  std::vector<std::string> calls;
  for (const NvtxRange& range : run.ranges.ranges) {
    if (!IsOp(range)) continue;
    const size_t begin = range.text.find("'args': [") + 9;
    std::string args = range.text.substr(begin, range.text.find("], 'oplens': ") - begin);
    Replace("'name': '', 'type': ", "", &args);
    Replace("'name': ", "", &args);
    Replace("'type': ", "", &args);
    Replace("'value': ", "", &args);
    Replace("'shape': ", "", &args);
    Replace("'dtype': ", "", &args);
    Replace("'tensor', ", "", &args);
    calls.push_back(Fact(range.text, "mod") + "." + Fact(range.text, "op") + "(" + args + ")");
  }
  return calls;
}

TEST(ObserverTest, ExceptionsLeaveNothingOpen) {
  EXPECT_THAT(RunCase("exception").Short(),
              ElementsAre("outer", "  mm f", "    mm, seq = 0", "neg f", "  neg, seq = 0", "outer",
                          "  mm f", "    mm, seq = 0", "neg f", "  neg, seq = 0", "thrown from",
                          "abs f", "  abs, seq = 0"));
}

TEST(ObserverTest, RangesThatEndElsewhere) {
  EXPECT_THAT(RunCase("other-threads").Short(),
              ElementsAre("ended elsewhere", "  neg f", "    neg, seq = 0", "abs f",
                          "  abs, seq = 0", "outer", "  inner", "exp f", "  exp, seq = 0", "sin f",
                          "  sin, seq = 0", "cos f", "  cos, seq = 0"));
}

TEST(ObserverTest, FunctionOfTheUser) {
  // PyTorch has no record of a C++ function's forward part but of the ops in it.
  EXPECT_THAT(
      RunCase("custom").Short(),
      ElementsAre("exp f", "  exp, seq = 0", "mul f", "sum f", "  sum, seq = 2",
                  "evaluate SumBackward0", "  node SumBackward0 b", "    SumBackward, seq = 2",
                  "evaluate torch::autograd::CppNode<(anonymous namespace)::Square>",
                  "  node torch::autograd::CppNode<(anonymous namespace)::Square> b",
                  HasSubstr(", seq = 1"), "evaluate ExpBackward0", "  node ExpBackward0 b",
                  "    ExpBackward, seq = 0", "evaluate torch::autograd::AccumulateGrad",
                  "  node torch::autograd::AccumulateGrad g"));
}

TEST(ObserverTest, OpsThatRunAgainInANodeAreWhole) {
  EXPECT_THAT(RunCase("reentrant").Short(),
              Holds({"      sin r", "        sin, seq = 3", "      cos r", "        cos, seq = 4",
                     "      evaluate CosBackward0", "        node CosBackward0 b",
                     "          CosBackward, seq = 4"}));
}

TEST(ObserverTest, GradientsOfGradients) {
  const std::vector<std::string> lines = RunCase("double").Short();
  EXPECT_THAT(lines, Holds({"      pow b", "        pow, seq = 2", "  node PowBackward0 b",
                            "    PowBackward, seq = 0", "    PowBackward, seq = 2"}));
}

TEST(ObserverTest, HooksAndSumsOfGradients) {
  EXPECT_THAT(RunCase("hook").Short(),
              Holds({"evaluate SinBackward0", "  add g", "evaluate ExpBackward0", "  clamp g",
                     "  node ExpBackward0 b"}));
}

TEST(ObserverTest, NodesNameTheThreadOfTheirForwardOp) {
  const TorchRun run = RunCase("threads");
  for (const std::string op : {"sin", "mean"}) {
    const auto is_op = [&](const NvtxRange& range) {
      return IsOp(range) && Fact(range.text, "op") == op;
    };
    const auto is_node = [&](const NvtxRange& range) {
      return Fact(range.text, "node") == (op == "sin" ? "SinBackward0" : "MeanBackward0");
    };
    const auto& ranges = run.ranges.ranges;
    const auto forward = std::find_if(ranges.begin(), ranges.end(), is_op);
    const auto backward = std::find_if(ranges.begin(), ranges.end(), is_node);
    ASSERT_TRUE(forward != ranges.end() && backward != ranges.end()) << op;
    EXPECT_EQ(Fact(forward->text, "tid"), std::to_string(forward->thread_id));
    EXPECT_EQ(Fact(backward->text, "ftid"), Fact(forward->text, "tid"));
    EXPECT_EQ(Fact(backward->text, "tid"), std::to_string(backward->thread_id));
    EXPECT_EQ(Fact(backward->text, "seq"), Fact(forward->text, "seq"));
    EXPECT_NE(forward->thread_id, backward->thread_id);
  }
}

TEST(ObserverTest, CaptureWindow) {
  EXPECT_THAT(RunCase("window").Short(),
              ElementsAre("abs f", "  abs, seq = 0", "ended outside", "exp f", "  exp, seq = 0",
                          "cos f", "  cos, seq = 0"));
  EXPECT_THAT(RunCase("custom", {"OPLENS_ANNOTATE=off"}).Outline(), IsEmpty());
  // The framework calls nothing meanwhile.
  EXPECT_EQ(RunCase("callbacks", {"OPLENS_ANNOTATE=off"}).result.out, "installed 1, callbacks 0\n");
}

TEST(ObserverTest, OpsInsideOps) {
  const std::vector<std::string> without = RunCase("inner").Short();
  EXPECT_THAT(without, Contains("    matmul, seq = 1"));
  EXPECT_THAT(without, ::testing::Not(Contains(HasSubstr("mm f"))));
  for (const char* const options : {"OPLENS_ANNOTATE=", "OPLENS_ANNOTATE=inner"}) {
    EXPECT_THAT(RunCase("inner", {options}).Short(),
                Holds({"linear f", "    matmul f", "        mm f", "      mm b"}));
    // Views inside other calls are left out.
    EXPECT_THAT(RunCase("inner", {options}).Short(), ::testing::Not(Contains("    t f")));
  }
  // PyTorch reports the kernel of this view's operator as a function of its own.
  const std::vector<std::string> reentrant = RunCase("reentrant", {"OPLENS_ANNOTATE="}).Outline();
  EXPECT_THAT(reentrant, Contains(HasSubstr("'aten::detach'")));
  EXPECT_THAT(reentrant, ::testing::Not(Contains(HasSubstr("{'mod': 'autograd', 'op': 'detach'"))));
}

TEST(ObserverTest, Arguments) {
  const std::vector<std::string> calls = Calls(RunCase("arguments"));
  const std::vector<std::string> expected = {
      "torch.addmm({(4,), 'float32'}, {(2, 3), 'float32'}, {(3, 4), 'float32'}, {'beta', 'int', "
      "2}, "
      "{'alpha', 'float', 0.5})",
      // A list of tensors is flattened.
      "torch.cat({(2, 3), 'float32', 'list': 1}, {(1, 3), 'float64', 'list': 1}, {'int', 0})",
      // Without a bias.
      "torch.nn.functional.linear({(2, 3), 'float32'}, {(4, 3), 'float32'})",
      // A tensor without dimensions stays one.
      "torch.where({(2, 3), 'bool'}, {(2, 3), 'float32'}, {(), 'float32'})",
      "torch.zeros({'tuple', (0, 3)}, {'dtype', 'str', 'int16'})",
      "Tensor.to({(2, 3), 'float32'}, {'dtype', 'str', 'bfloat16'})",
      "torch.div({(2, 3), 'float32'}, {'int', 2}, {'rounding_mode', 'str', 'floor'})",
      // In the order of the Python function, which is not that of the operator.
      "torch.nn.functional.embedding({(3,), 'int64'}, {(5, 2), 'float32'}, {'padding_idx', 'int', "
      "-1}, {'scale_grad_by_freq', 'bool', False}, {'sparse', 'bool', False})",
      "torch.sum({(2, 3), 'float32'}, {'dim', 'tuple', (0, 1)}, {'keepdim', 'bool', True}, "
      "{'dtype', "
      "'str', 'float64'})",
      "torch.full({'tuple', (2,)}, {'complex', '(1.0-2.0j)'})",
      "Tensor.add_({(2, 3), 'float32'}, {'int', 1}, {'alpha', 'int', 1})",
      "aten.to_sparse({(2, 3), 'float32'})",
      // A nested tensor has no one shape.
      "torch.clone({'Tensor', None})",
      "torch._foreach_add({(2,), 'float32', 'list': 1}, {(3,), 'float32', 'list': 1}, {(2,), "
      "'float32', 'list': 2}, {(3,), 'float32', 'list': 2}, {'alpha', 'int', 1})",
      "aten.quantize_per_tensor({(2, 3), 'float32'}, {'float', 0.1}, {'int', 3}, {'dtype', 'str', "
      "'quint8'})",
  };
  EXPECT_THAT(calls, ::testing::IsSupersetOf(expected));
}

TEST(ObserverTest, TextsAreTheSameInBothModes) {
  for (const char* const name : {"arguments", "double", "hook"}) {
    for (const char* const options : {"OPLENS_ANNOTATE=", "OPLENS_ANNOTATE=outer"}) {
      EXPECT_EQ(RunCase(name, {options}).Outline(), RunCase(name, {options}, "text").Outline())
          << name;
    }
  }
}

TEST(ObserverTest, WhatATensorThrowsLeavesItsRangeOut) {
  for (const char* const mode : {"payload", "text"}) {
    EXPECT_THAT(RunCase("no-sizes", {}, mode).Short(), Contains("abs f")) << mode;
  }
}

TEST(ObserverTest, NoToolNoCallback) {
  EXPECT_EQ(RunWithoutTool({Program("torch_cases"), "callbacks"}).out,
            "installed 0, callbacks 0\n");
  EXPECT_EQ(RunCase("callbacks").result.out, "installed 1, callbacks 1\n");
}

}  // namespace
}  // namespace oplens::test::observer_test
