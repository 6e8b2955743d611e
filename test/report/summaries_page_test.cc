// The page of ranks by their summaries: the tables that these hold, with the rows of prof.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/report/checked_page.h"
#include "test/report/read_page.h"
#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::summaries_page_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// Three ranks, of which the last computes twice as long, and their summaries.
class SummariesPageTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(traces_);
    fs::create_directories(summaries_);
    for (int rank = 0; rank < 3; ++rank) {
      KinetoBuilder builder;
      builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 3}})", rank));
      for (int64_t step = 0; step < 3; ++step) {
        const int64_t start = step * 1'000'000;
        builder.AddHost("user_annotation", fmt::format("ProfilerStep#{}", step), start, 900'000);
        builder.Launch({.name = "gemm", .duration_ns = rank == 2 ? 80'000 : 40'000}, start + 2000);
        builder.Launch({.name = "ncclDevKernel_AllReduce_Sum_f32", .duration_ns = 500, .stream = 9},
                       start + 500'000);
      }
      builder.Write(traces_ / fmt::format("rank{}.json", rank));
    }
    const RunResult made = RunProgram(
        {Program("prof"), "--summary", "--summary-dir", summaries_.string(), traces_.string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  static std::vector<json> ProfRows(const std::string& view, const std::string& input) {
    const RunResult result = RunProgram({Program("prof"), "--json", "--view", view, input});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<json> rows;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      rows.push_back(json::parse(line));
      rows.back().erase("schema");
      rows.back().erase("view");
    }
    return rows;
  }

  fs::path traces_ = TestDir() / "traces";
  fs::path summaries_ = TestDir() / "summaries";
};

TEST_F(SummariesPageTest, HasTheTablesThatSummariesHold) {
  const ReadPage page = PageOf({summaries_.string()});
  std::vector<std::string> names;
  for (const json& view : page.summary().at("views")) {
    names.push_back(view.at("name"));
    if (view.at("rows") == 0) continue;
    SCOPED_TRACE(names.back());
    std::vector<json> expected = ProfRows(names.back(), traces_.string());
    for (json& row : expected) row = AsOnPages(std::move(row));
    EXPECT_EQ(page.Rows(view.at("fields"), view.at("table")), expected);
  }
  EXPECT_THAT(names,
              testing::IsSupersetOf({"overview", "operators", "distributed", "collectives"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("kernels")));
  EXPECT_TRUE(page.summary().at("timeline").at("lanes").empty());
}

TEST_F(SummariesPageTest, ABrokenSummaryIsLeftOut) {
  std::ofstream(summaries_ / "rank1.json.oplens", std::ios::trunc).close();
  const std::string output = (TestDir() / "page.html").string();
  const RunResult result = RunProgram({Program("report"), "-o", output, summaries_.string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("rank1.json.oplens"));
  EXPECT_TRUE(fs::exists(output));
}

TEST_F(SummariesPageTest, OptionsThatNeedTracesAreRefused) {
  const std::string output = (TestDir() / "page.html").string();
  const RunResult result =
      RunProgram({Program("report"), "--step-range", "1-2", "-o", output, summaries_.string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("need the traces"));
  EXPECT_FALSE(fs::exists(output));
}

TEST_F(SummariesPageTest, ASummaryIsNotOverwritten) {
  const std::string summary = (summaries_ / "rank0.json.oplens").string();
  const RunResult result = RunProgram({Program("report"), "-o", summary, summaries_.string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_GT(fs::file_size(summary), 0u);
}

}  // namespace
}  // namespace oplens::test::summaries_page_test
