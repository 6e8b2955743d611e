// prof --by, --range and --step on profiles of every family.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::summary_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<nlohmann::json> Rows(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<nlohmann::json> rows;
  size_t begin = 0;
  for (size_t end; (end = result.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rows.push_back(nlohmann::json::parse(result.out.substr(begin, end - begin)));
  }
  return rows;
}

int64_t SumOf(const std::vector<nlohmann::json>& rows, const char* key) {
  int64_t sum = 0;
  for (const auto& row : rows) sum += row.at(key).is_null() ? 0 : row.at(key).get<int64_t>();
  return sum;
}

class SummaryEndToEnd : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, dir_ / "net.sql");
    WriteNsysRun(run, dir_ / "net.sqlite");
    WriteKinetoRun(run, dir_ / "net.json");
  }
  std::string Path(const char* name) const { return (dir_ / name).string(); }
  fs::path dir_ = TestDir();
};

TEST_F(SummaryEndToEnd, GroupsSumToTheKernels) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json"}) {
    const auto kernels = Rows({"-c", "all", Path(name)});
    for (const char* by : {"op", "dir,op", "kernel,stream", "layer", "rank,device", "mod,range"}) {
      const auto groups = Rows({"--by", by, Path(name)});
      EXPECT_EQ(SumOf(groups, "count"), static_cast<int64_t>(kernels.size())) << name << by;
      EXPECT_EQ(SumOf(groups, "total"), SumOf(kernels, "sil")) << name << by;
      EXPECT_EQ(SumOf(groups, "flops"), SumOf(kernels, "flops")) << name << by;
      EXPECT_EQ(SumOf(groups, "bytes"), SumOf(kernels, "bytes")) << name << by;
      double share = 0;
      for (const auto& group : groups) share += group.at("share").get<double>();
      EXPECT_NEAR(share, 100, 1e-9) << name << by;
    }
  }
}

TEST_F(SummaryEndToEnd, EveryFormatHoldsTheSame) {
  const std::string profile = Path("net.json");
  const auto rows = Rows({"--by", "op", "--top", "2", profile});
  ASSERT_EQ(rows.size(), 3u);
  const RunResult csv = RunProf({"--by", "op", "--top", "2", "--csv", "-c", "op,count", profile});
  std::string expected = "\"Op\",\"Count\"\n";
  for (const auto& row : rows) {
    expected += fmt::format("\"{}\",\"{}\"\n", row["op"].get<std::string>(), row["count"].dump());
  }
  EXPECT_EQ(csv.out, expected);
  EXPECT_EQ(LineCount(RunProf({"--by", "op", "-w", "130", profile}).out),
            static_cast<int64_t>(Rows({"--by", "op", profile}).size()) + 1);

  const fs::path path = dir_ / "out.db";
  ASSERT_EQ(RunProf({"--by", "op", "--sqlite", path.string(), profile}).exit_code, 0);
  const SQLite::Database database(path.string());
  SQLite::Statement query(database, "SELECT op, total FROM summary ORDER BY rowid");
  for (const auto& row : Rows({"--by", "op", profile})) {
    ASSERT_TRUE(query.executeStep());
    EXPECT_EQ(query.getColumn(0).getString(), row["op"].is_null() ? "" : row["op"]);
    EXPECT_EQ(query.getColumn(1).getInt64(), row["total"].get<int64_t>());
  }
}

TEST_F(SummaryEndToEnd, RecordsGiveTheSameGroups) {
  ASSERT_EQ(RunParse({Path("net.json"), "-o", Path("net.dict")}).exit_code, 0);
  EXPECT_EQ(RunProf({"--by", "op,step", "--csv", Path("net.json")}).out,
            RunProf({"--by", "op,step", "--csv", Path("net.dict")}).out);
}

// The range of the loop's thread holds the nodes that the engine's thread runs meanwhile, a layer
// those of its ops, whoever recorded them.
TEST_F(SummaryEndToEnd, ARangeHasItsBackwardPass) {
  for (const char* name : {"net.sql", "net.sqlite", "net.json"}) {
    ASSERT_EQ(RunParse({Path(name), "-o", Path("net.dict")}).exit_code, 0);
    for (const std::string& input : {Path(name), Path("net.dict")}) {
      EXPECT_EQ(Rows({"--range", "iteration 7", input}).size(), Rows({input}).size()) << input;
      int64_t backward = 0;
      for (const auto& row : Rows({"--range", "^Linear_0$", "-c", "dir", input})) {
        if (row["dir"] == "bprop") ++backward;
      }
      EXPECT_EQ(backward, 3) << input << ": relu and both gradients of linear";
    }
  }
}

/// Three steps of PyTorch's profiler: a kernel of the loop's thread and one of the backward
/// thread in each, and a label with another number.
std::string SteppedProfile() {
  KinetoBuilder builder;
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t start = step * 1'000'000;
    builder.AddHost("user_annotation", fmt::format("ProfilerStep#{}", step + 7), start, 900'000);
    builder.AddHost("user_annotation", fmt::format("batch {}", step / 2), start + 10, 400'000);
    builder.Launch({.name = "forward", .duration_ns = 100 + step}, start + 1000);
    builder.Launch({.name = "backward", .duration_ns = 50}, start + 500'000, 77);
  }
  builder.Launch({.name = "after", .duration_ns = 1}, 5'000'000);
  const std::string path = (TestDir() / "steps.json").string();
  builder.Write(path);
  return path;
}

TEST(SummaryStepsTest, StepsOfTheProfilerHoldTheBackwardPass) {
  const std::string profile = SteppedProfile();
  const auto steps = Rows({"--by", "step", "--sort", "step", profile});
  ASSERT_EQ(steps.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(steps[i]["step"], i + 7);
    EXPECT_EQ(steps[i]["count"], 2);
    EXPECT_EQ(steps[i]["total"], 150 + i);
  }
  EXPECT_TRUE(steps[3]["step"].is_null());
  for (const auto& row : Rows({"--by", "kernel", profile})) {
    const std::string name = row["kernel"];
    EXPECT_EQ(row["perstep"], name == "forward" ? 101.0 : name == "backward" ? 50.0 : 0.0);
  }
}

TEST(SummaryStepsTest, APatternNamesOtherSteps) {
  const auto rows = Rows({"--by", "step,kernel", "--step", "batch (\\d+)", SteppedProfile()});
  std::map<std::string, int64_t> totals;
  for (const auto& row : rows) {
    totals[row["step"].dump() + row["kernel"].get<std::string>()] = row["total"];
  }
  EXPECT_EQ(totals["0forward"], 201);
  EXPECT_EQ(totals["1forward"], 102);
}

TEST(SummaryStepsTest, ARangeKeepsWhatIsInside) {
  const std::string profile = SteppedProfile();
  const auto rows = Rows({"-c", "kernel,range", "--range", "batch 0", profile});
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) EXPECT_EQ(row["kernel"], "forward");
  EXPECT_EQ(Rows({"--by", "kernel", "--range", "Step#8$", profile}).size(), 2u) << "all threads";
  const RunResult none = RunProf({"--csv", "--range", "epoch", profile});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(LineCount(none.out), 1);
  EXPECT_THAT(none.err, HasSubstr("--range: no range and no layer"));
}

/// Kernel totals by name, of SQL over the profile's own tables.
struct SqlCase {
  const char* file;
  const char* sql;  // Stream, count, sum of durations.
};

class SummaryCorpus : public testing::TestWithParam<SqlCase> {};

TEST_P(SummaryCorpus, TotalsAreThoseOfSql) {
  OPLENS_NEED_CORPUS();
  const fs::path file = CorpusFile(GetParam().file);
  const SQLite::Database database(file.string());
  SQLite::Statement query(database, GetParam().sql);
  std::map<int64_t, std::pair<int64_t, int64_t>> expected;
  while (query.executeStep()) {
    expected[query.getColumn(0).getInt64()] = {query.getColumn(1).getInt64(),
                                               query.getColumn(2).getInt64()};
  }
  ASSERT_FALSE(expected.empty());
  std::map<int64_t, std::pair<int64_t, int64_t>> groups;
  for (const auto& row : Rows({"--by", "stream", file.string()})) {
    groups[row["stream"]] = {row["count"], row["total"]};
  }
  EXPECT_EQ(groups, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Files, SummaryCorpus,
    testing::Values(
        SqlCase{"nvprof/lm.sql",
                "SELECT streamId, count(*), sum(end - start) FROM "
                "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL GROUP BY 1"},
        SqlCase{"nsys/mmagic.sqlite",
                "SELECT streamId, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
                "GROUP BY 1"},
        SqlCase{"nsys/fuser2.sqlite",
                "SELECT streamId, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
                "GROUP BY 1"}),
    [](const auto& test) { return fs::path(test.param.file).stem().string(); });

}  // namespace
}  // namespace oplens::test::summary_test
