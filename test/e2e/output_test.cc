// Where the output goes: files, full disks, closed pipes, folders that cannot be written.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::output_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

// The demo's dict as a file of the running test.
fs::path DemoDict(const fs::path& dir) {
  const fs::path dict = dir / "demo.dict";
  EXPECT_EQ(RunParse({"-o", dict.string(), kDemo}).exit_code, 0);
  return dict;
}

TEST(Output, FileHoldsWhatStandardOutputWouldHold) {
  const fs::path dir = TestDir();
  const fs::path dict = DemoDict(dir);
  EXPECT_EQ(ReadFile(dict), RunParse({kDemo}).out);
  EXPECT_THAT(FilesIn(dir), UnorderedElementsAre("demo.dict"));

  const fs::path csv = dir / "demo.csv";
  EXPECT_EQ(RunProf({"--csv", "-o", csv.string(), dict.string()}).exit_code, 0);
  EXPECT_EQ(ReadFile(csv), RunProf({"--csv", dict.string()}).out);
  EXPECT_THAT(FilesIn(dir), UnorderedElementsAre("demo.dict", "demo.csv"));
}

TEST(Output, FullDiskIsOneLineAndExitOne) {
  const fs::path dict = DemoDict(TestDir());
  const RunResult parse = RunParse({kDemo}, {.stdout_path = "/dev/full"});
  EXPECT_EQ(parse.exit_code, 1);
  EXPECT_THAT(parse.err, HasSubstr("No space left on device"));
  const RunResult parse_file = RunParse({"-o", "/dev/full", kDemo});
  EXPECT_EQ(parse_file.exit_code, 1);
  EXPECT_THAT(parse_file.err, HasSubstr("/dev/full"));
  for (const char* format : {"--csv", "--json"}) {
    const RunResult prof = RunProf({format, dict.string()}, {.stdout_path = "/dev/full"});
    EXPECT_EQ(prof.exit_code, 1) << format;
    EXPECT_THAT(prof.err, StartsWith("prof: "));
    EXPECT_THAT(prof.err, HasSubstr("No space left on device"));
  }
}

TEST(Output, DiskThatFillsUpLeavesNothingBehind) {
  const fs::path dir = TestDir();
  const fs::path dict = DemoDict(dir);
  const fs::path out = dir / "out";
  fs::create_directory(out);
  for (const RunResult& result :
       {RunParse({"-o", (out / "net.dict").string(), kDemo}, {.max_file_bytes = 4096}),
        RunProf({"--csv", "-c", "all", "-o", (out / "net.csv").string(), dict.string()},
                {.max_file_bytes = 4096})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(LineCount(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(": cannot be written: "));
    EXPECT_THAT(FilesIn(out), testing::IsEmpty());
  }
}

TEST(Output, ProfReadsStandardInput) {
  const fs::path dict = DemoDict(TestDir());
  const RunResult from_file = RunProf({"--csv", dict.string()});
  const RunResult from_stdin = RunProf({"--csv"}, {.stdin_path = dict});
  EXPECT_EQ(from_stdin.exit_code, 0);
  EXPECT_EQ(from_stdin.out, from_file.out);
  EXPECT_EQ(from_stdin.err, from_file.err);
}

TEST(Output, ClosedPipeEndsQuietly) {
  const fs::path dict = DemoDict(TestDir());
  const RunResult parse = RunParse({"--quiet", kDemo}, {.closed_stdout = true});
  EXPECT_EQ(parse.exit_code, 0);
  EXPECT_EQ(parse.err, "");
  const RunResult prof = RunProf({"--csv", dict.string()}, {.closed_stdout = true});
  EXPECT_EQ(prof.exit_code, 0);
  EXPECT_THAT(prof.err, testing::Not(HasSubstr("ipe")));
}

TEST(Output, FolderThatDoesNotExist) {
  const fs::path target = TestDir() / "nowhere" / "net.dict";
  const RunResult result = RunParse({"-o", target.string(), kDemo});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(LineCount(result.err), 1) << result.err;
  EXPECT_THAT(result.err, StartsWith("parse: " + target.string() + ": "));
}

TEST(Output, QuietPrintsNothingOnStderr) {
  EXPECT_NE(RunParse({kDemo}).err, "") << "the demo has a lost launch to report";
  const RunResult result = RunParse({"--quiet", kDemo});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

// Profiles lie in folders that cannot be written (a read-only mount, another user's results).
class ReadOnlyFolder : public testing::TestWithParam<NvprofOptions::Journal> {
 protected:
  void TearDown() override { fs::permissions(dir_, fs::perms::owner_all); }
  fs::path dir_;
};

TEST_P(ReadOnlyFolder, IsReadAndLeftAsItWas) {
  SmallProfile profile;
  for (int i = 0; i < 5; ++i) profile.AnnotatedKernel("add", i + 1, "kernel");
  const fs::path file = profile.Write({.journal = GetParam()});
  dir_ = file.parent_path();
  fs::permissions(dir_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                            fs::perms::others_exec);
  const std::vector<std::string> before = FilesIn(dir_);

  const RunResult result = RunParse({file.string()}, {.unprivileged = true});
  if (result.exit_code == 127) GTEST_SKIP() << "the build folder is closed to other users";
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(LineCount(result.out), 5);
  EXPECT_EQ(FilesIn(dir_), before);
}

INSTANTIATE_TEST_SUITE_P(Journals, ReadOnlyFolder,
                         testing::Values(NvprofOptions::Journal::kDelete,
                                         NvprofOptions::Journal::kWalCheckpointed));

TEST(ReadOnlyInput, FileIsNotChangedNorAccompanied) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel");
  const fs::path file = profile.Write();
  const std::string before = ReadFile(file);
  EXPECT_EQ(RunParse({file.string()}).exit_code, 0);
  EXPECT_EQ(ReadFile(file), before);
  EXPECT_THAT(FilesIn(file.parent_path()), UnorderedElementsAre("profile.sql"));
}

}  // namespace
}  // namespace oplens::test::output_test
