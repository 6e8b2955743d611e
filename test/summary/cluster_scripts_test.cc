// What the job scripts of examples/cluster do, without a scheduler: their bodies with its
// variables, and a stand-in for srun.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/support/kineto_builder.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::cluster_scripts_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRanks = 8;
constexpr const char* kRankViews[] = {"culprits",  "stragglers",  "ranks",
                                      "imbalance", "distributed", "collectives"};

/// Eight ranks, of which one left an empty file.
class ClusterScriptsTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(traces_);
    for (int rank = 0; rank < kRanks; ++rank) {
      KinetoBuilder builder;
      builder.AddMember("distributedInfo",
                        fmt::format(R"({{"rank": {}, "world_size": {}}})", rank, kRanks));
      builder.AddKernel({.name = "gemm", .start_ns = 5'000, .duration_ns = 1'000});
      builder.Write(traces_ / fmt::format("rank{}.json", rank));
    }
    std::ofstream(traces_ / "rank3.json", std::ios::trunc).close();
  }

  RunResult Run(const std::string& script, const std::vector<std::string>& arguments,
                std::vector<std::string> environment) const {
    std::vector<std::string> command = {"/bin/bash", SourceDir() + "/examples/cluster/" + script};
    command.insert(command.end(), arguments.begin(), arguments.end());
    environment.push_back("PROF=" + Program("prof"));
    return RunProgram(command, {.environment = std::move(environment)});
  }
  RunResult Summarise(int task, int tasks) const {
    return Run("summarise.sbatch", {traces_.string(), summaries_.string()},
               {fmt::format("SLURM_ARRAY_TASK_ID={}", task),
                fmt::format("SLURM_ARRAY_TASK_COUNT={}", tasks)});
  }

  fs::path traces_ = TestDir() / "traces";
  fs::path summaries_ = TestDir() / "summaries";
};

TEST_F(ClusterScriptsTest, AnEmptyFileIsNamedAndTheOthersAreSummarised) {
  const RunResult run = Summarise(0, 1);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("rank3.json"));
  EXPECT_THAT(run.err, Not(HasSubstr("rank2.json")));
  EXPECT_EQ(FilesIn(summaries_).size(), kRanks - 1U);
}

TEST_F(ClusterScriptsTest, EachTaskTakesItsPart) {
  // The empty file is the second of the second task.
  const int exit_codes[] = {0, 3};
  for (int task = 0; task < 2; ++task) EXPECT_EQ(Summarise(task, 2).exit_code, exit_codes[task]);
  EXPECT_EQ(FilesIn(summaries_).size(), kRanks - 1U);
  EXPECT_EQ(Summarise(kRanks, kRanks + 1).exit_code, 0);  // It has none.
}

TEST_F(ClusterScriptsTest, MergedAreAllViewsOfRanks) {
  Summarise(0, 1);
  const fs::path tables = TestDir() / "run.db";
  const RunResult run = Run("merge.sbatch", {summaries_.string(), tables.string()}, {});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string bytes = ReadFile(tables);
  for (const char* const view : kRankViews) {
    EXPECT_NE(bytes.find(fmt::format("CREATE TABLE {} (", view)), bytes.npos) << view;
  }
  const RunResult culprits =
      RunProgram({Program("prof"), "--view", "culprits", "--json", summaries_.string()});
  EXPECT_THAT(culprits.out, HasSubstr(R"("who":"rank 3","cause":"missing")"));
}

TEST_F(ClusterScriptsTest, MpiIsAskedForAllViewsOfRanks) {
  const fs::path bin = TestDir() / "bin";
  fs::create_directories(bin);
  std::ofstream(bin / "srun") << "#!/bin/sh\necho \"$*\"\n";
  fs::permissions(bin / "srun", fs::perms::owner_all);
  const RunResult run = Run("oplens_mpi.sbatch", {traces_.string(), "run.db"},
                            {"PATH=" + bin.string() + ":/usr/bin:/bin"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string words = run.out;
  EXPECT_THAT(words, HasSubstr("--mpi=pmix oplens-mpi --view"));
  for (const char* const view : kRankViews) EXPECT_THAT(words, HasSubstr(view));
  EXPECT_THAT(words, HasSubstr((traces_ / "summaries").string()));
  EXPECT_TRUE(fs::is_directory(traces_ / "summaries"));
}

}  // namespace
}  // namespace oplens::test::cluster_scripts_test
