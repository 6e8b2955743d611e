// oplens_annotate: layers and call stacks of modules.

#include <gmock/gmock.h>

#include "test/torch/torch_run.h"

namespace oplens::test::python_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

auto Holds(const std::vector<std::string>& lines) { return ::testing::IsSupersetOf(lines); }

class PythonTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }

  /// Layers and the ops in them, an indented line each.
  static std::vector<std::string> Layers(const TorchRun& run) {
    std::vector<std::string> lines = run.Short();
    std::vector<std::string> kept;
    bool inside = false;
    for (const std::string& line : lines) {
      const size_t blanks = line.find_first_not_of(' ');
      if (blanks == 0) inside = line.starts_with("layer:");
      if (inside && line.find(", seq = ") == line.npos) kept.push_back(line);
    }
    return kept;
  }
};

TEST_F(PythonTest, LayersAreNamedByTheirPath) {
  EXPECT_THAT(Layers(RunPythonCase("layers")),
              ElementsAre("layer:Network", "  layer:first", "    layer:first.inner",
                          "      linear f", "    relu f", "  layer:second",
                          "    layer:second.inner", "      linear f", "    relu f", "  layer:first",
                          "    layer:first.inner", "      linear f", "    relu f", "  sum f"));
}

TEST_F(PythonTest, ModulesLeftByAnException) {
  EXPECT_THAT(
      Layers(RunPythonCase("exception")),
      ElementsAre("layer:Network", "  layer:first", "    layer:first.inner", "      linear f",
                  "layer:Network", "  layer:first", "    layer:first.inner", "      linear f",
                  "    relu f", "  layer:second", "    layer:second.inner", "      linear f",
                  "layer:Network", "  layer:first", "    layer:first.inner", "      linear f",
                  "    relu f", "  layer:second", "    layer:second.inner", "      linear f",
                  "    relu f", "  layer:first", "    layer:first.inner", "      linear f",
                  "    relu f", "  sum f"));
  EXPECT_THAT(Layers(RunPythonCase("caught_inside")),
              ElementsAre("layer:Careful", "  layer:risky", "    layer:risky.inner",
                          "      linear f", "  layer:safe", "    linear f"));
}

TEST_F(PythonTest, ModulesThatTheRootDidNotHave) {
  EXPECT_THAT(Layers(RunPythonCase("added_later")),
              ElementsAre("layer:Sequential", "  layer:0", "    linear f", "layer:Sequential",
                          "  layer:0", "    linear f", "  layer:late", "    relu f",
                          "layer:Homeless", "  layer:Homeless.ReLU", "    relu f"));
}

TEST_F(PythonTest, ThreadsHaveLayersOfTheirOwn) {
  EXPECT_THAT(Layers(RunPythonCase("threads")),
              ::testing::UnorderedElementsAre("layer:Sequential", "  layer:0", "    linear f",
                                              "layer:Sequential#2", "  layer:Sequential#2.0",
                                              "    relu f"));
}

TEST_F(PythonTest, FunctionOfTheUser) {
  EXPECT_THAT(
      RunPythonCase("custom").Short(),
      Holds({"Cube f", "  Cube, seq = 1", "  node CubeBackward b", "    CubeBackward, seq = 1"}));
}

TEST_F(PythonTest, CheckpointsRunForwardOpsAgain) {
  EXPECT_THAT(RunPythonCase("reentrant_checkpoint").Short(),
              Holds({"CheckpointFunction f", "  node CheckpointFunctionBackward b", "      sin r",
                     "        sin, seq = 3", "        node SinBackward0 b"}));
  EXPECT_THAT(RunPythonCase("other_checkpoint").Short(),
              Holds({"  node TanhBackward0 b", "      sin r", "        sin, seq = 4"}));
}

TEST_F(PythonTest, Options) {
  const std::vector<std::string> bare = RunPythonCase("layers", {"--no-layers"}).Outline();
  EXPECT_THAT(bare, Not(Contains(HasSubstr("layer:"))));
  EXPECT_THAT(bare, Not(Contains(HasSubstr("traceMarker"))));
}

TEST_F(PythonTest, CaptureWindow) {
  EXPECT_THAT(RunPythonCase("window").Short(), ElementsAre("abs f", "  abs, seq = 0"));
}

}  // namespace
}  // namespace oplens::test::python_test
