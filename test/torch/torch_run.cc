#include "test/torch/torch_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "test/support/test_files.h"

namespace oplens::test {
namespace {

constexpr std::string_view kSanitizers = OPLENS_SANITIZE;

std::vector<std::string> WithEnvironment(const std::vector<std::string>& environment,
                                         const std::vector<std::string>& command) {
  std::vector<std::string> line = {
      "/usr/bin/env",    "-u", "NVTX_INJECTION64_PATH", "-u",
      "OPLENS_ANNOTATE", "-u", "OPLENS_TORCH_LIBRARY",  "OMP_NUM_THREADS=1"};
  // PyTorch keeps things until the end, and compares types across libraries that hide them.
  if (!kSanitizers.empty()) line.push_back("ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0");
  line.insert(line.end(), environment.begin(), environment.end());
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

/// Replaces what stands behind "'KEY': " by what `rename` makes of it.
template <typename Rename>
void RenameFact(const std::string& key, Rename rename, std::string* text) {
  const size_t begin = text->find("'" + key + "': ");
  if (begin == text->npos) return;
  const size_t value = begin + key.size() + 4;
  const size_t end = text->find_first_of(",}", value);
  text->replace(value, end - value, rename(text->substr(value, end - value)));
}

std::vector<std::string> OuterUnlessTold(std::vector<std::string> environment) {
  environment.insert(environment.begin(), "OPLENS_ANNOTATE=outer");
  return environment;
}

}  // namespace

std::vector<std::string> TorchRun::Outline() const {
  std::vector<std::string> lines = test::Outline(ranges);
  std::map<std::string, std::string> names;
  const auto name_thread = [&names](const std::string& thread) {
    if (thread == "0") return thread;
    return names.emplace(thread, fmt::format("T{}", names.size() + 1)).first->second;
  };
  for (std::string& line : lines) {
    RenameFact("tid", name_thread, &line);
    RenameFact("ftid", name_thread, &line);
    const size_t call = line.find(", 'h': ");
    if (call != line.npos) line.erase(call, line.find_first_of(",}", call + 1) - call);
  }
  return lines;
}

std::vector<std::string> TorchRun::Short() const {
  constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function:";
  constexpr std::string_view kData[] = {"rand f",   "ones f",     "zeros f",    "empty f",
                                        "detach f", "uniform_ f", "ones_like f"};
  std::vector<std::string> lines;
  for (const std::string& line : Outline()) {
    const size_t blanks = line.find_first_not_of(' ');
    std::string text = line.substr(blanks);
    if (text.starts_with("{'mod'")) {
      text = Fact(text, "op") + " " + Fact(text, "dir");
    } else if (text.starts_with("{'oplens'")) {
      text = "node " + Fact(text, "node") + " " + Fact(text, "dir");
    } else if (text.starts_with(kEvaluate)) {
      text = "evaluate" + text.substr(kEvaluate.size());
    }
    const std::string op = text.substr(0, text.find_first_of(",."));
    if (std::any_of(std::begin(kData), std::end(kData), [&](std::string_view data) {
          return text == data || (op != text && data == op + " f");
        })) {
      continue;
    }
    lines.push_back(line.substr(0, blanks) + text);
  }
  return lines;
}

TorchRun RunTorch(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, const std::string& mode) {
  const std::filesystem::path capture = TestDir() / "run.nvtx";
  std::filesystem::remove(capture);
  std::vector<std::string> variables = {
      "NVTX_INJECTION64_PATH=" + BuildFile("lib/liboplens_test_recorder.so"),
      "OPLENS_TEST_RECORDER=" + mode, "OPLENS_TEST_RECORDER_OUT=" + capture.string()};
  variables.insert(variables.end(), environment.begin(), environment.end());
  TorchRun run;
  run.result = RunProgram(WithEnvironment(variables, command));
  EXPECT_EQ(run.result.exit_code, 0) << run.result.out << run.result.err;
  if (run.result.exit_code != 0) return run;
  const NvtxCapture read = ReadCapture(capture);
  run.process_id = read.process_id;
  run.ranges = RangesOf(read);
  EXPECT_EQ(run.ranges.faults, std::vector<std::string>());
  return run;
}

RunResult RunWithoutTool(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment) {
  RunResult result = RunProgram(WithEnvironment(environment, command));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  return result;
}

TorchRun RunCase(const std::string& name, const std::vector<std::string>& environment,
                 const std::string& mode) {
  return RunTorch({Program("torch_cases"), name}, OuterUnlessTold(environment), mode);
}

TorchRun RunPythonCase(const std::string& name, const std::vector<std::string>& options) {
  return RunPythonFile("test/torch/python_cases.py", name, options);
}

TorchRun RunPythonFile(const std::string& file, const std::string& name,
                       const std::vector<std::string>& options) {
  std::vector<std::string> arguments = options;
  arguments.push_back(SourceFile(file));
  arguments.push_back(name);
  return RunTorch(AnnotatedPython(arguments), OuterUnlessTold({"PYTHONPATH=" + BuildFile("lib")}));
}

std::vector<std::string> AnnotatedPython(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {OPLENS_TORCH_PYTHON, "-m", "oplens_annotate"});
  return arguments;
}

std::string WhyNoPreload() {
  return kSanitizers.empty() ? "" : "a program must be linked with what the sanitizers need";
}

std::string WhyNoPython() {
  if (!kSanitizers.empty()) return WhyNoPreload();
  static const bool there = RunProgram({OPLENS_TORCH_PYTHON, "-c", "import torch"}).exit_code == 0;
  return there ? "" : OPLENS_TORCH_PYTHON " has no PyTorch";
}

std::string Preload() { return "LD_PRELOAD=" + BuildFile("lib/liboplens_annotate_preload.so"); }

std::string SourceFile(const std::string& name) { return SourceDir() + "/" + name; }

std::string ExampleProgram(const std::string& name) { return BuildFile("examples/" + name); }

std::string Fact(const std::string& text, const std::string& key) {
  const std::string quoted = "'" + key + "': ";
  const size_t begin = text.find(quoted);
  if (begin == text.npos) return "";
  const size_t value = begin + quoted.size();
  const std::string fact = text.substr(value, text.find_first_of(",}", value) - value);
  return fact.starts_with("'") ? fact.substr(1, fact.size() - 2) : fact;
}

bool IsOp(const NvtxRange& range) { return range.text.starts_with("{'mod': "); }

bool IsNode(const NvtxRange& range) { return range.text.starts_with("{'oplens': "); }

}  // namespace oplens::test
