#ifndef OPLENS_TEST_TORCH_TORCH_RUN_H_
#define OPLENS_TEST_TORCH_TORCH_RUN_H_

#include <string>
#include <vector>

#include "test/support/nvtx_capture.h"
#include "test/support/program.h"

namespace oplens::test {

/// A program that ran under the test recorder.
struct TorchRun {
  RunResult result;
  int64_t process_id = 0;
  NvtxRanges ranges;

  /// Its ranges, an indented line each, without the numbers that differ from run to run: threads
  /// are T1, T2, .. as they come, calls have no number.
  std::vector<std::string> Outline() const;
  /// The same, in short: "mm f" and "node MmBackward0 b" (with the direction), "evaluate
  /// MmBackward0", "mm, seq = 3". What makes the data of a test is left out.
  std::vector<std::string> Short() const;
};

/// Runs a program with variables ("NAME=VALUE") in its environment, under the recorder of a mode
/// ("payload", "text"). Expects that it ends well and leaves no range open.
TorchRun RunTorch(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment = {},
                  const std::string& mode = "payload");
/// The same without any tool.
RunResult RunWithoutTool(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment = {});

// These annotate only ops that are in no other op, unless OPLENS_ANNOTATE is given: the structure
// of what is emitted does not hang on how the framework divides its ops.

/// One of torch_cases.
TorchRun RunCase(const std::string& name, const std::vector<std::string>& environment = {},
                 const std::string& mode = "payload");
/// One of python_cases.py, through python3 -m oplens_annotate with options.
TorchRun RunPythonCase(const std::string& name, const std::vector<std::string>& options = {});

/// The command of `python3 -m oplens_annotate OPTIONS program`, and what it needs.
std::vector<std::string> AnnotatedPython(std::vector<std::string> arguments);
/// "" where Python with PyTorch is there and programs without sanitizers can be loaded into it,
/// else why not; the same for LD_PRELOAD.
std::string WhyNoPython();
std::string WhyNoPreload();
/// The variable that loads the adaptor from outside.
std::string Preload();

std::string SourceFile(const std::string& name);  ///< From the root of the project.
std::string ExampleProgram(const std::string& name);

/// What stands behind 'KEY': in an op's or node's text; "" if there is none.
std::string Fact(const std::string& text, const std::string& key);
bool IsOp(const NvtxRange& range);
bool IsNode(const NvtxRange& range);

}  // namespace oplens::test

#define OPLENS_NEED(why)                         \
  do {                                           \
    const std::string reason = why();            \
    if (!reason.empty()) GTEST_SKIP() << reason; \
  } while (false)

#endif  // OPLENS_TEST_TORCH_TORCH_RUN_H_
