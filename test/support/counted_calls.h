#ifndef OPLENS_TEST_SUPPORT_COUNTED_CALLS_H_
#define OPLENS_TEST_SUPPORT_COUNTED_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oplens::test {

struct CountedRun {
  int exit_code = -1;      ///< 128 + signal number when a signal ended it; 127: it did not start.
  int64_t path_calls = 0;  ///< System calls that look a path up: stat, open, readlink, access.
};

/// Runs `command` (program path, then arguments; no shell) to its end and counts what it and the
/// processes that it starts ask the system about files. Standard output and error are discarded.
/// nullopt: the system does not allow to trace a process.
std::optional<CountedRun> RunCounted(const std::vector<std::string>& command);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_COUNTED_CALLS_H_
