#ifndef OPLENS_TEST_E2E_E2E_H_
#define OPLENS_TEST_E2E_E2E_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/support/nvprof_builder.h"
#include "test/support/program.h"
#include "test/support/trace_script.h"

namespace oplens::test {

/// Runs this build's `parse` or `prof` with arguments, and -v before them: tests look at all that
/// is said. Those of the short form run the program themselves.
RunResult RunParse(const std::vector<std::string>& arguments, const RunOptions& options = {});
RunResult RunProf(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// The records of a profile through `parse --format jsonl`, one object a kernel. Fails the test
/// when the exit code is not 0.
std::vector<nlohmann::json> Records(const std::filesystem::path& profile,
                                    const std::vector<std::string>& options = {});

/// What `parse` writes for a profile as dict lines. Fails the test when the exit code is not 0.
std::vector<std::string> DictLines(const std::filesystem::path& profile,
                                   const std::vector<std::string>& options = {});

/// The rows of `prof --json` for a dict file. Fails the test when the exit code is not 0.
std::vector<nlohmann::json> ProfRows(const std::filesystem::path& dict,
                                     const std::vector<std::string>& options = {});

/// The count that a run printed on stderr before "[WORD]": "3 ranges left out [leaked-range]"
/// gives 3. 0 when the word is not there.
int64_t CountedReason(const RunResult& result, const std::string& word);

/// Number of lines of a text.
int64_t LineCount(const std::string& text);

/// A small profile for changes: one thread, one process, a device.
struct SmallProfile {
  NvprofBuilder builder;
  ScriptState state{.builder = &builder};
  HostThread thread{&state, 3940300608, 1'000'000};

  SmallProfile() { AddDevice(&builder, state.process_id); }
  SmallProfile(const SmallProfile&) = delete;
  SmallProfile& operator=(const SmallProfile&) = delete;

  /// One kernel inside an op range and autograd's range, as PyProf and PyTorch annotate it.
  int64_t AnnotatedKernel(const std::string& op, int64_t seq, const std::string& kernel_name);

  /// Writes it as `name` into the folder of the running test and returns the path.
  std::filesystem::path Write(const NvprofOptions& options = {}) const;
};

/// The text of an op range of `op` on one tensor of 1024 floats.
std::string OpText(const std::string& op);

}  // namespace oplens::test

#endif  // OPLENS_TEST_E2E_E2E_H_
