// Faults that are planted in runs of several ranks are found: see also stragglers_test.cc.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "test/ranks/made_ranks.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::test::planted_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr uint64_t kSeeds = 100;

TEST(PlantedTest, ARankThatLacksItsLastCollectivesIsNamed) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plant plant;
    plant.seed = seed;
    plant.steps = 20;
    plant.cut_rank = static_cast<int>(seed % 4);
    plant.cut_calls = 10;
    const MadeRanks ranks(plant);
    const std::string cut = std::to_string(plant.cut_rank);
    std::map<std::string, int> incomplete;  // Calls that not all ranks of the group have.
    for (const ViewRow& row : ranks.Rows("collectives")) {
      EXPECT_EQ(row.at("group_size"), "4") << seed;
      if (row.at("matched_ranks") == "4") continue;
      EXPECT_EQ(row.at("matched_ranks"), "3") << seed;
      ++incomplete[row.at("rank")];
    }
    EXPECT_EQ(incomplete.size(), 3u) << seed;
    EXPECT_EQ(incomplete.count(cut), 0u) << seed;
    for (const auto& [rank, count] : incomplete) EXPECT_EQ(count, 10) << seed;
    EXPECT_THAT(ranks.Find("ranks")->Notes(),
                Contains(HasSubstr(fmt::format("rank {} misses 10 calls", cut))))
        << seed;
  }
}

TEST(PlantedTest, AClockThatIsOffAndDriftsIsSetRight) {
  constexpr int64_t kAheadNs = 3'000'000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plant plant;
    plant.seed = seed;
    plant.clock_rank = 1 + static_cast<int>(seed % 3);
    plant.clock_ahead_ns = kAheadNs;
    plant.clock_ppm = 50;
    plant.slow_rank = static_cast<int>(seed % 4);
    plant.slow_op = "linear";
    plant.slow_times = 1.5;
    const MadeRanks ranks(plant);
    for (const ViewRow& row : ranks.Rows("collectives")) {
      const int64_t expected_ns = row.at("rank") == std::to_string(plant.clock_rank) ? kAheadNs : 0;
      EXPECT_NEAR(std::stod(row.at("clock_ns")), static_cast<double>(expected_ns), 10'000) << seed;
      EXPECT_LT(std::abs(std::stoll(row.at("residual_ns"))), 3'000) << seed;
      EXPECT_EQ(row.at("last_rank"), std::to_string(plant.slow_rank)) << seed;
    }
  }
}

TEST(PlantedTest, AGroupOfSomeRanksIsListedWithItsMembers) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plant plant;
    plant.seed = seed;
    plant.ranks = 8;
    plant.steps = 4;
    plant.group = {static_cast<int>(seed % 3), 3, 4 + static_cast<int>(seed % 4)};
    const MadeRanks ranks(plant);
    const std::string members = fmt::format("[{}]", fmt::join(plant.group, ", "));
    std::map<std::string, int> calls;
    for (const ViewRow& row : ranks.Rows("collectives")) {
      EXPECT_EQ(row.at("match"), "order") << seed;
      if (row.at("group") != "1") continue;
      EXPECT_EQ(row.at("ranks"), members) << seed;
      EXPECT_EQ(row.at("matched_ranks"), "3") << seed;
      ++calls[row.at("rank")];
    }
    EXPECT_EQ(calls.size(), 3u) << seed;
    for (const int rank : plant.group) EXPECT_EQ(calls[std::to_string(rank)], 4) << seed;
    EXPECT_THAT(ranks.Find("ranks")->Notes(), Not(Contains(HasSubstr("lacks")))) << seed;
  }
}

TEST(PlantedTest, MetadataGoBeforeSwappedNamesOfFiles) {
  std::vector<std::string> paths;
  for (int file = 0; file < 4; ++file) {
    const int rank = 3 - file;
    KinetoBuilder builder;
    builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 4}})", rank));
    for (int kernel = 0; kernel <= rank; ++kernel) {
      builder.AddKernel({.name = "gemm", .start_ns = kernel * 5'000, .duration_ns = 1'000});
    }
    const auto path = TestDir() / fmt::format("rank{}.json", file);
    builder.Write(path);
    paths.push_back(path.string());
  }
  const auto rows = RowsOf(*PartialOf(ViewNamed("ranks"), paths));
  ASSERT_EQ(rows.size(), 4u);
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    EXPECT_EQ(rows[rank].at("rank"), std::to_string(rank));
    EXPECT_EQ(rows[rank].at("kernels"), std::to_string(rank + 1));
  }
}

}  // namespace
}  // namespace oplens::test::planted_test
