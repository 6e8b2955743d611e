// Programs that call NVTX where the recorder is in the middle of something: in signal handlers, and
// in children that come to life without the handlers of fork.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/record/record_run.h"
#include "test/support/test_files.h"

namespace oplens::test::reentry_test {
namespace {

using testing::HasSubstr;

/// Rows of markers, of a name or all.
int64_t Markers(int flags, const std::string& name) {
  SQLite::Database file((TestDir() / "net.sql").string());
  return file
      .execAndGet(fmt::format(
          "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MARKER WHERE flags = {} AND id IN (SELECT id "
          "FROM "
          "CUPTI_ACTIVITY_KIND_MARKER m JOIN StringTable s ON s._id_ = m.name WHERE value = '{}')",
          flags, name))
      .getInt64();
}

int64_t Meta(const std::string& key) {
  SQLite::Database file((TestDir() / "net.sql").string());
  return file.execAndGet("SELECT value FROM OPLENS_META WHERE key = '" + key + "'").getInt64();
}

constexpr int kInstant = 1;
constexpr int kStart = 2;
constexpr int kEnd = 4;

TEST(Reentry, HandlersCostTheirOwnEventsOnly) {
  constexpr int64_t kRanges = 300'000;
  const RunResult run = Record({"handler", std::to_string(kRanges)});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int64_t handled = std::stoll(run.out);
  ASSERT_GT(handled, 100);
  EXPECT_EQ(Markers(kStart, "main"), kRanges);
  EXPECT_EQ(Markers(kEnd, "main"), kRanges);
  EXPECT_EQ(Markers(kEnd, "handler"), Markers(kStart, "handler"));
  EXPECT_EQ(Meta("open_ranges"), 0);
  EXPECT_EQ(Meta("unmatched_ends"), 0);
  const int64_t dropped = Meta("handler_events");
  EXPECT_GT(dropped, 0) << "some interrupt a call";
  EXPECT_EQ(Markers(kStart, "handler") + Markers(kInstant, "handler") + dropped, 2 * handled);
  EXPECT_THAT(run.err, HasSubstr(fmt::format(", {} dropped records\n", dropped)));
  EXPECT_THAT(run.err, HasSubstr(fmt::format("{} NVTX calls of signal handlers", dropped)));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("could be read")));
}

TEST(Reentry, RangesOfHandlersBelongToTheThreadsStack) {
  const RunResult run = Record({"half-handler", "300000"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GT(Meta("handler_events"), 0);
  EXPECT_EQ(Markers(kStart, "main"), 300'000);
  EXPECT_EQ(Meta("open_ranges"), 0);
  EXPECT_EQ(Meta("unmatched_ends"), 0);
}

class UnknownChild : public testing::TestWithParam<const char*> {};

TEST_P(UnknownChild, CostsItsOwnEventsOnly) {
  const RunResult run = Record({GetParam(), "20000"});
  if (run.exit_code == 77) GTEST_SKIP() << "the C library lacks it";
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Markers(kStart, "main"), 20'001);
  EXPECT_EQ(Markers(kEnd, "main"), 20'001);
  EXPECT_EQ(Markers(kStart, "child"), 0);
  EXPECT_EQ(Meta("child_events"), 20'000);
  EXPECT_EQ(Meta("ended"), 0) << "the end of the child is not the program's";
  EXPECT_THAT(run.err,
              HasSubstr("20000 NVTX calls of child processes that were made without fork"));
  EXPECT_THAT(run.err, testing::Not(HasSubstr("could be read")));
}

INSTANTIATE_TEST_SUITE_P(Made, UnknownChild, testing::Values("_Fork", "clone"),
                         [](const auto& test) {
                           return std::string(test.param[0] == '_' ? "ByBareFork" : "ByClone");
                         });

}  // namespace
}  // namespace oplens::test::reentry_test
