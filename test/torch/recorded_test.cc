// `record` of a Python program that is not touched, against what the test recorder sees of it.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <algorithm>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test {
namespace {

/// Without the numbers that differ from run to run: of threads, and of the framework's calls.
std::string Settled(std::string text) {
  static const RE2 kNumber("('(?:f?tid|h)': )[0-9]+");
  RE2::GlobalReplace(&text, kNumber, "\\1N");
  return text;
}

TEST(RecordedTest, PythonProgram) {
  OPLENS_NEED(WhyNoPython);
  const std::vector<std::string> program = AnnotatedPython({SourceFile("examples/train.py")});
  std::vector<std::string> seen;
  for (const NvtxRange& range : RunTorch(program, {"PYTHONPATH=" OPLENS_LIB_DIR}).ranges.ranges) {
    seen.push_back(Settled(range.text));
  }
  const std::filesystem::path database = TestDir() / "net.sql";
  std::vector<std::string> command = {"/usr/bin/env",
                                      "PYTHONPATH=" OPLENS_LIB_DIR,
                                      Program("record"),
                                      "-f",
                                      "-o",
                                      database.string(),
                                      "--"};
  command.insert(command.end(), program.begin(), program.end());
  const RunResult run = RunProgram(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, ::testing::HasSubstr(" " + std::to_string(seen.size()) + " ranges"));
  SQLite::Database file(database.string());
  SQLite::Statement rows(file,
                         "SELECT value FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON "
                         "s._id_ = m.name WHERE flags = 2");
  std::vector<std::string> recorded;
  while (rows.executeStep()) recorded.push_back(Settled(rows.getColumn(0).getString()));
  std::sort(seen.begin(), seen.end());
  std::sort(recorded.begin(), recorded.end());
  EXPECT_THAT(recorded, ::testing::ElementsAreArray(seen));
}

}  // namespace
}  // namespace oplens::test
