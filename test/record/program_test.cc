// `record` as a program: what it does to the program that it starts, and what it says.

#include "test/support/program.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/record/record_run.h"
#include "test/support/running_program.h"
#include "test/support/test_files.h"

namespace oplens::test::program_test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

TEST(RecordProgram, WithoutArgumentsSaysWhatToGive) {
  const RunResult result = RunProgram({Program("record")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "record: give the program to record: record -o net.sql -- PROGRAM ARGS\n");
  EXPECT_EQ(result.out, "");
}

TEST(RecordProgram, PrintsHelpToStandardOutput) {
  const RunResult result = RunProgram({Program("record"), "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("--recover"));
  EXPECT_EQ(result.err, "");
}

TEST(RecordProgram, WritesTheDatabaseAndNothingElse) {
  const RunResult result = Record({"ranges", "5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("record: net.sql: 0 kernels, 5 ranges, 0 dropped records\n"));
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

/// Arguments may hold what is nobody's business, and others may read a database.
TEST(RecordProgram, WritesTheProgramsNameAndNotItsArguments) {
  const auto names = [](const std::vector<std::string>& options) {
    EXPECT_EQ(Record({"fork", "secret"}, options).exit_code, 0);
    const SQLite::Database database(TestDir() / "net.sql");
    SQLite::Statement query(database,
                            "SELECT value FROM CUPTI_ACTIVITY_KIND_NAME n JOIN StringTable s ON "
                            "s._id_ = n.name");
    std::string text;
    while (query.executeStep()) text += query.getColumn(0).getString() + '\n';
    return text;
  };
  const std::string name = Program("recorded_program");
  EXPECT_EQ(names({}), name + "\n");
  EXPECT_THAT(ReadFile(TestDir() / "net.sql"), Not(HasSubstr("secret")));
  EXPECT_EQ(names({"-f", "--keep-arguments"}), name + " fork secret\n");
}

TEST(RecordProgram, WritesNoArgumentsWhileItRuns) {
  for (const char* const option : {"-q", "--keep-arguments"}) {
    const RunResult result =
        RunProgram(RecordCommand({"-f", option, "-o", "net.sql"},
                                 {"/bin/sh", "-c",
                                  fmt::format("{} ranges 1; grep -r -l se[c]ret net.sql.spool",
                                              Program("recorded_program")),
                                  "secret"}),
                   InTestDir());
    const bool keeps = std::string_view(option) == "--keep-arguments";
    EXPECT_EQ(result.out.find("session") != std::string::npos, keeps) << result.out;
  }
}

TEST(RecordProgram, LeavesFilesBesideTheDatabaseAlone) {
  WriteFile(TestDir() / "other", "theirs");
  WriteFile(TestDir() / "net.sql.part", "mine");
  EXPECT_EQ(Record({"ranges", "1"}).exit_code, 0);
  EXPECT_EQ(ReadFile(TestDir() / "net.sql.part"), "mine");
  // A link that somebody planted.
  fs::remove(TestDir() / "net.sql.part");
  fs::create_symlink("other", TestDir() / "net.sql.part");
  EXPECT_EQ(Record({"ranges", "1"}, {"-f"}).exit_code, 0);
  EXPECT_EQ(ReadFile(TestDir() / "other"), "theirs");
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql", "net.sql.part", "other"));
  // Nor is a link written through that has the database's own name.
  fs::remove(TestDir() / "net.sql");
  fs::create_symlink("nowhere", TestDir() / "net.sql");
  const RunResult result = Record({"ranges", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is there already: give -f"));
}

TEST(RecordProgram, QuietSaysNothing) { EXPECT_EQ(Record({"ranges", "5"}, {"--quiet"}).err, ""); }

TEST(RecordProgram, QuietSaysWhatFailedOrIsMissing) {
  const RunResult killed = Record({"crash", "9"}, {"-f", "-q"});
  EXPECT_THAT(killed.err, StartsWith("record: the program was killed by signal 9 ("));
  EXPECT_THAT(killed.err, Not(HasSubstr("0 kernels")));
  const RunResult cut = Record({"long"}, {"-f", "-q"});
  EXPECT_EQ(cut.err,
            "record: net.sql: 4 texts were cut: those of events at 256 KiB, names at 64 KiB\n");
}

TEST(RecordProgram, StrictFailsWhereSomethingIsMissing) {
  EXPECT_EQ(Record({"ranges", "5"}, {"-f", "--strict"}).exit_code, 0);
  EXPECT_EQ(Record({"long"}, {"-f"}).exit_code, 0);
  EXPECT_EQ(Record({"long"}, {"-f", "--strict"}).exit_code, 3);
  EXPECT_EQ(Record({"descriptors", "later"}, {"-f", "--strict"}).exit_code, 3);
  EXPECT_EQ(Record({"exit", "5"}, {"-f", "--strict"}).exit_code, 5) << "the program's own";
}

TEST(RecordProgram, SaysThatNoStartCame) {
  const std::vector<std::string> window = {"-f", "--profile-from-start", "off"};
  EXPECT_THAT(Record({"ranges", "5"}, window).err,
              HasSubstr("record: nothing was recorded: with --profile-from-start off, "));
  EXPECT_THAT(Record({"ranges", "5"}, {"-f"}).err, Not(HasSubstr("nothing was recorded")));
  EXPECT_THAT(Record({"exit", "0"}, {"-f", "--trace", "cuda"}).err,
              Not(HasSubstr("nothing was recorded")));
}

TEST(RecordProgram, SaysThatTheProgramRanAsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may start a program as another user";
  const RunResult result =
      RunProgram(RecordCommand({"-o", "net.sql", "--strict"},
                               {"setpriv", "--reuid", "65534", "--clear-groups", "true"}),
                 InTestDir());
  EXPECT_THAT(result.err, HasSubstr("record: the program ran as another user, who may not write "));
  EXPECT_EQ(result.exit_code, 3);
}

// A link to something that is no file is not replaced by a database.
TEST(RecordProgram, LeavesLinksToWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((TestDir() / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", TestDir() / "net.sql");
  const RunResult result = Record({"ranges", "1"}, {"-f"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is no regular file"));
  EXPECT_TRUE(fs::is_symlink(TestDir() / "net.sql"));
}

TEST(RecordProgram, SaysThatTheProgramHadNoDescriptorLeft) {
  const RunResult first = Record({"descriptors", "first"}, {"--timeout", "200"});
  EXPECT_THAT(first.err, HasSubstr("record: the program had no file descriptor left: where it uses "
                                   "CUDA or NVTX, the recorder could not be loaded"));
  EXPECT_THAT(first.err, Not(HasSubstr("used neither")));
  const RunResult later = Record({"descriptors", "later"}, {"-f"});
  EXPECT_THAT(later.err, HasSubstr("could not be stored: Too many open files: raise the limit"));
  const RunResult child =
      RunProgram(RecordCommand({"-o", "net.%p.sql", "--profile-child-processes"},
                               Recorded({"descriptors", "child"})),
                 InTestDir());
  EXPECT_THAT(child.err, HasSubstr("record: a process could not write into the spool and was not "
                                   "recorded: Too many open files: raise the limit (ulimit -n)\n"));
}

TEST(RecordProgram, ExitsAsTheProgram) {
  for (const int code : {0, 1, 42, 255}) {
    const RunResult result = Record({"exit", std::to_string(code)}, {"-f"});
    EXPECT_EQ(result.exit_code, code) << result.err;
  }
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql"));
}

TEST(RecordProgram, SaysWhichSignalKilledTheProgram) {
  for (const int number : {SIGSEGV, SIGKILL, SIGTERM}) {
    const RunResult result = Record({"crash", std::to_string(number)}, {"-f"});
    EXPECT_EQ(result.exit_code, 128 + number);
    EXPECT_THAT(result.err,
                StartsWith(fmt::format("record: the program was killed by signal {} (", number)));
    EXPECT_THAT(result.err, HasSubstr("net.sql: 0 kernels, "));
    EXPECT_THAT(result.err, HasSubstr("net.sql: 1 range never ended: the program was killed"));
  }
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordProgram, RecordsAProgramThatClosesAllOrLeavesTheFolder) {
  for (const char* const command : {"close", "chdir", "exec"}) {
    const RunResult result = Record({command, "3"}, {"-f"});
    EXPECT_EQ(result.exit_code, 0) << command << result.err;
    EXPECT_THAT(result.err, AnyOf(HasSubstr("net.sql: 0 kernels, 4 ranges, 0 dropped"),
                                  HasSubstr("net.sql: 0 kernels, 3 ranges, 0 dropped")))
        << command;
  }
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordProgram, SaysThatChildrenWereNotRecorded) {
  const RunResult result = Record({"fork", "3"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("net.sql: 0 kernels, 1 range, 0 dropped records"));
  EXPECT_THAT(result.err, HasSubstr("1 child process was not recorded: give --profile-child"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordProgram, RecordsChildrenToTheirOwnDatabases) {
  const RunResult result = RunProgram(
      RecordCommand({"-o", "net.%p.sql", "--profile-child-processes"}, Recorded({"fork", "3"})),
      InTestDir());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr(".sql: 0 kernels, 1 range, 0 dropped records\n"));
  EXPECT_THAT(result.err, HasSubstr(".sql: 0 kernels, 3 ranges, 0 dropped records\n"));
  EXPECT_EQ(FilesIn(TestDir()).size(), 2U);
}

/// Each is the first process of a container.
TEST(RecordProgram, TellsChildrenOfOneNumberApart) {
  const std::string container = "/usr/bin/unshare --pid --fork ";
  if (RunProgram({"/bin/sh", "-c", container + "/bin/true"}).exit_code != 0) {
    GTEST_SKIP() << "namespaces of processes cannot be made here";
  }
  const std::string program = container + Program("recorded_program");
  const RunResult result =
      RunProgram(RecordCommand({"-o", "net.%p.sql", "--profile-child-processes"},
                               {"/bin/sh", "-c", program + " ranges 3; " + program + " ranges 5"}),
                 InTestDir());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("record: net.1.sql: 0 kernels, 3 ranges, 0 dropped"));
  EXPECT_THAT(result.err, HasSubstr("record: net.1.sql.1: 0 kernels, 5 ranges, 0 dropped"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.1.sql", "net.1.sql.1"));
}

TEST(RecordProgram, WaitsForRecordedChildrenThatOutliveTheProgram) {
  const fs::path pipe = TestDir() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  RunningProgram record(RecordCommand({"-o", "net.%p.sql", "--profile-child-processes"},
                                      Recorded({"orphan", pipe.string()})),
                        TestDir());
  EXPECT_TRUE(
      record.WaitForError("record: the program ended; waiting for recorded child process "));
  const int end = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(record.Wait(), 0) << record.err();
  ::close(end);
  fs::remove(pipe);
  EXPECT_THAT(record.err(), Not(HasSubstr("never ended"))) << "the child's range ended";
  EXPECT_EQ(FilesIn(TestDir()).size(), 2U);
}

TEST(RecordProgram, WritesNoDatabaseOfAProgramThatOnlyStartsOthers) {
  const RunResult result = RunProgram(
      RecordCommand(
          {"-o", "net.%p.sql", "--profile-child-processes"},
          {"/bin/sh", "-c", fmt::format("{} ranges 3; exit 5", Program("recorded_program"))}),
      InTestDir());
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr(".sql: 0 kernels, 3 ranges, 0 dropped records\n"));
  EXPECT_THAT(result.err, HasSubstr("record: the program itself used neither CUDA nor NVTX\n"));
  EXPECT_EQ(FilesIn(TestDir()).size(), 1U);
}

TEST(RecordProgram, WritesAnEmptyDatabaseOfAProgramWithoutRanges) {
  const RunResult result = RunProgram(RecordCommand({"-o", "net.sql"}, {"true"}), InTestDir());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("record: net.sql: 0 kernels, 0 ranges, 0 dropped records\n"));
  EXPECT_THAT(result.err, HasSubstr("used neither CUDA nor NVTX: its database is empty\n"));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordProgram, SaysWhyAProgramCannotBeStarted) {
  WriteFile(TestDir() / "text", "no program");
  struct Case {
    std::string program;
    int code;
    const char* said;
  };
  const Case cases[] = {
      {"no-such-program-of-oplens", 127, "no folder of PATH has it"},
      {"./no-such-program", 127, "No such file or directory; check its name"},
      {"./text", 126, "Permission denied; check that it is an executable file"},
      {".", 126, "Permission denied"},
  };
  for (const Case& c : cases) {
    const RunResult result =
        RunProgram(RecordCommand({"-o", "net.sql"}, {c.program, "x"}), InTestDir());
    EXPECT_EQ(result.exit_code, c.code) << result.err;
    EXPECT_THAT(result.err, StartsWith("record: " + c.program + ": cannot be started: "));
    EXPECT_THAT(result.err, HasSubstr(c.said));
    EXPECT_THAT(FilesIn(TestDir()), ElementsAre("text")) << "nothing is left";
  }
}

TEST(RecordProgram, ChecksTheOutputBeforeTheProgramStarts) {
  WriteFile(TestDir() / "old.sql", "old");
  fs::create_directory(TestDir() / "folder");
  struct Case {
    const char* output;
    const char* said;
  };
  const Case cases[] = {
      {"old.sql", "is there already: give -f to replace it"},
      {"folder", "is a folder"},
      {"missing/net.sql", "there is no folder"},
      {"old.sql/net.sql", "there is no folder"},
      {"/dev/null", "is no regular file"},
  };
  for (const Case& c : cases) {
    const RunResult result = RunProgram(
        RecordCommand({"-o", c.output}, {"/bin/sh", "-c", "touch started"}), InTestDir());
    EXPECT_EQ(result.exit_code, 2) << c.output;
    EXPECT_THAT(result.err, StartsWith("record: -o /")) << c.output;
    EXPECT_THAT(result.err, HasSubstr(c.said)) << c.output;
    EXPECT_THAT(FilesIn(TestDir()), ElementsAre("folder", "old.sql")) << c.output;
  }
  EXPECT_EQ(ReadFile(TestDir() / "old.sql"), "old");
}

TEST(RecordProgram, RefusesAFolderThatCannotBeWritten) {
  const fs::path folder = TestDir() / "closed";
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_exec |
                              fs::perms::others_read);
  RunOptions options = InTestDir();
  options.unprivileged = true;
  const RunResult result =
      RunProgram(RecordCommand({"-o", "closed/net.sql"}, {"/bin/true"}), options);
  if (result.exit_code == 127) GTEST_SKIP() << "the build folder is closed to other users";
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("cannot be written: Permission denied"));
}

TEST(RecordProgram, ReplacesAnOlderDatabaseByForce) {
  WriteFile(TestDir() / "net.sql", "old");
  EXPECT_EQ(Record({"ranges", "1"}, {"-f"}).exit_code, 0);
  EXPECT_THAT(ReadFile(TestDir() / "net.sql"), StartsWith("SQLite format 3"));
}

TEST(RecordProgram, SaysThatItsLibraryIsMissing) {
  fs::copy_file(Program("record"), TestDir() / "record");
  const RunResult result =
      RunProgram({(TestDir() / "record").string(), "-o", "net.sql", "true"}, InTestDir());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, StartsWith("record: liboplens_record.so: is neither beside "));
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("record"));
}

TEST(RecordProgram, RefusesToTakeAnotherToolsPlace) {
  for (const char* const variable : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    ::setenv(variable, "/opt/other/libtool.so", 1);
    const RunResult result = Record({"ranges", "1"});
    ::unsetenv(variable);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(fmt::format("{} is set to /opt/other/libtool.so", variable)));
    EXPECT_THAT(result.err, HasSubstr(fmt::format("unset {}", variable)));
  }
}

TEST(RecordProgram, KeepsAnInterruptedRecording) {
  fs::create_directory(TestDir() / "net.sql.spool");
  WriteFile(TestDir() / "net.sql.spool" / "session", "output=x\nend\n");
  const RunResult result = Record({"ranges", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("record --recover"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool" / "session"));
  EXPECT_EQ(Record({"ranges", "1"}, {"-f"}).exit_code, 0);
  EXPECT_THAT(FilesIn(TestDir()), ElementsAre("net.sql"));
}

TEST(RecordProgram, NamesTheDatabase) {
  ::setenv("OPLENS_TEST_RANK", "3", 1);
  const fs::path folder = TestDir() / "100%p";
  fs::create_directory(folder);
  RunOptions options;
  options.directory = folder;
  const RunResult result = RunProgram(
      RecordCommand({"-o", "r%q{OPLENS_TEST_RANK}.%%.sql"}, Recorded({"ranges", "1"})), options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("record: r3.%.sql: 0 kernels, 1 range"));
  EXPECT_THAT(FilesIn(folder), ElementsAre("r3.%.sql"));
}

TEST(RecordProgram, WritesDownWhatLaunchersTell) {
  const std::vector<std::pair<const char*, const char*>> variables = {
      {"RANK", "5"},
      {"WORLD_SIZE", "8"},
      {"LOCAL_RANK", "x1"},
      {"SLURM_PROCID", "12"},
      {"SLURM_NTASKS", "99999999999"},
      {"SLURM_STEP_NODELIST", "node7"}};
  for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  const RunResult result = Record({"ranges", "1"});
  for (const auto& [name, value] : variables) ::unsetenv(name);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const SQLite::Database file((TestDir() / "net.sql").string());
  SQLite::Statement query(file, "SELECT key, value FROM OPLENS_META WHERE key GLOB 'env.*'");
  std::map<std::string, int64_t> stored;
  while (query.executeStep())
    stored[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
  EXPECT_THAT(stored, ElementsAre(Pair("env.RANK", 5), Pair("env.SLURM_PROCID", 12),
                                  Pair("env.WORLD_SIZE", 8)));
}

TEST(RecordProgram, GivesTheProgramItsEnvironment) {
  const RunResult result = Record({"variables", "OPLENS_RECORD_"},
                                  {"--profile-from-start", "off", "--trace", "nvtx,cuda"});
  const std::string folder = fs::canonical(TestDir()).string();
  const std::string pid = result.out.substr(4, result.out.find('\n') - 4);
  EXPECT_THAT(result.out, HasSubstr("OPLENS_RECORD_SPOOL=" + folder + "/net.sql.spool\n"));
  EXPECT_THAT(result.out, HasSubstr("OPLENS_RECORD_OUTPUT=" + folder + "/net.sql\n"));
  EXPECT_THAT(result.out, ContainsRegex("OPLENS_RECORD_ROOT=" + pid + " [0-9]+ [0-9]+\n"));
  EXPECT_THAT(result.out, HasSubstr("OPLENS_RECORD_OPTIONS=cuda,nvtx,wait\n"));
  EXPECT_THAT(result.out, HasSubstr("OPLENS_RECORD_CLOCK="));
}

TEST(RecordProgram, ChangesNothingElseForTheProgram) {
  WriteFile(TestDir() / "in", "from standard input\n");
  RunOptions options = InTestDir();
  options.stdin_path = TestDir() / "in";
  // Some signals ignored, a stream closed and a descriptor open, as from a shell script.
  const std::string script = "trap '' PIPE HUP CHLD; exec 2>&- 7</dev/null; exec ";
  const std::string alone = script + Program("recorded_program") + " state";
  const std::string recorded =
      script + Program("record") + " -o net.sql -- " + Program("recorded_program") + " state";
  const auto without_group = [](std::string text) {
    const size_t at = text.find("group");
    return text.erase(at, text.find('\n', at) - at);
  };
  const RunResult before = RunProgram({"/bin/sh", "-c", alone}, options);
  const RunResult after = RunProgram({"/bin/sh", "-c", recorded}, options);
  EXPECT_THAT(before.out, HasSubstr("from standard input"));
  EXPECT_THAT(before.out, HasSubstr(fmt::format("ignored {}\n", SIGPIPE)));
  EXPECT_THAT(before.out, Not(HasSubstr("open 2\n")));
  EXPECT_EQ(without_group(after.out), without_group(before.out));
  EXPECT_EQ(after.exit_code, 0);
}

TEST(RecordProgram, SaysWhereTheRecordingIsWhenTheDatabaseCannotBeWritten) {
  RunOptions options = InTestDir();
  const RunResult result = RunProgram(
      RecordCommand({"-o", "net.sql"},
                    {"/bin/sh", "-c",
                     fmt::format("echo mine >net.sql; {} ranges 3", Program("recorded_program"))}),
      options);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("net.sql: is there already; move it away, or replace it with "
                                    "`record -f --recover`\n"));
  EXPECT_EQ(ReadFile(TestDir() / "net.sql"), "mine\n");
  EXPECT_THAT(result.err, HasSubstr("record: all that was recorded is in net.sql.spool: make the "
                                    "database of it with `record --recover net.sql`\n"));
  EXPECT_TRUE(fs::exists(TestDir() / "net.sql.spool"));
}

TEST(RecordProgram, SaysThatTheSpoolWasRemoved) {
  const RunResult result =
      RunProgram(RecordCommand({"-o", "net.sql"},
                               {"/bin/sh", "-c",
                                fmt::format("rm -r net.sql.spool; {} ranges 3; echo went on",
                                            Program("recorded_program"))}),
                 InTestDir());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "went on\n");
  EXPECT_EQ(
      result.err,
      "record: net.sql.spool: was removed during the recording; record again, and leave it\n");
}

}  // namespace
}  // namespace oplens::test::program_test
