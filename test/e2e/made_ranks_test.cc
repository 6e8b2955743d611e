// What bench/ranks/make_ranks.py makes: ranks whose collectives match, and what is planted in them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::made_ranks_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kScript = SourceDir() + "/bench/ranks/make_ranks.py";

/// The folder `name` of the running test, with what the script makes there.
fs::path MakeRanks(const std::string& name, const std::vector<std::string>& options) {
  const fs::path folder = TestDir() / name;
  std::vector<std::string> command = {"/usr/bin/env", "python3", "-B", kScript, folder.string()};
  command.insert(command.end(), options.begin(), options.end());
  const RunResult made = RunProgram(command);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return folder;
}

/// Rows of a view over a folder.
std::vector<json> RowsOver(const fs::path& folder, std::vector<std::string> options) {
  options.insert(options.end(), {"--json", folder.string()});
  const RunResult result = RunProf(options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<json> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

struct Count {
  int64_t calls = 0;
  int64_t matched = 0;
  auto operator<=>(const Count&) const = default;
};

/// By "kind ranks".
std::map<std::string, Count> CollectivesOver(const fs::path& folder) {
  std::map<std::string, Count> counts;
  for (const json& row : RowsOver(folder, {"--view", "collectives", "--by", "kind,group"})) {
    Count& count = counts[row["kind"].get<std::string>() + " " + row["ranks"].get<std::string>()];
    count = {row["calls"].get<int64_t>(), row["matched_calls"].get<int64_t>()};
  }
  return counts;
}

TEST(MadeRanksTest, SameOptionsMakeTheSameBytes) {
  const std::vector<std::string> options = {"--layout", "1x2x2",    "--steps",
                                            "2",        "--clocks", "900,20"};
  const fs::path a = MakeRanks("a", options);
  const fs::path b = MakeRanks("b", options);
  for (const char* name : {"rank0.json", "rank1.json", "rank2.json", "rank3.json"}) {
    EXPECT_EQ(ReadFile(a / name), ReadFile(b / name)) << name;
  }
  const fs::path c = MakeRanks("c", {"--layout", "1x2x2", "--steps", "2", "--clocks", "900,20",
                                     "--seed", "2", "--only", "1-1"});
  EXPECT_FALSE(fs::exists(c / "rank0.json"));
  EXPECT_NE(ReadFile(a / "rank1.json"), ReadFile(c / "rank1.json"));
}

TEST(MadeRanksTest, EveryCollectiveIsMatched) {
  const std::vector<std::string> plain = {"--layout", "2x2x2",   "--steps",
                                          "2",        "--group", "experts=1,4,6"};
  std::vector<std::string> unnumbered = plain;
  unnumbered.insert(unnumbered.end(), {"--no-sequence", "--clocks", "3000,50"});
  for (const auto& options : {plain, unnumbered}) {
    const auto counts = CollectivesOver(MakeRanks("all", options));
    EXPECT_EQ(counts.size(), 30);  // Of sends and receives, each direction of a pair by itself.
    for (const auto& [name, count] : counts) EXPECT_EQ(count.calls, count.matched) << name;
    EXPECT_EQ(counts.at("all_reduce [1, 4, 6]"), (Count{6, 6}));
    EXPECT_EQ(counts.at("all_reduce [0, 1, 2, 3, 4, 5, 6, 7]"), (Count{16, 16}));
  }
}

TEST(MadeRanksTest, PlantedFaultsAreThere) {
  const fs::path folder =
      MakeRanks("faults", {"--steps", "2", "--missing", "5", "--without-last", "2,3", "--swap",
                           "0,1", "--straggler", "3,aten::mm,50,1"});
  EXPECT_FALSE(fs::exists(folder / "rank5.json"));
  const json swapped = json::parse(ReadFile(folder / "rank0.json"));
  EXPECT_EQ(swapped["distributedInfo"]["rank"], 1);
  const auto counts = CollectivesOver(folder);
  // The last three of rank 2 are all_gathers of its group, which the other ranks have.
  EXPECT_EQ(counts.at("all_gather [0, 2, 4, 6]"), (Count{29, 29}));
  EXPECT_EQ(counts.at("all_reduce [4, 5]").matched, 0);
  EXPECT_EQ(counts.at("all_reduce [6, 7]").matched, counts.at("all_reduce [6, 7]").calls);
  std::map<std::string, int64_t> products_ns;
  for (const json& row : RowsOver(folder, {"--view", "operators", "--by", "rank,step"})) {
    if (row["op"] != "aten::mm") continue;
    products_ns[row["rank"].get<std::string>() + " " + std::to_string(row["step"].get<int64_t>())] =
        row["device_self_ns"].get<int64_t>();
  }
  EXPECT_NEAR(static_cast<double>(products_ns.at("3 0")),
              static_cast<double>(products_ns.at("4 0")), 0.02 * 1e7);
  EXPECT_GT(products_ns.at("3 1") * 10, products_ns.at("4 1") * 14);
}

// Tensor groups of two in a pipeline of four stages: one rank is slow, seven only wait.
TEST(MadeRanksTest, WhoWaitsThroughGroupsAndStagesIsListedWithTheCulprit) {
  for (const int slow : {1, 5}) {
    const fs::path folder = MakeRanks(fmt::format("deep{}", slow),
                                      {"--steps", "12", "--layers", "1", "--layout", "1x2x4",
                                       "--straggler", fmt::format("{},aten::mm,60,0", slow)});
    const std::string culprit = fmt::format("rank {}", slow);
    const auto culprits = RowsOver(folder, {"--view", "culprits"});
    ASSERT_EQ(culprits.size(), 1u);
    EXPECT_EQ(culprits[0]["who"], culprit);
    EXPECT_EQ(culprits[0]["waiters"], 7);
    const auto rows = RowsOver(folder, {"--view", "stragglers"});
    ASSERT_EQ(rows.size(), 8u);
    for (const json& row : rows) {
      const bool own = row["rank"] == std::to_string(slow);
      EXPECT_EQ(row["verdict"], own ? "slow op" : "follows") << row["rank"];
      EXPECT_EQ(row["waits_for"], own ? json() : json(culprit)) << row["rank"];
    }
  }
}

// Clocks are off by more than what the link costs. A pair of a pipeline has groups of its own.
TEST(MadeRanksTest, TheLinkOfASlowPairIsNamed) {
  const std::vector<std::string> experts = {"--layout", "4x1x1",     "--experts", "--layers",
                                            "1",        "--batches", "1",         "--clocks",
                                            "5000,20",  "--steps"};
  const auto with = [&](std::vector<std::string> options, const std::vector<std::string>& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  };
  const std::map<std::string, std::vector<std::string>> runs = {
      {"since", with(experts, {"12", "--slow-pair", "1,3,4,4"})},
      {"always", with(experts, {"12", "--slow-pair", "1,3,4,0"})},
      {"few", with(experts, {"3", "--slow-pair", "1,3,4,0"})},
      {"sends", {"--layout", "2x1x2", "--steps", "12", "--slow-pair", "1,3,6,4"}}};
  for (const auto& [name, options] : runs) {
    const auto culprits = RowsOver(MakeRanks(name, options), {"--view", "culprits"});
    ASSERT_EQ(culprits.size(), 1u) << name;
    EXPECT_EQ(culprits[0]["who"], "link of ranks 1 and 3") << name;
    EXPECT_EQ(culprits[0]["cause"], "network") << name;
  }
  EXPECT_TRUE(RowsOver(MakeRanks("clean", with(experts, {"12"})), {"--view", "culprits"}).empty());
}

TEST(MadeRanksTest, CopiesOfARecordedTrace) {
  const fs::path source = fs::path(SourceDir()) / "examples/data/serving/rank0.json";
  const fs::path folder =
      MakeRanks("copies", {"--from", source.string(), "--ranks", "3", "--clock", "2,1500,0"});
  const json first = json::parse(ReadFile(folder / "rank0.json"));
  const json last = json::parse(ReadFile(folder / "rank2.json"));
  EXPECT_EQ(last["distributedInfo"]["rank"], 2);
  EXPECT_EQ(last["distributedInfo"]["world_size"], 3);
  ASSERT_EQ(first["traceEvents"].size(), last["traceEvents"].size());
  EXPECT_EQ(last["traceEvents"][0]["ts"].get<double>(),
            first["traceEvents"][0]["ts"].get<double>() + 1500);
}

TEST(MadeRanksTest, SaysWhatIsWrong) {
  const RunResult result = RunProgram(
      {"/usr/bin/env", "python3", "-B", kScript, (TestDir() / "x").string(), "--layout", "2x0x1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err,
            "make_ranks.py: --layout 2x0x1: give replicas, shards and stages as 4x2x1\n");
}

}  // namespace
}  // namespace oplens::test::made_ranks_test
