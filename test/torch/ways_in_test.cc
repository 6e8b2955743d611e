// The ways into a program: linked, LD_PRELOAD, and three of Python.

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::ways_in_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Without what a program or the module adds to the ranges of the framework.
std::vector<std::string> OfFramework(const TorchRun& run) {
  TorchRun rest = run;
  std::vector<std::string> lines = rest.Outline();
  for (std::string& line : lines) line.erase(0, line.find_first_not_of(' '));
  std::erase_if(lines, [](const std::string& line) {
    return line.starts_with("ProfilerStep#") || line.starts_with("layer:") ||
           line.starts_with("{'traceMarker'");
  });
  EXPECT_GT(lines.size(), 100U);
  return lines;
}

std::vector<std::string> Python(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), OPLENS_TORCH_PYTHON);
  return arguments;
}

const std::vector<std::string> kModulePath = {"PYTHONPATH=" + BuildFile("lib")};

TEST(WaysInTest, PreloadIntoCxxIsAsLinked) {
  OPLENS_NEED(WhyNoPreload);
  const TorchRun linked = RunTorch({ExampleProgram("torch_cnn")});
  const TorchRun loaded = RunTorch({ExampleProgram("torch_cnn_bare")}, {Preload()});
  EXPECT_EQ(OfFramework(linked), OfFramework(loaded));
  EXPECT_EQ(linked.result.out, loaded.result.out);
  EXPECT_EQ(loaded.result.err, "");
}

TEST(WaysInTest, AllOfPythonAreAlike) {
  OPLENS_NEED(WhyNoPython);
  const std::string program = SourceFile("examples/train.py");
  const std::string load = "import torch, runpy; torch.ops.load_library('" +
                           BuildFile("lib/liboplens_torch.so") + "'); runpy.run_path('" + program +
                           "', run_name='__main__')";
  const std::vector<std::string> expected =
      OfFramework(RunTorch(AnnotatedPython({program}), kModulePath));
  EXPECT_EQ(OfFramework(RunTorch(AnnotatedPython({"--trace", program}), kModulePath)), expected);
  EXPECT_EQ(OfFramework(RunTorch(Python({program}), {Preload()})), expected);
  EXPECT_EQ(OfFramework(RunTorch(Python({"-c", load}))), expected);
}

TEST(WaysInTest, PreloadDoesNotDisturbOtherPrograms) {
  OPLENS_NEED(WhyNoPreload);
  const RunResult result = RunWithoutTool({"/bin/true"}, {Preload()});
  EXPECT_EQ(result.out + result.err, "");
  EXPECT_LT(result.cpu_seconds, 0.1);
  const RunResult shell = RunWithoutTool({"/bin/sh", "-c", "echo a | cat"}, {Preload()});
  EXPECT_EQ(shell.out, "a\n");
  EXPECT_EQ(shell.err, "");
}

TEST(WaysInTest, PreloadWithoutAToolChangesNothing) {
  OPLENS_NEED(WhyNoPreload);
  const RunResult result = RunWithoutTool({ExampleProgram("torch_cnn_bare")}, {Preload()});
  EXPECT_EQ(result.out, RunWithoutTool({ExampleProgram("torch_cnn_bare")}).out);
  EXPECT_EQ(result.err, "");
}

/// A folder with a libtorch of no distribution, which is said to be of a version by a file that
/// wheels or archives have, and a library for version 2.9 of it beside the preload library.
class OtherTorch {
 public:
  OtherTorch(const std::string& file, const std::string& content) {
    std::filesystem::create_directories(folder_ / "torch/lib");
    std::filesystem::create_directories(folder_ / "oplens");
    Copy(BuildFile("test/torch/other/libtorch_cpu.so"), "torch/lib/libtorch_cpu.so");
    Copy(BuildFile("lib/liboplens_annotate_preload.so"), "oplens/preload.so");
    if (!file.empty()) WriteFile(folder_ / file, content);
  }
  void Copy(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(from, folder_ / to,
                               std::filesystem::copy_options::overwrite_existing);
  }
  std::string Path(const std::string& name) const { return folder_ / name; }

  /// Loads that libtorch, as Python loads one.
  RunResult Run(const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> variables = {"LD_PRELOAD=" + Path("oplens/preload.so")};
    variables.insert(variables.end(), environment.begin(), environment.end());
    return RunWithoutTool(
        Python({"-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print('done', flush=True)",
                Path("torch/lib/libtorch_cpu.so")}),
        variables);
  }

 private:
  std::filesystem::path folder_ = TestDir();
};

constexpr char kName[] = "oplens/liboplens_torch-2.9-cxx11-" OPLENS_MACHINE ".so";
// As wheels have it: the name stands before its value too.
const std::string kWheel =
    "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n"
    "__version__ = '2.9.1+cu128'\ndebug = False\n";

TEST(WaysInTest, PreloadTellsAPyTorchByItsVersion) {
  OPLENS_NEED(WhyNoPython);
  for (const auto& [file, content] :
       {std::pair<std::string, std::string>("torch/version.py", kWheel),
        {"torch/build-version", "2.9.0+cpu"}}) {
    const OtherTorch torch(file, content);
    // The library of the build, then one for this version too.
    torch.Copy(BuildFile("test/torch/other/libother_library.so"), "oplens/liboplens_torch.so");
    EXPECT_EQ(torch.Run().out, "annotated\ndone\n") << file;
    torch.Copy(BuildFile("lib/liboplens_torch.so"), "oplens/liboplens_torch.so");
    EXPECT_THAT(torch.Run().err,
                HasSubstr("liboplens_torch.so was built for PyTorch " OPLENS_TORCH_MAJOR "."))
        << file;
    torch.Copy(BuildFile("test/torch/other/libother_library.so"), kName);
    EXPECT_EQ(torch.Run().out, "annotated\ndone\n") << file;
    EXPECT_EQ(torch.Run().err, "") << file;
    std::filesystem::remove_all(TestDir() / "torch");
    std::filesystem::remove_all(TestDir() / "oplens");
  }
}

TEST(WaysInTest, PreloadRefusesAnotherVersion) {
  OPLENS_NEED(WhyNoPython);
  // The same name of the library, as all wheels have it.
  for (const char* const version : {"2.8.0", "2.10.0", "1.9.1", "2.90.0"}) {
    const OtherTorch torch("torch/version.py", "__version__ = '" + std::string(version) + "'\n");
    torch.Copy(BuildFile("test/torch/other/libother_library.so"), "oplens/liboplens_torch.so");
    const std::string refused =
        "oplens: ops are not annotated: " + torch.Path("oplens/liboplens_torch.so") +
        " was built for PyTorch 2.9.1, this is " + version + "\n";
    EXPECT_EQ(torch.Run().err, refused);
    EXPECT_EQ(torch.Run().out, "done\n");
    // Not even if the user says so.
    const RunResult chosen =
        torch.Run({"OPLENS_TORCH_LIBRARY=" + torch.Path("oplens/liboplens_torch.so")});
    EXPECT_EQ(chosen.err, refused);
  }
}

TEST(WaysInTest, PreloadWithAnUnknownVersion) {
  OPLENS_NEED(WhyNoPython);
  for (const char* const version : {"", "__version__ = 'main'\n", "nothing"}) {
    const OtherTorch torch(*version == 0 ? "" : "torch/version.py", version);
    torch.Copy(BuildFile("test/torch/other/libother_library.so"), "oplens/liboplens_torch.so");
    const RunResult refused = torch.Run();
    EXPECT_EQ(refused.out, "done\n");
    EXPECT_THAT(refused.err, AllOf(HasSubstr("nothing tells the version of "),
                                   HasSubstr("if it is 2.9.1, set OPLENS_TORCH_LIBRARY=")));
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1);
    const RunResult chosen =
        torch.Run({"OPLENS_TORCH_LIBRARY=" + torch.Path("oplens/liboplens_torch.so")});
    EXPECT_EQ(chosen.out, "annotated\ndone\n");
    EXPECT_EQ(chosen.err, "");
  }
}

TEST(WaysInTest, PreloadSaysInOneLineWhatIsMissing) {
  OPLENS_NEED(WhyNoPreload);
  const RunResult result = RunWithoutTool({ExampleProgram("torch_cnn_bare")},
                                          {Preload(), "OPLENS_TORCH_LIBRARY=/nowhere/lib.so"});
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("oplens: ops are not annotated: "), HasSubstr("/nowhere/lib.so")));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(WaysInTest, PreloadIntoPythonWithoutTorch) {
  OPLENS_NEED(WhyNoPython);
  const RunResult result =
      RunWithoutTool(Python({"-c", "import ctypes, json; print(json.dumps(1))"}), {Preload()});
  EXPECT_EQ(result.out, "1\n");
  EXPECT_EQ(result.err, "");
}

TEST(WaysInTest, PythonWithoutAToolHooksNothing) {
  OPLENS_NEED(WhyNoPython);
  const RunResult result = RunWithoutTool(
      Python({"-c",
              "import torch, oplens_annotate; print(oplens_annotate.init(trace=True)); "
              "from torch.nn.modules import module as m; "
              "print(len(m._global_forward_hooks), len(m._global_forward_pre_hooks))"}),
      kModulePath);
  EXPECT_EQ(result.out, "False\n0 0\n");
}

/// A library that says it was built for another version, in place of the right one.
std::vector<std::string> OtherLibrary(const std::string& content) {
  const std::filesystem::path library = TestDir() / "liboplens_torch.so";
  WriteFile(library, content);
  return {kModulePath[0], "OPLENS_TORCH_LIBRARY=" + library.string()};
}

RunResult RunWithLibrary(const std::string& content) {
  return RunTorch(Python({"-c", "import torch, oplens_annotate; oplens_annotate.init()"}),
                  OtherLibrary(content))
      .result;
}

constexpr char kOtherBuild[] = "oplens_torch build: torch 2.9.1 soname libtorch_cpu.so abi 1 end";

TEST(WaysInTest, LibraryOfAnotherPyTorchIsNotLoaded) {
  OPLENS_NEED(WhyNoPython);
  EXPECT_THAT(
      RunWithLibrary("oplens_torch build: torch 2.9.1 soname libtorch_cpu.so end").err,
      HasSubstr("liboplens_torch.so was built for PyTorch 2.9.1, this is " OPLENS_TORCH_MAJOR "."));
  const std::string version =
      RunWithoutTool(
          Python(
              {"-c", "import torch; print(torch.__version__.split('a')[0].split('+')[0], end='')"}))
          .out;
  EXPECT_THAT(RunWithLibrary("oplens_torch build: torch " + version + " soname other.so end").err,
              HasSubstr("was built for another PyTorch " + version + ", with other.so"));
  EXPECT_THAT(RunWithLibrary("not a library").err, HasSubstr("is no library of oplens"));
  EXPECT_THAT(RunWithLibrary("oplens_torch build: torch " + version +
                             " soname libtorch_cpu.so.1.13 abi 0 end")
                  .err,
              HasSubstr("with another C++ ABI"));
}

TEST(WaysInTest, AnotherPyTorchWithoutAToolHooksNothing) {
  OPLENS_NEED(WhyNoPython);
  const RunResult result = RunWithoutTool(
      Python({"-c",
              "import torch, oplens_annotate; print(oplens_annotate.init(trace=True, build=True)); "
              "from torch.nn.modules import module as m; "
              "import torch.autograd.profiler as p; "
              "print(len(m._global_forward_hooks), len(m._global_forward_pre_hooks), "
              "p._enable_profiler.__module__)"}),
      OtherLibrary(kOtherBuild));
  EXPECT_EQ(result.out, "False\n0 0 torch._C._autograd\n");
  EXPECT_EQ(result.err, "");
}

/// What emit_nvtx does with a PyTorch that no library fits, on fallback_cases.py.
RunResult Fallback(const std::string& name, std::vector<std::string> environment = {}) {
  std::vector<std::string> variables = OtherLibrary(kOtherBuild);
  variables.push_back("OPLENS_PROGRAMS_EMIT=" + BuildFile("lib/libprograms_emit_nvtx.so"));
  environment.insert(environment.end(), variables.begin(), variables.end());
  return RunTorch(Python({SourceFile("test/torch/fallback_cases.py"), name}), environment).result;
}

TEST(WaysInTest, FallbackIsEnteredAStepAndLeft) {
  OPLENS_NEED(WhyNoPython);
  EXPECT_EQ(Fallback("inference").out, "enter\nleave\nenter\nleave\nend\n");
  // Without hooks of optimizers, as in PyTorch 1, a step ends where the next one begins.
  constexpr bool kHasHooks = std::string_view(OPLENS_TORCH_MAJOR) != "1";
  EXPECT_EQ(Fallback("training").out,
            kHasHooks ? "enter\nleave\nenter\nleave\nend\n" : "enter\nleave\nenter\nend\nleave\n");
  EXPECT_EQ(Fallback("training_2").out, "enter\nleave\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("exception").out, "enter\nleave\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("window").out, "enter\nleave\nstopped\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("window", {"OPLENS_ANNOTATE=off"}).out, "stopped\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("compiling").out, "end\n");
}

TEST(WaysInTest, FallbackDoesNotDisturbTheProfiler) {
  OPLENS_NEED(WhyNoPython);
  // The profiler of the user sees all its ops, whether it begins inside of a step or around it.
  EXPECT_EQ(Fallback("profiler_inside").out, "enter\nleave\nops: 2\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("profiler_around").out, "ops: 4\nenter\nleave\nend\n");
  EXPECT_EQ(Fallback("profiler_schedule").out, "enter\nleave\nenter\nleave\nops: 4\nend\n");
}

TEST(WaysInTest, FallbackSaysOnceWhatItLacks) {
  OPLENS_NEED(WhyNoPython);
  const std::string said = Fallback("inference").err;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("was built for PyTorch 2.9.1, this is " OPLENS_TORCH_MAJOR "."),
                          HasSubstr("without data types, values and forward threads")));
  // A build without CUDA has no emit_nvtx: layers only, and that is said once too.
  const std::string failed = Fallback("bare").err;
  EXPECT_EQ(std::count(failed.begin(), failed.end(), '\n'), 2) << failed;
  EXPECT_THAT(failed, HasSubstr("emit_nvtx cannot be entered, no operator is annotated"));
}

TEST(WaysInTest, FallbackSavesTheExecutionTrace) {
  OPLENS_NEED(WhyNoPython);
  const std::filesystem::path trace = TestDir() / "trace.json";
  const RunResult result = Fallback("inference", {"OPLENS_EXECUTION_TRACE=" + trace.string()});
  EXPECT_EQ(result.out, "enter\nleave\nenter\nleave\nend\n");
  const nlohmann::json read = nlohmann::json::parse(ReadFile(trace));
  const auto& nodes = read.at("nodes");
  EXPECT_EQ(std::count_if(
                nodes.begin(), nodes.end(),
                [](const nlohmann::json& node) {
                  // Version 1.1 of the schema has the inputs in an object.
                  const bool whole = node.contains("input_shapes");
                  const auto& shapes =
                      whole ? node.at("input_shapes") : node.at("inputs").at("shapes");
                  return node.at("name") == "aten::linear" && shapes[0] == nlohmann::json({2, 3});
                }),
            4);
}

// From emit_nvtx and the execution trace of the fallback to rows.
TEST(WaysInTest, FallbackAndExecutionTraceTellWhatTheAdaptorDoes) {
  OPLENS_NEED(WhyNoPython);
  const std::filesystem::path trace = TestDir() / "trace.json";
  std::vector<std::string> environment = OtherLibrary(kOtherBuild);
  environment.push_back("OPLENS_EXECUTION_TRACE=" + trace.string());
  environment.push_back("OPLENS_PROGRAMS_EMIT=" + BuildFile("lib/libprograms_emit_nvtx.so"));
  const TorchRun run =
      RunTorch(Python({SourceFile("test/torch/fallback_cases.py"), "emitted"}), environment);
  const std::filesystem::path database = TestDir() / "run.sql";
  CaptureLaunches launches;
  launches.chooses = [](const NvtxRange& range) {
    return range.text.starts_with("aten::addmm, ") || range.text.starts_with("aten::mm, ");
  };
  WriteNvprofCapture(run.ranges, run.process_id, database, launches);
  const RunResult priced =
      RunProgram({Program("prof"), "--csv", "-c", "op,dir,phase,params,flops,bytes,layer,reason",
                  "--execution-trace", trace.string(), "--strict", database.string()});
  EXPECT_EQ(priced.exit_code, 0) << priced.err;
  // Two products and a bias in each of two steps, on (2, 3) and (3, 3); of the first layer no
  // gradient of the data is asked for.
  const std::string forward = R"("addmm","fprop","forward","M=3,N=2,K=3,fp32","42","96")";
  const std::string backward = R"("mm","bprop","backward",)";
  const auto count = [&](const std::string& text) {
    int found = 0;
    for (size_t at = priced.out.find(text); at != std::string::npos;
         at = priced.out.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count(forward), 4) << priced.out;
  EXPECT_EQ(count(backward), 6) << priced.out;
}

}  // namespace
}  // namespace oplens::test::ways_in_test
