// The library inside the program: what it needs, what it takes, and what it does without room.

#include <gmock/gmock.h>

#include <algorithm>

#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::library_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::MatchesRegex;

#if defined(OPLENS_SANITIZED)
#define SKIP_WITH_SANITIZERS() GTEST_SKIP() << "they do not let libraries be preloaded"
#else
#define SKIP_WITH_SANITIZERS()
#endif

#if !defined(OPLENS_SANITIZED)
std::vector<std::string> Words(const std::vector<std::string>& command) {
  const RunResult run = RunProgram(command);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::vector<std::string> words;
  std::istringstream text(run.out);
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

TEST(LibraryTest, NeedsTheCLibraryOnlyAndShowsItsEntryPoints) {
  const std::string script = "readelf -d " + BuildFile("lib/liboplens_record.so") +
                             " | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'";
  EXPECT_THAT(Words({"/bin/sh", "-c", script}), ElementsAre("libc.so.6"));
  std::vector<std::string> symbols = Words(
      {"/bin/sh", "-c",
       "nm -D --defined-only -P " + BuildFile("lib/liboplens_record.so") + " | cut -d' ' -f1"});
  std::sort(symbols.begin(), symbols.end());
  EXPECT_THAT(symbols, ElementsAre("InitializeInjection", "InitializeInjectionNvtx2",
                                   "InitializeInjectionNvtxExtension"));
}

TEST(LibraryTest, TakesLittleMemory) {
  const std::filesystem::path database = TestDir() / "net.sql";
  // Two million events of 400 bytes on 16 threads: 900 MB of spool.
  const RunResult run =
      Record({.database = database, .program = {Program("range_program"), "16", "60000", "400"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  constexpr int64_t kMostKilobytes = 64 * 1024;
  EXPECT_THAT(std::stoll(run.out), Lt(kMostKilobytes)) << "resident, kB";
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER"), 2 * 16 * 60'000);
}
#endif

TEST(LibraryTest, ThreadsHaveTheirOwnRanges) {
  const std::filesystem::path database = TestDir() / "net.sql";
  const RunResult run =
      Record({.database = database, .program = {Program("range_program"), "16", "2000", "20"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> outlines = Outlines(database);
  EXPECT_EQ(outlines.size(), 16U);
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 4"),
            16 * 2'000);
}

TEST(LibraryTest, ManyShortThreadsShareFiles) {
  const std::filesystem::path database = TestDir() / "net.sql";
  const RunResult run =
      Record({.database = database, .program = {Program("range_program"), "1", "2", "20", "3000"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 4"),
            3000 * 2);
}

/// A file that a thread takes over from one that ended has chunks of both.
TEST(LibraryTest, ThreadsOfOneFileAreToldApart) {
  const std::filesystem::path database = TestDir() / "net.sql";
  const RunResult run =
      Record({.database = database,
              .program = {Program("range_program"), "1", "2500", "40", "12", "relay"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string threads =
      "SELECT count(*) FROM (SELECT count(*) n FROM CUPTI_ACTIVITY_KIND_MARKER GROUP BY objectId "
      "HAVING n = 5000)";
  EXPECT_EQ(Number(database, threads), 12);
}

/// Ranges that have no room are dropped whole: what is there nests, and the rest is counted.
TEST(LibraryTest, FullDiskCostsRangesAndNothingElse) {
  SKIP_WITH_SANITIZERS();
  const std::filesystem::path database = TestDir() / "net.sql";
  const RunResult run =
      Record({.database = database,
              .program = {Program("range_program"), "1", "50000", "100"},
              .environment = {"OPLENS_TEST_PRELOAD=" + BuildFile("lib/libfull_disk.so"),
                              "FULL_DISK_FROM=23", "FULL_DISK_TO=25"}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const int64_t stored =
      Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 2");
  EXPECT_GT(stored, 1'000);
  EXPECT_LT(stored, 50'000);
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = 4"),
            stored);
  Outlines(database);
  EXPECT_THAT(run.err, HasSubstr(std::to_string(50'000 - stored) + " dropped"));
  EXPECT_THAT(run.err, HasSubstr("No space left on device"));
  const RunResult parse =
      RunProgram({Program("parse"), "-v", database.string(), "-o", "/dev/null"});
  EXPECT_EQ(parse.exit_code, 0);
  EXPECT_THAT(parse.err, HasSubstr(std::to_string(50'000 - stored)));
}

TEST(LibraryTest, DiskThatIsFullFromTheStartIsSaid) {
  SKIP_WITH_SANITIZERS();
  const std::filesystem::path database = TestDir() / "net.sql";
  for (const char* from : {"FULL_DISK_FROM=1", "FULL_DISK_FROM=0"}) {
    const RunResult run =
        Record({.database = database,
                .program = {Program("range_program"), "1", "1000", "100"},
                .environment = {"OPLENS_TEST_PRELOAD=" + BuildFile("lib/libfull_disk.so"), from}});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, ContainsRegex("No space left on device|is the disk full")) << from;
    EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER"), 0);
  }
}

/// The disk takes the spool and not the database, which is larger than any chunk.
TEST(LibraryTest, DatabaseThatDoesNotFitIsMadeLater) {
  const std::filesystem::path database = TestDir() / "net.sql";
  constexpr int64_t kLimit = 2 << 20;
  const RunResult run = RunProgram({Program("record"), "-f", "-o", database.string(), "--",
                                    Program("range_program"), "1", "60000", "20"},
                                   {.max_file_bytes = kLimit});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, MatchesRegex("-?[0-9]+\n")) << "the program runs on";
  EXPECT_THAT(run.err, HasSubstr("record --recover"));
  EXPECT_FALSE(std::filesystem::exists(database));
  const RunResult recovery = RunProgram({Program("record"), "--recover", database.string()});
  EXPECT_EQ(recovery.exit_code, 0) << recovery.err;
  EXPECT_EQ(Number(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER"), 120'000);
}

}  // namespace
}  // namespace oplens::test::library_test
