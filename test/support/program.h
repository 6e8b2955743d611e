#ifndef OPLENS_TEST_SUPPORT_PROGRAM_H_
#define OPLENS_TEST_SUPPORT_PROGRAM_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace oplens::test {

/// How to run a program.
struct RunOptions {
  std::filesystem::path stdin_path = "/dev/null";
  /// Where standard output goes; empty: captured in RunResult::out.
  std::filesystem::path stdout_path = {};
  /// Standard output is a pipe whose reader is gone.
  bool closed_stdout = false;
  /// Drop root's rights before the start, so that file permissions count. No effect for other
  /// users.
  bool unprivileged = false;
  /// Writes beyond this size of a file fail with EFBIG, as on a disk that fills up; 0: no limit.
  int64_t max_file_bytes = 0;
  std::filesystem::path directory = {};  ///< Working directory; empty: the caller's.
  /// Standard output and error are terminals of this width (and 24 lines), raw, so that what is
  /// written to each is captured as it is; 0: pipes.
  int terminal_columns = 0;
  /// With terminal_columns: standard input is that terminal too, where somebody has typed Ctrl-D.
  bool terminal_stdin = false;
  /// Called with what standard error has so far, whenever there is more of it.
  std::function<void(const std::string& err)> on_err = {};
  /// "NAME=value" that replace or join the variables of the environment; "NAME" takes one away.
  std::vector<std::string> environment = {};
};

struct RunResult {
  int exit_code = -1;  ///< 128 + signal number when a signal ended it; 127 when it did not start.
  std::string out;
  std::string err;
  double cpu_seconds = 0;  ///< User + system.
  /// Largest resident size. Holds at least the caller's own size at the time of the call (as Linux
  /// counts it), so callers that compare it stay small.
  int64_t max_rss_bytes = 0;
};

/// Runs `command` (program path, then arguments; no shell) to its end.
/// Throws std::system_error when the run cannot be set up.
RunResult RunProgram(const std::vector<std::string>& command, const RunOptions& options = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_PROGRAM_H_
