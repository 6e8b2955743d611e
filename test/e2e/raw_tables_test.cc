// prof --sqlite DB --raw: tables that refer to each other.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::raw_tables_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";
const std::string kServing = SourceDir() + "/examples/data/serving";

class RawTablesTest : public testing::Test {
 protected:
  void Write(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--raw", "--sqlite", path_});
    const RunResult result = RunProf(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  int64_t Number(const std::string& sql) const {
    const SQLite::Database database(path_, SQLite::OPEN_READONLY);
    SQLite::Statement query(database, sql);
    EXPECT_TRUE(query.executeStep()) << sql;
    return query.getColumn(0).getInt64();
  }

  const std::string path_ = TestDir() / "run.db";
};

TEST_F(RawTablesTest, KernelsReferToTheirCalls) {
  Write({kDemo});
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels"), 131);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels k JOIN api_calls a ON a.id = k.api_call "
                   "WHERE a.correlation = k.corr AND a.thread = k.thread"),
            130)
      << "one has no launch";
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels WHERE end_ns - start = sil"), 131);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels k JOIN threads t ON t.id = k.thread "
                   "JOIN processes p ON p.run = t.run AND p.pid = t.pid WHERE t.tid = k.tid"),
            130);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM ranges WHERE end_ns IS NULL"), 1);
  EXPECT_EQ(Number("SELECT SUM(bytes) FROM copies"), 16384);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM devices WHERE device = 0"), 1);
}

TEST_F(RawTablesTest, GapsAreTheIdleTimeOfTheViews) {
  Write({kDemo});
  const RunResult view = RunProf({"--view", "temporal", "--csv", "-c", "idle_ns", kDemo});
  EXPECT_EQ(view.out, "\"Idle(ns)\"\n\"" +
                          std::to_string(Number("SELECT SUM(end_ns - start_ns) FROM gpu_gaps")) +
                          "\"\n");
}

TEST_F(RawTablesTest, IdsAreUniqueOverAllInputs) {
  Write({kServing});
  EXPECT_EQ(Number("SELECT COUNT(*) FROM runs"), 2);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels k JOIN api_calls a ON a.id = k.api_call "
                   "JOIN threads t ON t.id = a.thread WHERE a.run = k.run AND t.run = k.run"),
            Number("SELECT COUNT(*) FROM kernels"));
  EXPECT_GT(Number("SELECT COUNT(*) FROM kernels WHERE run = 2"), 0);
  EXPECT_EQ(Number("SELECT COUNT(*) FROM ranges r JOIN threads t ON t.id = r.thread "
                   "WHERE t.run <> r.run"),
            0);
  EXPECT_EQ(Number("SELECT COUNT(DISTINCT rank) FROM runs"), 2);
}

TEST_F(RawTablesTest, ConditionsChooseKernelsOnly) {
  Write({"--where", "op=mm", kDemo});
  EXPECT_EQ(Number("SELECT COUNT(*) FROM kernels"), 6);
  EXPECT_EQ(Number("SELECT COUNT(DISTINCT api_call) FROM kernels"), 6);
  EXPECT_GT(Number("SELECT COUNT(*) FROM api_calls"), 130);
}

TEST_F(RawTablesTest, RefusesWhatHasNoSuchTables) {
  const auto refused = [&](std::vector<std::string> arguments, int code, const char* says) {
    const RunResult result = RunProf(arguments);
    EXPECT_EQ(result.exit_code, code) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_FALSE(fs::exists(path_));
  };
  refused({"--raw", kDemo}, 2, "--raw needs --sqlite DB");
  refused({"--raw", "--csv", kDemo}, 2, "--raw needs --sqlite DB");
  refused({"--raw", "--sqlite", path_, "-c", "op", kDemo}, 2, "-c is about one table");
  refused({"--raw", "--sqlite", path_, "--by", "op", kDemo}, 2, "--by is about one table");
  refused({"--raw", "--sqlite", path_, "--view", "idle", kDemo}, 2, "--raw needs kernels");
  const fs::path records = TestDir() / "demo.dict";
  ASSERT_EQ(RunParse({"-o", records.string(), kDemo}).exit_code, 0);
  refused({"--raw", "--sqlite", path_, records.string()}, 1, "holds records");
}

}  // namespace
}  // namespace oplens::test::raw_tables_test
