#ifndef OPLENS_TEST_RECORD_RECORDING_FIXTURE_H_
#define OPLENS_TEST_RECORD_RECORDING_FIXTURE_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "test/support/program.h"

namespace oplens::test {

/// Runs `record -f -o DATABASE OPTIONS -- PROGRAM` with variables "NAME=VALUE" in the environment.
struct RecordRun {
  std::filesystem::path database;
  std::vector<std::string> program;
  std::vector<std::string> options = {};
  std::vector<std::string> environment = {};
};
RunResult Record(const RecordRun& run);

/// The stand-in for CUDA as CUPTI, and the program that uses it.
std::vector<std::string> FakeCuda();
std::vector<std::string> GpuProgram(const std::string& scenario);

/// What the first column of the first row of a query holds.
int64_t Number(const std::filesystem::path& database, const std::string& query);
std::string Text(const std::filesystem::path& database, const std::string& query);

/// Pushed and popped ranges of a database that hold no others' ends: the outline of each thread,
/// texts indented by depth, threads in order of their texts. Adds a failure for every range that is
/// not nested in the one around it, ends twice, or goes back in time.
std::vector<std::string> Outlines(const std::filesystem::path& database);

/// The same of what the test recorder saw of the program, in its binary or text mode; as `record`
/// writes it, without what differs from call to call.
std::vector<std::string> SeenOutlines(const std::vector<std::string>& program,
                                      const std::string& mode);

/// A text with the numbers of threads replaced, which differ from run to run.
std::string WithoutThreads(std::string text);

}  // namespace oplens::test

#endif  // OPLENS_TEST_RECORD_RECORDING_FIXTURE_H_
