// Launches of Triton kernels and CUDA graphs, with stand-ins for both: compiled_cases.py.

#include <gmock/gmock.h>

#include <utility>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::compiled_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TorchRun RunCompiledCase(const std::string& name) {
  return RunTorch({OPLENS_TORCH_PYTHON, SourceFile("test/torch/compiled_cases.py"), name},
                  {"PYTHONPATH=" + BuildFile("lib")});
}

/// Ops, without the numbers of the framework and what fills the data.
std::vector<std::string> Ops(const TorchRun& run) {
  std::vector<std::string> kept;
  for (const std::string& line : run.Short()) {
    if (line.find(", seq = ") != line.npos || line.ends_with("fill_ f")) continue;
    kept.push_back(line);
  }
  return kept;
}

std::vector<std::string> LaunchesOf(const TorchRun& run) {
  std::vector<std::string> launches;
  for (const std::string& line : run.Outline()) {
    if (line.starts_with("{'mod': 'triton'")) {
      launches.push_back(line.substr(0, line.find(", 'oplens'")));
    }
  }
  return launches;
}

class CompiledTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }
};

TEST_F(CompiledTest, LaunchesOfTritonKernels) {
  const auto launch = [](const std::string& args) {
    return "{'mod': 'triton', 'op': 'add_kernel', 'args': [" + args + "]";
  };
  const auto arg = [](const std::string& name, const std::string& type, const std::string& value) {
    return "{'name': '" + name + "', 'type': '" + type + "', 'value': " + value + "}, ";
  };
  const auto tensor = [](const std::string& shape, const std::string& dtype) {
    return "{'name': 'x_ptr', 'type': 'tensor', 'shape': " + shape + ", 'dtype': '" + dtype +
           "'}, ";
  };
  const auto grid = [](const std::string& sizes) {
    return "{'name': 'grid', 'type': 'tuple', 'value': " + sizes + "}";
  };
  for (const char* const kind : {"triton_3", "triton_knobs", "triton_chain"}) {
    const TorchRun run = RunCompiledCase(kind);
    EXPECT_THAT(LaunchesOf(run),
                ElementsAre(launch(tensor("(8, 16)", "float16") + arg("n", "int", "128") +
                                   arg("scale", "float", "0.5") + grid("(4, 2, 1)")),
                            launch(tensor("(2,)", "float32") + arg("n", "int", "1") +
                                   arg("scale", "str", "'fails'") + grid("(1, 1, 1)")),
                            launch(tensor("(2,)", "float32") + arg("n", "int", "7") +
                                   arg("scale", "bool", "True") + grid("(1, 1, 1)"))))
        << kind;
    // What a launch does stands in it; a launch that failed has ended.
    EXPECT_THAT(Ops(run),
                ElementsAre("add_kernel f", "  neg f", "add_kernel f", "add_kernel f", "  neg f"))
        << kind;
  }
}

TEST_F(CompiledTest, Triton2TellsNoArguments) {
  const TorchRun run = RunCompiledCase("triton_2");
  EXPECT_THAT(LaunchesOf(run), ::testing::Each("{'mod': 'triton', 'op': 'add_kernel', 'args': []"));
  EXPECT_THAT(Ops(run),
              ElementsAre("add_kernel f", "  neg f", "add_kernel f", "add_kernel f", "  neg f"));
}

TEST_F(CompiledTest, HooksOfOthersStay) {
  EXPECT_THAT(LaunchesOf(RunCompiledCase("hook_of_others")),
              ElementsAre(AllOf(HasSubstr("'op': 'add_kernel'"), HasSubstr("'name': 'n'"))));
}

// Inductor's static launcher has no hooks.
TEST_F(CompiledTest, LaunchesOfInductorAreAskedFor) {
  const TorchRun run = RunCompiledCase("inductor");
  EXPECT_THAT(LaunchesOf(run),
              ElementsAre("{'mod': 'triton', 'op': 'triton_poi_fused_neg_0', 'args': ["
                          "{'name': '', 'type': 'tensor', 'shape': (8, 4), 'dtype': 'float32'}, "
                          "{'name': '', 'type': 'int', 'value': 32}, "
                          "{'name': 'kernel_kwargs', 'type': 'str', 'value': 'XBLOCK=8'}, "
                          "{'name': 'kernel_bytes', 'type': 'int', 'value': 2000}]"));
  EXPECT_THAT(Ops(run), ElementsAre("triton_poi_fused_neg_0 f", "  neg f"));
  EXPECT_EQ(run.result.out, "recorded a label\nrecorded triton_poi_fused_neg_0\n");
}

TEST_F(CompiledTest, CollectivesSayHowManyTakePart) {
  const TorchRun run = RunTorch({OPLENS_TORCH_PYTHON, SourceFile("test/torch/collective_cases.py")},
                                {"PYTHONPATH=" + BuildFile("lib")});
  const std::vector<std::string> calls = run.Outline();
  const std::string ranks =
      "{'name': 'rank', 'type': 'int', 'value': 0}, "
      "{'name': 'world_size', 'type': 'int', 'value': 2}]";
  const std::string data = "'shape': (4, 5), 'dtype': 'float32'";
  for (const auto& [op, tensor] : {std::pair<std::string, std::string>("allreduce_", data),
                                   {"broadcast_", data},
                                   {"allgather_", "'shape': (3,), 'dtype': 'float32'"},
                                   {"barrier", ""}}) {
    EXPECT_THAT(calls, Contains(AllOf(HasSubstr("{'mod': 'c10d', 'op': '" + op + "'"),
                                      HasSubstr(tensor), HasSubstr(ranks))));
  }
}

TEST_F(CompiledTest, CudaGraphs) {
  const TorchRun run = RunCompiledCase("graphs");
  EXPECT_EQ(run.result.out, "begin (0, 1)\nend\nreplay\nbegin (0, 1)\nend\nreplay\n");
  EXPECT_THAT(Ops(run),
              ElementsAre("CUDA graph capture #1", "  neg f", "CUDA graph replay #1",
                          "CUDA graph capture #2", "  neg f", "CUDA graph replay #2", "neg f"));
}

}  // namespace
}  // namespace oplens::test::compiled_test
