// oplens_annotate: the path of each module, whoever calls it.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::layers_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kLayer = "layer:";

bool IsLayer(const NvtxRange& range) { return range.text.starts_with(kLayer); }

/// The innermost layer around a range, "-" where there is none.
std::string LayerAround(const NvtxRanges& ranges, const NvtxRange& range) {
  for (int64_t i = range.parent; i >= 0; i = ranges.ranges[static_cast<size_t>(i)].parent) {
    const NvtxRange& around = ranges.ranges[static_cast<size_t>(i)];
    if (IsLayer(around)) return around.text.substr(kLayer.size());
  }
  return "-";
}

/// "sin in encoder.0" for each op that the cases are about.
std::vector<std::string> Ops(const TorchRun& run) {
  const std::set<std::string> kNames = {"linear", "sin", "cos", "tanh", "relu", "mse_loss"};
  std::vector<std::string> ops;
  for (const NvtxRange& range : run.ranges.ranges) {
    const std::string op = Fact(range.text, "op");
    // Not those of derivatives.
    if (!IsOp(range) || kNames.count(op) == 0 || Fact(range.text, "dir") == "b") continue;
    ops.push_back(op + " in " + LayerAround(run.ranges, range));
  }
  return ops;
}

/// The layers in the order of their beginning.
std::vector<std::string> Layers(const TorchRun& run) {
  std::vector<std::string> layers;
  for (const NvtxRange& range : run.ranges.ranges) {
    if (IsLayer(range)) layers.push_back(range.text.substr(kLayer.size()));
  }
  return layers;
}

class LayersTest : public ::testing::Test {
 protected:
  void SetUp() override { OPLENS_NEED(WhyNoPython); }
  /// Ops inside ops are annotated too.
  static TorchRun Run(const std::string& name) {
    return RunTorch(AnnotatedPython({SourceFile("test/torch/layers_cases.py"), name}),
                    {"PYTHONPATH=" + BuildFile("lib"), "OPLENS_ANNOTATE=inner"});
  }
};

TEST_F(LayersTest, RecomputedBlocksKeepTheirPath) {
  for (const char* const name : {"recomputed", "recomputed_by_hooks"}) {
    // Forward, and backward from the last on.
    EXPECT_THAT(Ops(Run(name)), ElementsAre("linear in blocks.0.linear", "sin in blocks.0",
                                            "linear in blocks.1.linear", "sin in blocks.1",
                                            "linear in blocks.1.linear", "sin in blocks.1",
                                            "linear in blocks.0.linear", "sin in blocks.0"))
        << name;
  }
}

TEST_F(LayersTest, PartThatRunsBeforeItsNetwork) {
  EXPECT_THAT(Layers(Run("part_first")),
              ElementsAre("encoder.1", "encoder.1.linear", "Network", "encoder", "encoder.0",
                          "encoder.0.linear", "encoder.1", "encoder.1.linear", "decoder",
                          "decoder.linear"));
}

TEST_F(LayersTest, GeneratorsAndMethods) {
  EXPECT_THAT(
      Ops(Run("methods")),
      ElementsAre("linear in decoder.linear", "sin in decoder", "linear in decoder.linear",
                  "sin in decoder", "linear in encoder.1.linear", "sin in encoder.1", "cos in -"));
}

TEST_F(LayersTest, NetworksAreToldApart) {
  const std::vector<std::string> ops = Ops(Run("two_networks"));
  ASSERT_EQ(ops.size(), 20U);
  EXPECT_EQ(ops[0], "linear in encoder.0.linear");
  EXPECT_EQ(ops[5], "sin in decoder");
  EXPECT_EQ(ops[6], "linear in Network#2.encoder.0.linear");
  EXPECT_EQ(ops[11], "sin in Network#2.decoder");
  EXPECT_EQ(ops[12], "linear in Sequential.0.linear");
  EXPECT_EQ(ops[13], "sin in Sequential.0");
  EXPECT_TRUE(std::equal(ops.begin() + 6, ops.begin() + 12, ops.begin() + 14));
}

TEST_F(LayersTest, LossesAndLayersOutsideOfNetworks) {
  std::vector<std::string> layers = Layers(Run("losses"));
  ASSERT_EQ(layers.size(), 30U);
  EXPECT_EQ(std::count(layers.begin(), layers.end(), "MSELoss"), 20);
  layers.erase(layers.begin(), layers.begin() + 20);
  // They do not take the plain paths from the network.
  EXPECT_THAT(layers, ElementsAre("Linear", "Linear#2", "Network", "encoder", "encoder.0",
                                  "encoder.0.linear", "encoder.1", "encoder.1.linear", "decoder",
                                  "decoder.linear"));
}

TEST_F(LayersTest, NetworkInThePlaceOfAnother) {
  const std::vector<std::string> ops = Ops(Run("replaced"));
  ASSERT_EQ(ops.size(), 18U);
  EXPECT_TRUE(std::equal(ops.begin(), ops.begin() + 6, ops.begin() + 6));
  EXPECT_TRUE(std::equal(ops.begin(), ops.begin() + 6, ops.begin() + 12));
  EXPECT_EQ(ops[17], "sin in decoder");
}

TEST_F(LayersTest, WrappersAreLeftOut) {
  EXPECT_THAT(Layers(Run("wrappers")),
              ElementsAre("Network", "Network", "Network", "encoder", "encoder.0", "encoder.0",
                          "encoder.0.linear", "encoder.1", "encoder.1", "encoder.1.linear",
                          "decoder", "decoder.linear"));
  EXPECT_THAT(Layers(Run("distributed")), ElementsAre("Sequential", "Sequential", "0", "0.linear"));
}

TEST_F(LayersTest, CopiesOfDataParallel) {
  const std::vector<std::string> layers = Layers(Run("replicas"));
  ASSERT_EQ(layers.size(), 40U);
  for (size_t i = 8; i < layers.size(); ++i) EXPECT_EQ(layers[i], layers[i % 8]);
}

TEST_F(LayersTest, ScriptedModulesHaveTheirOwnNames) {
  EXPECT_THAT(Layers(Run("scripted")),
              IsSupersetOf({"Network", "encoder.1", "decoder", "Block", "Sequential"}));
  EXPECT_THAT(Layers(Run("scripted")), Not(Contains(::testing::HasSubstr("Module"))));
}

TEST_F(LayersTest, ExceptionsEndLayersAtOnce) {
  EXPECT_THAT(Ops(Run("failures")),
              ElementsAre("sin in failing.0", "cos in Careful", "sin in failing.0", "tanh in -"));
}

TEST_F(LayersTest, ModulesMadeInForward) {
  const std::vector<std::string> twice = {"relu in Making.Sequential.0",
                                          "relu in Making.Sequential.0"};
  std::vector<std::string> expected = twice;
  expected.insert(expected.end(), {"linear in late.0.linear", "sin in late.0"});
  expected.insert(expected.end(), twice.begin(), twice.end());
  expected.insert(expected.end(), {"linear in late.1.linear", "sin in late.1"});
  EXPECT_EQ(Ops(Run("made_in_forward")), expected);
}

TEST_F(LayersTest, AddressesThatAreUsedAgain) {
  const TorchRun run = Run("addresses");
  const std::vector<std::string> ops = Ops(run);
  ASSERT_EQ(ops.size(), 50U);
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i], i % 2 == 0 ? "sin in Sine" : "cos in Cosine");
  }
  EXPECT_LT(std::stoi(run.result.out), 50) << "the case shows nothing";
}

TEST_F(LayersTest, MorePathsThanAreKept) {
  EXPECT_THAT(Layers(Run("many_paths")),
              ElementsAre("ModuleDict", "child0", "child65000", "child65999", "Identity"));
}

TEST_F(LayersTest, ModulesThemselvesAreNotTouched) {
  EXPECT_THAT(Layers(Run("untouched")), Contains("Network#2.encoder.0"));
}

TEST_F(LayersTest, ThreadsThatShareModules) {
  std::map<std::string, int> counts;
  for (const std::string& layer : Layers(Run("many_threads"))) ++counts[layer];
  // Five networks of 8 modules, of which any may have come first; the shared one runs 80 times, the
  // others 20.
  std::vector<int> runs;
  for (const std::string prefix : {"", "Network#2.", "Network#3.", "Network#4.", "Network#5."}) {
    const int count = counts[prefix + "decoder"];
    runs.push_back(count);
    for (const std::string part : {"encoder", "encoder.0", "encoder.0.linear", "encoder.1",
                                   "encoder.1.linear", "decoder.linear"}) {
      EXPECT_EQ(counts[prefix + part], count) << prefix << part;
    }
  }
  EXPECT_THAT(runs, ::testing::UnorderedElementsAre(20, 20, 20, 20, 80));
}

TEST_F(LayersTest, CaptureWindow) {
  EXPECT_THAT(Layers(Run("window")), ElementsAre("decoder", "decoder.linear"));
}

TEST_F(LayersTest, WithoutTheAdaptor) {
  const TorchRun run =
      RunTorch({OPLENS_TORCH_PYTHON, SourceFile("test/torch/layers_cases.py"), "without_adaptor"},
               {"PYTHONPATH=" + BuildFile("lib")});
  std::vector<std::string> layers = Layers(run);
  ASSERT_GT(layers.size(), 17U);
  layers.resize(17);
  EXPECT_THAT(layers,
              ElementsAre("Careful", "failing", "failing.0", "failing", "failing.0", "Making",
                          "Making.Sequential", "Making.Sequential.0", "Making.Sequential",
                          "Making.Sequential.0", "Making.late.0", "Making.late.0.linear", "Making",
                          "Making.Sequential", "Making.Sequential.0", "Making.Sequential",
                          "Making.Sequential.0"));
}

TEST_F(LayersTest, WithoutAToolNothingIsReplaced) {
  const RunResult result = RunWithoutTool(
      {OPLENS_TORCH_PYTHON, "-c",
       "import torch, oplens_annotate; before = torch.nn.Module.__call__; "
       "oplens_annotate.init(trace=True); print(torch.nn.Module.__call__ is before)"},
      {"PYTHONPATH=" + BuildFile("lib")});
  EXPECT_EQ(result.out, "True\n");
}

TEST_F(LayersTest, PartsOnTheirOwn) {
  const RunResult result =
      RunWithoutTool({OPLENS_TORCH_PYTHON, SourceFile("test/torch/modules_checks.py")},
                     {"PYTHONPATH=" + BuildFile("lib")});
  EXPECT_THAT(result.err, ::testing::HasSubstr("\nOK")) << result.out << result.err;
}

TEST_F(LayersTest, ModulesAreCalledWithoutThePythonVersion) {
  const RunResult result = RunWithoutTool({OPLENS_TORCH_PYTHON, "-c", R"(
import ctypes, sys, torch, types
from oplens_annotate import _modules

_modules.hook(ctypes.CDLL(sys.argv[1]))
call = torch.nn.Module.__call__
print(isinstance(call, types.FunctionType), call.__code__.co_filename == _modules.__file__)

class Network(torch.nn.Module):
    def forward(self, first, *rest, last=0):
        if first is None:
            raise KeyError("nothing")
        files = set()
        frame = sys._getframe(1)
        while frame is not None:
            files.add(frame.f_code.co_filename)
            frame = frame.f_back
        return first, rest, last, _modules.__file__ in files

network = Network()
print(network(1))
print(network(1, 2, 3, last=4))
print(network(*range(40), **{"last": 5})[1][-1])
print(network.__call__(6)[0], call(network, first=7)[0])
for fails in (lambda: network(None), lambda: network(), lambda: network(1, wrong=2), lambda: call()):
    try:
        fails()
        print("no error")
    except (KeyError, TypeError) as error:
        print(type(error).__name__)
)",
                                           BuildFile("lib/liboplens_torch.so")},
                                          {"PYTHONPATH=" + BuildFile("lib")});
  EXPECT_EQ(result.out,
            "True True\n"
            "(1, (), 0, False)\n"
            "(1, (2, 3), 4, False)\n"
            "39\n"
            "6 7\n"
            "KeyError\nTypeError\nTypeError\nTypeError\n")
      << result.err;
}

}  // namespace
}  // namespace oplens::test::layers_test
