// `record --recover`, and what parse says of a recording that was interrupted.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "test/record/running_program.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> RecordForever(const std::string& output) {
  return {Program("record"), "-o", output, "--", OPLENS_RECORDED_PROGRAM, "forever"};
}

RunResult RunHere(std::vector<std::string> command) {
  RunOptions options;
  options.directory = TestDir();
  return RunProgram(command, options);
}

RunResult Recover(const std::string& name) {
  return RunHere({Program("record"), "--recover", name});
}

/// Everything of a recording is killed.
void InterruptRecording(const std::string& output) {
  RunningProgram record(RecordForever(output), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  record.SendToGroup(SIGKILL);
  EXPECT_EQ(record.Wait(), 128 + SIGKILL);
}

TEST(RecordRecover, MakesTheDatabaseOfWhatWasRecorded) {
  InterruptRecording("net.sql");
  ASSERT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
  ASSERT_FALSE(fs::exists(TestDir() / "net.sql"));
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("record: net.sql: 0 kernels, "));
  EXPECT_THAT(ReadFile(TestDir() / "net.sql"), StartsWith("SQLite format 3"));
  EXPECT_FALSE(fs::exists(TestDir() / "net.sql.spool"));
  EXPECT_FALSE(fs::exists(TestDir() / "net.sql.part"));
}

TEST(RecordRecover, TakesTheNameOfTheSpoolToo) {
  InterruptRecording("net.sql");
  EXPECT_EQ(Recover("net.sql.spool/").exit_code, 0);
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql"));
}

TEST(RecordRecover, SaysThatThereIsNothingToRecover) {
  RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("there is no "));
  EXPECT_THAT(result.err, HasSubstr("check the name"));
  ASSERT_EQ(RunHere({Program("record"), "-o", "net.sql", "--", "true"}).exit_code, 0);
  result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("the recording is complete"));
}

TEST(RecordRecover, RefusesARecordingThatStillRuns) {
  RunningProgram record(RecordForever("net.sql"), TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  const RunResult while_both = Recover("net.sql");
  EXPECT_EQ(while_both.exit_code, 1);
  EXPECT_THAT(while_both.err, HasSubstr("belongs to a recording that still runs"));
  record.Send(SIGKILL);
  // Waits for the lock, which ends with `record`; the program itself goes on.
  RunResult while_program = Recover("net.sql");
  for (int i = 0; i < 100 && while_program.err.find("still runs") != std::string::npos; ++i) {
    while_program = Recover("net.sql");
  }
  EXPECT_EQ(while_program.exit_code, 1);
  EXPECT_THAT(while_program.err, HasSubstr("still writes into it; wait for its end"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
}

TEST(RecordRecover, RefusesAFolderWithoutASession) {
  fs::create_directory(TestDir() / "net.sql.spool");
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("`session` is missing or damaged; the program was not started"));
}

TEST(RecordRecover, MakesTheEmptyDatabaseOfAProgramWithoutRanges) {
  {
    RunningProgram record(
        {Program("record"), "-o", "net.sql", "--", "/bin/sh", "-c", "echo ready; sleep 60"},
        TestDir());
    ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
    record.SendToGroup(SIGKILL);
    record.Wait();
  }
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("record: net.sql: 0 kernels, 0 ranges"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql"));
}

TEST(RecordRecover, IsNamedByParse) {
  fs::create_directory(TestDir() / "net.sql.spool");
  const RunResult result = RunHere({Program("parse"), "net.sql"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err,
            "parse: net.sql: the recording was interrupted, or still runs; run `record --recover "
            "net.sql`\n");
}

}  // namespace
}  // namespace oplens::test
