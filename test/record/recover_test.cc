// `record --recover`, and what parse says of a recording that was interrupted.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "record/spool/spool_format.h"
#include "test/support/program.h"
#include "test/support/running_program.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::test::recover_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Of a session: the version of the spool's format.
const std::string kVersionLine = fmt::format("version={}\n", record::spool::kVersion);

std::vector<std::string> RecordForever(const std::string& output) {
  return {Program("record"), "-o", output, "--", Program("recorded_program"), "forever"};
}

RunResult RunHere(std::vector<std::string> command) {
  RunOptions options;
  options.directory = TestDir();
  return RunProgram(command, options);
}

RunResult Recover(const std::string& name) {
  return RunHere({Program("record"), "--recover", name});
}

/// Everything of a recording is killed, in the middle of its ranges.
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
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
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
  // The lock ends with `record`; the program itself goes on.
  record.Kill();
  const RunResult while_program = Recover("net.sql");
  EXPECT_EQ(while_program.exit_code, 1);
  EXPECT_THAT(while_program.err, HasSubstr("still runs, and may write into it; wait for its end"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
}

TEST(RecordRecover, NeedsNoSession) {
  InterruptRecording("net.sql");
  const fs::path spool = TestDir() / "net.sql.spool";
  const fs::path kept = TestDir() / "kept";
  fs::rename(spool, kept);
  for (const std::string& session : std::vector<std::string>{
           "", "output=/x\n", "\x01\x02\x03", kVersionLine + "end\n", "program=12\nend\n",
           "version=x\nprogram=12\nend\n", kVersionLine + "program=x\nend\n"}) {
    fs::copy(kept, spool, fs::copy_options::recursive);
    WriteFile(spool / "session", session);
    const RunResult result = Recover("net.sql");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, StartsWith("record: net.sql.spool: its file `session` is missing or "
                                       "damaged: made from what the processes wrote\n"
                                       "record: net.sql: 0 kernels, "));
    EXPECT_THAT(result.err, Not(HasSubstr(" 0 ranges")));
    EXPECT_FALSE(fs::exists(spool));
    fs::remove(TestDir() / "net.sql");
  }
}

// What somebody else put there is not waited for.
TEST(RecordRecover, ReadsAPlainSessionOnly) {
  InterruptRecording("net.sql");
  const fs::path session = TestDir() / "net.sql.spool" / "session";
  fs::remove(session);
  ASSERT_EQ(::mkfifo(session.c_str(), 0600), 0);
  EXPECT_EQ(Recover("net.sql").exit_code, 0);
}

TEST(RecordRecover, TheSpoolHasNoArguments) {
  InterruptRecording("net.sql");
  int pages = 0;
  for (const auto& entry : fs::directory_iterator(TestDir() / "net.sql.spool")) {
    const fs::path page = entry.path() / "process";
    if (!fs::exists(page)) continue;
    ++pages;
    EXPECT_EQ(ReadFile(page).find("forever"), std::string::npos);
  }
  EXPECT_EQ(pages, 1);
}

TEST(RecordRecover, LeavesAFolderWithNothing) {
  for (const char* const session : {"", "program=12 1 1\nversion=9\noplens=7.1\nend\n"}) {
    fs::create_directory(TestDir() / "net.sql.spool");
    WriteFile(TestDir() / "net.sql.spool" / "session", session);
    const RunResult result = Recover("net.sql");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, AnyOf(HasSubstr("holds nothing that was recorded; record again\n"),
                                  HasSubstr(fmt::format("has version 9 of the spool's format, not "
                                                        "{}; recover it with oplens 7.1\n",
                                                        record::spool::kVersion))));
    EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
    EXPECT_FALSE(fs::exists(TestDir() / "net.sql"));
  }
}

TEST(RecordRecover, KeepsASpoolThatCouldNotBeReadWhole) {
  const fs::path image = MakeSpoolImage(TestDir() / "net.sql.spool", 12, TestDir() / "net.sql");
  SpoolStream events(image, 2, 1, 1);
  events.Push(1, "a");
  events.PatchUsed(events.used() + 8);
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("not all that was recorded could be read"));
  EXPECT_THAT(result.err, HasSubstr("the recording itself is kept in net.sql.spool\n"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql", "net.sql.spool"));
}

TEST(RecordRecover, WritesOnlyWhereItsCommandLineSays) {
  WriteFile(TestDir() / "precious.sql", "mine");
  const auto make = [] {
    MakeSpoolImage(TestDir() / "net.sql.spool", 12, TestDir() / "precious.sql");
    WriteFile(TestDir() / "net.sql.spool" / "session", kVersionLine + "force=1\nprogram=12\nend\n");
  };
  make();
  EXPECT_EQ(Recover("net.sql").exit_code, 0);
  EXPECT_EQ(ReadFile(TestDir() / "precious.sql"), "mine");
  EXPECT_THAT(ReadFile(TestDir() / "net.sql"), StartsWith("SQLite format 3"));
  // What is there is replaced with -f only, whatever the recording had.
  WriteFile(TestDir() / "net.sql", "mine");
  make();
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("net.sql: is there already; move it away, or replace it"));
  EXPECT_THAT(result.err, HasSubstr("is in net.sql.spool: make the database of it with `record "
                                    "--recover net.sql`\n"));
  EXPECT_EQ(ReadFile(TestDir() / "net.sql"), "mine");
  EXPECT_EQ(RunHere({Program("record"), "-f", "--recover", "net.sql"}).exit_code, 0);
  EXPECT_THAT(ReadFile(TestDir() / "net.sql"), StartsWith("SQLite format 3"));
}

/// Two processes, and what the names of their databases were.
void MakeTwo(const fs::path& first, const fs::path& second) {
  const fs::path spool = TestDir() / "net.12.sql.spool";
  MakeSpoolImage(spool, 12, first);
  MakeSpoolImage(spool, 13, second);
  WriteFile(spool / "session",
            "output=/elsewhere/net.%p.sql\n" + kVersionLine + "program=12\nend\n");
}

TEST(RecordRecover, OfSeveralProcessesNeedsTheNameOfAll) {
  MakeTwo("/elsewhere/net.12.sql", "/elsewhere/net.13.sql");
  for (const char* const name : {"net.12.sql", "net.13.sql", "net.12.sql.spool"}) {
    const RunResult result = Recover(name);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("holds 2 processes, each with a database of its own; give "
                                      "the name as -o had it, with %p for the process id, as in "
                                      "`record --recover " +
                                      (fs::canonical(TestDir()) / "net.%p.sql`\n").string()));
    EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.12.sql.spool"));
  }
  const RunResult result = Recover("net.%p.sql");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.12.sql", "net.13.sql"));
}

TEST(RecordRecover, KeepsAProcessWhoseNameIsNotThatOfTheCommandLine) {
  MakeTwo("/elsewhere/net.12.sql", "/elsewhere/net.12.sql");
  const RunResult result = Recover("net.%p.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("record: process 13: the name of its database, "
                                    "/elsewhere/net.12.sql, is none of net.%p.sql: it was not "
                                    "written\n"));
  EXPECT_THAT(result.err, HasSubstr("is kept in net.12.sql.spool\n"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.12.sql", "net.12.sql.spool"));
}

TEST(RecordRecover, RefusesAProgramThatHasNoRangeYet) {
  RunningProgram record(
      {Program("record"), "-o", "net.sql", "--", "/bin/sh", "-c", "echo ready; sleep 60"},
      TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  record.Kill();
  const RunResult result = Recover("net.sql");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("still runs, and may write into it; wait for its end"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
}

/// `record` is killed in a container, so that the number of its program says nothing outside; nor
/// can the program be seen from a container beside it.
TEST(RecordRecover, RefusesAProgramOfAnotherContainer) {
  const std::vector<std::string> container = {"/usr/bin/unshare", "--pid", "--fork",
                                              "--mount-proc"};
  std::vector<std::string> command = container;
  if (command.push_back("/bin/true"); RunHere(command).exit_code != 0) {
    GTEST_SKIP() << "namespaces of processes cannot be made here";
  }
  command.back() = "/bin/sh";
  command.insert(command.end(),
                 {"-c", fmt::format("{} -o net.sql -- {} sleep 60 & "
                                    "read word; kill -9 $!; wait $!; echo killed; sleep 60",
                                    Program("record"), Program("recorded_program"))});
  const fs::path pipe = TestDir() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  command.back() = fmt::format("exec <>{}; {}", pipe.string(), command.back());
  RunningProgram record(command, TestDir());
  ASSERT_TRUE(record.WaitForLine("ready")) << record.err();
  EXPECT_THAT(Recover("net.sql").err, HasSubstr("belongs to a recording that still runs"));
  WriteFile(pipe, "go\n");
  ASSERT_TRUE(record.WaitForLine("killed")) << record.err();
  std::vector<std::string> beside = container;
  beside.insert(beside.end(), {Program("record"), "--recover", "net.sql"});
  for (const auto& recover :
       {std::vector<std::string>{Program("record"), "--recover", "net.sql"}, beside}) {
    if (recover == beside && !KeepsLocksOfMappings(TestDir())) continue;
    const RunResult result = RunHere(recover);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("(its number in its container) still runs"));
    EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
  }
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

/// Not TMPDIR, which may be a small disk, and which others may write.
TEST(RecordRecover, KeepsTemporaryFilesInTheSpool) {
  const fs::path image = MakeSpoolImage(TestDir() / "net.sql.spool", 12, TestDir() / "net.sql");
  SpoolStream events(image, 2, 1, 1);
  // More than SQLite sorts in memory for an index.
  constexpr int kTexts = 400;
  constexpr size_t kBytes = 200'000;
  for (int i = 0; i < kTexts; ++i) events.Push(i, fmt::format("{:0{}}", i, kBytes));
  const fs::path temporary = TestDir() / "tmp";
  fs::create_directory(temporary);
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, temporary.c_str(), IN_CREATE), 0);
  const std::string variable = "TMPDIR=" + temporary.string();
  const RunResult result = RunHere(
      {"/usr/bin/env", variable, "SQLITE_" + variable, Program("record"), "--recover", "net.sql"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::array<char, 4096> seen{};
  EXPECT_EQ(::read(watch, seen.data(), seen.size()), -1) << "a file was made in TMPDIR";
  ::close(watch);
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql", "tmp"));
}

TEST(RecordRecover, IsNamedByParse) {
  const fs::path folder = TestDir() / "runs";
  fs::create_directories(folder / "z.sql.spool");
  WriteFile(folder / "z.sql.spool" / "z.13.sql.part", "");  // Of a child process.
  const auto advice = [](const std::string& given, const std::string& database) {
    return fmt::format(
        "parse: {}: the recording was interrupted, or still runs; run `record --recover {}`\n",
        given, database);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"runs/z.sql", advice("runs/z.sql", "runs/z.sql")},
      {"runs/z.13.sql", advice("runs/z.13.sql", "runs/z.13.sql")},
      {"runs/z.sql.spool", advice("runs/z.sql.spool", "runs/z.sql")},
      {"runs/z.sql.spool/", advice("runs/z.sql.spool/", "runs/z.sql")},
      {"runs", advice("runs/z.sql.spool", "runs/z.sql")},
  };
  for (const auto& [given, said] : cases) {
    const RunResult result = RunHere({Program("parse"), given});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, said);
  }
  RunOptions options;
  options.directory = folder;
  EXPECT_EQ(RunProgram({Program("parse"), "z.sql.spool"}, options).err,
            advice("z.sql.spool", "z.sql"));
  EXPECT_EQ(RunProgram({Program("parse"), "z.13.sql"}, options).err,
            advice("z.13.sql", "z.13.sql"));
  WriteFile(folder / "z.sql", "complete");
  EXPECT_EQ(RunHere({Program("parse"), "runs/z.sql.spool"}).err,
            "parse: runs/z.sql.spool: holds what is left of a recording, not a profile; give its "
            "database, runs/z.sql\n");
}

}  // namespace
}  // namespace oplens::test::recover_test
