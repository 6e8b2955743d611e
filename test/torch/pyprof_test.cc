// The mode `pyprof`: texts for PyProf's own prof (docs/pyprof_differences.md). That its prof takes
// them is what scripts/check_pyprof.py checks where PyProf is at hand.

#include <gmock/gmock.h>

#include <algorithm>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::pyprof_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kMode = {"OPLENS_ANNOTATE=pyprof"};

/// Ops as "Tensor.exp", all other ranges as they are, indented; without what makes the data.
std::vector<std::string> Names(const TorchRun& run) {
  std::vector<std::string> lines;
  for (std::string line : run.Outline()) {
    const size_t blanks = line.find_first_not_of(' ');
    const std::string text = line.substr(blanks);
    if (text.starts_with("ones_like, seq = ")) continue;
    if (text.starts_with("{'mod'")) {
      const std::string op = Fact(text, "op");
      if (op == "rand" || op == "ones" || op == "ones_like") continue;
      line = line.substr(0, blanks) + Fact(text, "mod") + "." + op;
    }
    lines.push_back(line);
  }
  return lines;
}

/// The texts of a program's ops.
std::vector<std::string> Ops(const TorchRun& run) {
  std::vector<std::string> texts;
  for (const NvtxRange& range : run.ranges.ranges) {
    if (IsOp(range)) texts.push_back(range.text);
  }
  return texts;
}

TEST(PyprofModeTest, OpsAsPyprofsPatchesWriteThem) {
  const std::vector<std::string> ops = Ops(RunCase("arguments", kMode));
  EXPECT_THAT(
      ops,
      ::testing::IsSupersetOf(
          {"{'mod': 'torch', 'op': 'ones', 'args': [{'name': '', 'type': 'int', 'value': 2}, "
           "{'name': '', 'type': 'int', 'value': 3}]}",
           "{'mod': 'torch', 'op': 'addmm', 'args': [{'name': '', 'type': 'tensor', 'shape': (4,), "
           "'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': "
           "'float32'}, {'name': '', 'type': 'tensor', 'shape': (3, 4), 'dtype': 'float32'}, "
           "{'name': 'beta', 'type': 'int', 'value': 2}, {'name': 'alpha', 'type': 'float', "
           "'value': 0.5}]}",
           "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor', "
           "'shape': (2, 3), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (4, 3), "
           "'dtype': 'float32'}, {'name': '', 'type': 'NoneType', 'value': None}]}",
           "{'mod': 'Tensor', 'op': 'bfloat16', 'args': [{'name': '', 'type': 'tensor', 'shape': "
           "(2, 3), 'dtype': 'float32'}]}",
           "{'mod': 'torch', 'op': 'div', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), "
           "'dtype': 'float32'}, {'name': '', 'type': 'int', 'value': 2}, {'name': "
           "'rounding_mode', 'type': 'str', 'value': 'floor'}]}",
           "{'mod': 'Tensor', 'op': 'sum', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, "
           "3), 'dtype': 'float32'}, {'name': '', 'type': 'tuple', 'value': (0, 1)}, {'name': "
           "'keepdim', 'type': 'bool', 'value': True}]}",
           // Two types: prof would abort.
           "{'mod': 'torch', 'op': 'aten::cat', 'args': [{'name': '', 'type': 'tensor', 'shape': "
           "(2, 3), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (1, 3), 'dtype': "
           "'float64'}]}",
           // A number of C++ is a tensor for the dispatcher.
           "{'mod': 'Tensor', 'op': 'add_', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, "
           "3), 'dtype': 'float32'}, {'name': '', 'type': 'int', 'value': 1}]}"}));
  EXPECT_THAT(ops, Each(Not(HasSubstr("oplens"))));
}

TEST(PyprofModeTest, TextsAreTheSameUnderAnyTool) {
  const std::vector<std::string> under_record = RunCase("custom", kMode, "payload").Outline();
  EXPECT_EQ(under_record, RunCase("custom", kMode, "text").Outline());
  EXPECT_THAT(
      Names(RunCase("custom", kMode)),
      ElementsAre("torch.exp", "  exp, seq = 0", "Tensor.__mul__", "Tensor.sum", "  sum, seq = 2",
                  "autograd::engine::evaluate_function: SumBackward0", "  SumBackward, seq = 2",
                  HasSubstr("evaluate_function"), HasSubstr("Backward, seq = 1"),
                  "autograd::engine::evaluate_function: ExpBackward0", "  ExpBackward, seq = 0",
                  "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                  "  torch::autograd::AccumulateGrad"));
}

TEST(PyprofModeTest, NodesOfPyTorchHaveNoOps) {
  // What the node computes has the forward op's price.
  EXPECT_THAT(Names(RunCase("double", kMode)), Not(Contains("      Tensor.__pow__")));
  EXPECT_THAT(Names(RunCase("hook", kMode)),
              ::testing::IsSupersetOf(
                  {"torch.exp", "  exp, seq = 0", "  torch.clamp", "  ExpBackward, seq = 0"}));
}

class PyprofPythonTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }
};

TEST_F(PyprofPythonTest, OpsOfTheUsersFunctions) {
  EXPECT_THAT(Names(RunPythonCase("custom", {"--pyprof"})),
              ::testing::IsSupersetOf({"Cube, seq = 1", "  Tensor.__mul__",
                                       // Called by Python in the backward pass.
                                       "  CubeBackward, seq = 1", "    Tensor.__mul__",
                                       "    Tensor.__pow__"}));
}

TEST_F(PyprofPythonTest, Checkpoints) {
  EXPECT_THAT(Names(RunPythonCase("reentrant_checkpoint", {"--pyprof"})),
              ::testing::IsSupersetOf({"CheckpointFunction, seq = 1", "  torch.sin", "  torch.tanh",
                                       "  CheckpointFunctionBackward, seq = 1", "    torch.sin",
                                       "      sin, seq = 3", "      SinBackward, seq = 3"}));
  EXPECT_THAT(
      Names(RunPythonCase("other_checkpoint", {"--pyprof"})),
      ::testing::IsSupersetOf({"  TanhBackward, seq = 2", "    torch.sin", "      sin, seq = 4"}));
}

TEST_F(PyprofPythonTest, LayersAndNumbersOfPython) {
  const std::vector<std::string> lines = RunPythonCase("layers", {"--pyprof"}).Outline();
  EXPECT_THAT(
      lines,
      Contains("      {'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': "
               "'tensor', 'shape': (2, 3), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', "
               "'shape': (3, 3), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': "
               "(3,), 'dtype': 'float32'}]}"));
  EXPECT_THAT(lines, Contains("    layer:first.inner"));
  EXPECT_THAT(lines, Contains("        linear, seq = 0"));
  EXPECT_THAT(lines, Each(Not(HasSubstr("oplens"))));
}

TEST_F(PyprofPythonTest, RangesOfTheUserAreNoneOfPyprofs) {
  const std::vector<std::string> command =
      AnnotatedPython({"--pyprof", SourceFile("test/torch/pyprof_programs.py"), "labels"});
  const TorchRun run = RunTorch(command, {"PYTHONPATH=" + BuildFile("lib")});
  EXPECT_THAT(run.Outline(),
              ::testing::IsSupersetOf({"{'mod': 1, 'op': 2, '_rgs': [], 'type': 3}", "a, seq: b",
                                       "trace_Marker", "it's, seq: 3"}));
}

}  // namespace
}  // namespace oplens::test::pyprof_test
