// The ways into a program: linked, LD_PRELOAD, and three of Python.

#include <gmock/gmock.h>

#include <algorithm>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test {
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

const std::vector<std::string> kModulePath = {"PYTHONPATH=" OPLENS_LIB_DIR};

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
  const std::string load = "import torch, runpy; torch.ops.load_library('" OPLENS_LIB_DIR
                           "/liboplens_torch.so'); runpy.run_path('" +
                           program + "', run_name='__main__')";
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
RunResult RunWithLibrary(const std::string& content) {
  const std::filesystem::path library = TestDir() / "liboplens_torch.so";
  WriteFile(library, content);
  return RunWithoutTool(Python({"-c", "import torch, oplens_annotate; oplens_annotate.init()"}),
                        {kModulePath[0], "OPLENS_TORCH_LIBRARY=" + library.string()});
}

TEST(WaysInTest, LibraryOfAnotherPyTorchIsNotLoaded) {
  OPLENS_NEED(WhyNoPython);
  EXPECT_THAT(RunWithLibrary("oplens_torch build: torch 2.9.1 soname libtorch_cpu.so end").err,
              HasSubstr("liboplens_torch.so was built for PyTorch 2.9.1, this is 1."));
  const std::string version =
      RunWithoutTool(Python({"-c", "import torch; print(torch.__version__.split('a')[0], end='')"}))
          .out;
  EXPECT_THAT(RunWithLibrary("oplens_torch build: torch " + version + " soname other.so end").err,
              HasSubstr("was built for another PyTorch " + version + ", with other.so"));
  EXPECT_THAT(RunWithLibrary("not a library").err, HasSubstr("is no library of oplens"));
}

}  // namespace
}  // namespace oplens::test
