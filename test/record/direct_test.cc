// The calls that emitters make instead of NVTX's, if the tool is `record`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "nvtx_annotate/vocabulary/direct_calls.h"
#include "test/record/recording_fixture.h"
#include "test/support/test_files.h"

namespace oplens::test::direct_test {
namespace {

using ::testing::ElementsAre;

std::filesystem::path Database() { return TestDir() / "net.sql"; }

RunResult Recorded(std::vector<std::string> command, const std::vector<std::string>& options = {}) {
  command.insert(command.begin(), BuildFile("bin/direct_program"));
  return Record({.database = Database(), .program = command, .options = options});
}

/// Begins (flags 2) or ends (4) of the ranges of a name.
int64_t Markers(int flags, const std::string& name) {
  return Number(Database(), "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = " +
                                std::to_string(flags) +
                                " AND id IN (SELECT id FROM CUPTI_ACTIVITY_KIND_MARKER m JOIN "
                                "StringTable s ON s._id_ = m.name WHERE value = '" +
                                name + "')");
}

int64_t Meta(const std::string& key) {
  return Number(Database(), "SELECT value FROM OPLENS_META WHERE key = '" + key + "'");
}

TEST(DirectCallsTest, AreTakenUnderRecord) {
  const RunResult run = Recorded({"taken"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "direct\n");
}

TEST(DirectCallsTest, AreNotThereWithOtherTools) {
  const std::string program = BuildFile("bin/direct_program");
  EXPECT_EQ(RunProgram({program, "taken"}).out, "nvtx\n");
  for (const char* const mode : {"payload", "text", "foreign"}) {
    const RunResult run = RunProgram(
        {"/usr/bin/env", "NVTX_INJECTION64_PATH=" + BuildFile("lib/liboplens_test_recorder.so"),
         std::string("OPLENS_TEST_RECORDER=") + mode, program, "taken"});
    EXPECT_EQ(run.out, "nvtx\n") << mode;
  }
}

/// Only the name of this version, with one entry that has a description, is answered. Its schema is
/// none. An emitter of another version, which has other room, is told as any tool would: it goes
/// through NVTX, as this one does with a recorder of another version (AreNotThereWithOtherTools).
TEST(DirectCallsTest, AreGivenToThoseWhoAskRightly) {
  EXPECT_EQ(Recorded({"asked", markers::kDirectSchemaName}).out, "schemas 0000 calls 01\n");
  for (const char* const other : {"oplens.direct.v1", "oplens.direct.v2", "oplens.direct.v4"})
    EXPECT_EQ(Recorded({"asked", other}).out, "schemas 1111 calls 00\n") << other;
}

TEST(DirectCallsTest, AreLeftOutWhereTheRecordHasRoom) {
  // Two records of 40 bytes each in a chunk of 64 kB; the first begin makes it.
  const RunResult run = Recorded({"threads", "1", "1000"});
  EXPECT_EQ(run.out, "1999\n") << run.err;
  EXPECT_EQ(Markers(2, "of a thread"), 1000);
  EXPECT_EQ(Recorded({"threads", "1", "1000"}, {"--profile-from-start", "off"}).out, "0\n");
}

TEST(DirectCallsTest, ThreadsWriteIntoStreamsOfTheirOwn) {
  const RunResult run = Recorded({"threads", "8", "50000"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // A begin in each of the few chunks is a call.
  EXPECT_GT(std::stol(run.out), 8 * 99'990) << run.out;
  EXPECT_EQ(Markers(2, "of a thread"), 8 * 50'000);
  EXPECT_EQ(Outlines(Database()).size(), 8U);
}

/// Ranges that have no room are dropped whole; those after them are written again.
TEST(DirectCallsTest, FullDiskCostsRangesAndNothingElse) {
#ifdef OPLENS_SANITIZED
  GTEST_SKIP() << "their library must be the first that is loaded";
#endif
  const RunResult run =
      Record({.database = Database(),
              .program = {"/usr/bin/env", "LD_PRELOAD=" + BuildFile("lib/libfull_disk.so"),
                          BuildFile("bin/direct_program"), "threads", "1", "200000"},
              .environment = {"FULL_DISK_FROM=23", "FULL_DISK_TO=25"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int64_t stored = Markers(2, "of a thread");
  EXPECT_GT(stored, 1'000);
  EXPECT_LT(stored, 200'000);
  EXPECT_EQ(Markers(4, "of a thread"), stored);
  EXPECT_THAT(run.err, ::testing::HasSubstr(std::to_string(200'000 - stored) + " dropped"));
}

TEST(DirectCallsTest, MixWithThoseOfNvtx) {
  const RunResult run = Recorded({"mixed"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> outlines = Outlines(Database());
  ASSERT_EQ(outlines.size(), 1U);
  EXPECT_THAT(outlines[0], ::testing::StartsWith("direct\n  nvtx\n  direct\n"));
  EXPECT_THAT(outlines[0], ::testing::HasSubstr("'op': 'mm'"));
  EXPECT_THAT(outlines[0], ::testing::EndsWith("    inside\n      direct\n"));
  EXPECT_EQ(Meta("open_ranges"), 0);
}

TEST(DirectCallsTest, CountRangesThatAreTooDeep) {
  ASSERT_EQ(Recorded({"deep"}).exit_code, 0);
  EXPECT_EQ(Markers(2, "deep"), 2 * 4096);
  EXPECT_EQ(Markers(4, "deep"), 2 * 4096);
  EXPECT_EQ(Meta("open_ranges"), 0);
  EXPECT_EQ(Meta("unmatched_ends"), 0);
}

TEST(DirectCallsTest, APayloadThatIsNotWrittenHasNoRange) {
  EXPECT_EQ(Recorded({"refused"}).out, "0\n");
  EXPECT_THAT(Outlines(Database()), ElementsAre("direct\n  direct\n"));
}

TEST(DirectCallsTest, HandlersCostTheirOwnEventsOnly) {
  const RunResult run = Recorded({"handler", "300000"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_GT(std::stol(run.out), 10);
  EXPECT_EQ(Markers(2, "main"), 300'000);
  EXPECT_EQ(Markers(4, "main"), 300'000);
  EXPECT_EQ(Markers(4, "handler"), Markers(2, "handler"));
  EXPECT_EQ(Meta("open_ranges"), 0);
  EXPECT_EQ(Meta("unmatched_ends"), 0);
}

/// A child is recorded in a file of its own, or not at all; the parent's ranges are its own.
TEST(DirectCallsTest, OfAChildAreNotTheParents) {
  ASSERT_EQ(Recorded({"fork"}).exit_code, 0);
  EXPECT_THAT(Outlines(Database()), ElementsAre("both\n  both\n"));
}

TEST(DirectCallsTest, OutsideTheWindowHaveNoRows) {
  ASSERT_EQ(Recorded({"mixed"}, {"--profile-from-start", "off"}).exit_code, 0);
  EXPECT_EQ(Number(Database(), "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER"), 0);
}

}  // namespace
}  // namespace oplens::test::direct_test
