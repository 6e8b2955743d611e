#ifndef OPLENS_TEST_ANNOTATE_ANNOTATE_FIXTURE_H_
#define OPLENS_TEST_ANNOTATE_ANNOTATE_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "test/support/nvtx_capture.h"

namespace oplens::test {

/// How the recorder of this process behaves: "payload" unless OPLENS_TEST_RECORDER says otherwise.
/// What depends on it is tested each way.
std::string RecorderMode();
inline bool TakesPayloads() { return RecorderMode() == "payload"; }

/// A function of the recorder, by name. Never null.
void* RecorderFunction(const char* name);
template <typename Function>
Function* RecorderCall(const char* name) {
  return reinterpret_cast<Function*>(RecorderFunction(name));
}

/// Replaces the numbers of a capture's threads by T1, T2, .., in the order of `threads`.
std::vector<std::string> WithoutThreadIds(std::vector<std::string> lines,
                                          const std::vector<int64_t>& threads);

/// Tests in the process that emits: the recorder is loaded, and empty at the beginning of a test.
class AnnotateTest : public ::testing::Test {
 protected:
  void SetUp() override;

  /// What is there since the beginning of the test.
  static NvtxCapture Capture();

  /// Runs `emit` on a thread of its own, whose sequence numbers begin at 0, and returns the ranges
  /// of that thread. Expects that they are balanced.
  static NvtxRanges Emit(const std::function<void()>& emit);
  /// The outline of that, its thread called T1.
  static std::vector<std::string> EmitOutline(const std::function<void()>& emit);
  /// The text of the only op that `emit` emits.
  static std::string EmitOp(const std::function<void()>& emit);
};

/// The dict of an op on thread T1 without sequence number. `args` is what stands between the
/// brackets.
std::string OpDict(const std::string& mod, const std::string& op, const std::string& args);

/// Runs the program beside this test, `annotated_program COMMAND`, in its own process, and returns
/// what it printed. An empty mode: without a tool; else the capture is written to `capture`.
/// Expects exit code 0.
std::string RunAnnotatedProgram(const std::string& command, const std::string& mode,
                                const std::filesystem::path& capture = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_ANNOTATE_ANNOTATE_FIXTURE_H_
