#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "prof/views/views.h"
#include "test/ranks/made_ranks.h"

namespace oplens::test::stragglers_test {
namespace {

constexpr uint64_t kSeeds = 100;

/// The rows of ranks that are named: of culprits.
std::vector<ViewRow> Named(const std::vector<ViewRow>& rows) {
  std::vector<ViewRow> named;
  for (const ViewRow& row : rows) {
    const std::string& verdict = row.at("verdict");
    if (verdict != "follows" && verdict != "chance" && verdict != "few steps") named.push_back(row);
  }
  return named;
}

TEST(StragglersTest, NobodyIsNamedByChance) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plant plant;
    plant.seed = seed;
    plant.ranks = seed % 2 == 0 ? 4 : 2;
    const auto rows = MadeRanks(plant).Rows("stragglers");
    ASSERT_EQ(rows.size(), static_cast<size_t>(plant.ranks));
    EXPECT_TRUE(Named(rows).empty()) << seed;
    for (const ViewRow& row : rows) {
      EXPECT_EQ(row.at("verdict"), "chance") << seed;
      EXPECT_EQ(row.at("waits_for"), "") << seed;
    }
  }
}

TEST(StragglersTest, ARankThatIsSlowInOneOpIsNamedWithItAndTheStep) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Plant plant;
    plant.seed = 1000 + seed;
    plant.slow_rank = static_cast<int>(seed % 4);
    plant.slow_op = seed % 2 == 0 ? "linear" : "attention";
    plant.slow_from = 40;
    plant.steps = 80;
    const auto named = Named(MadeRanks(plant).Rows("stragglers"));
    ASSERT_EQ(named.size(), 1u) << seed;
    EXPECT_EQ(named[0].at("rank"), std::to_string(plant.slow_rank)) << seed;
    EXPECT_EQ(named[0].at("verdict"), "slow op") << seed;
    EXPECT_EQ(named[0].at("op"), plant.slow_op) << seed;
    EXPECT_EQ(named[0].at("layer"), "") << seed;
    EXPECT_LE(std::abs(std::stoi(named[0].at("since_step")) - 40), 2) << seed;
    EXPECT_NEAR(std::stod(named[0].at("op_excess_pct")), 5, 1.5) << seed;
  }
}

TEST(StragglersTest, ALayerIsNamedWhereOneAloneIsSlow) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Plant plant;
    plant.seed = 2000 + seed;
    plant.slow_rank = 1;
    plant.slow_op = "linear";
    plant.slow_layer = 2;
    plant.slow_times = 1.3;
    const auto named = Named(MadeRanks(plant).Rows("stragglers"));
    ASSERT_EQ(named.size(), 1u) << seed;
    EXPECT_EQ(named[0].at("rank"), "1") << seed;
    EXPECT_EQ(named[0].at("op"), "linear") << seed;
    EXPECT_EQ(named[0].at("layer"), "layer2") << seed;
    EXPECT_EQ(named[0].at("since_step"), "0") << seed;
  }
}

TEST(StragglersTest, OfARankThatIsLateWithoutComputingMoreTheHostIsNamed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Plant plant;
    plant.seed = 3000 + seed;
    plant.slow_rank = 2;
    plant.slow_from = 20;
    plant.late_share = 0.06;
    const auto named = Named(MadeRanks(plant).Rows("stragglers"));
    ASSERT_EQ(named.size(), 1u) << seed;
    EXPECT_EQ(named[0].at("rank"), "2") << seed;
    EXPECT_EQ(named[0].at("verdict"), "host") << seed;
    EXPECT_EQ(named[0].at("op"), "") << seed;
    // Of lateness less is certain than of the times of an op.
    EXPECT_LE(std::abs(std::stoi(named[0].at("since_step")) - 20), 6) << seed;
  }
}

// Rank 2 comes late to all as it waits for rank 1 in their own group; the others wait for both.
TEST(StragglersTest, WhoWaitsForTheSlowOneOnlyFollows) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Plant plant;
    plant.seed = 4000 + seed;
    plant.ranks = 6;
    plant.group = {1, 2};
    plant.slow_rank = 1;
    plant.late_share = 0.15;
    const auto rows = MadeRanks(plant).Rows("stragglers");
    for (const ViewRow& row : rows) {
      const std::string& rank = row.at("rank");
      EXPECT_EQ(row.at("verdict"), rank == "1" ? "host" : "follows") << seed << ' ' << rank;
      EXPECT_EQ(row.at("waits_for"), rank == "1" ? "" : "rank 1") << seed << ' ' << rank;
    }
  }
}

TEST(StragglersTest, OfFewStepsNothingIsTested) {
  Plant plant;
  plant.steps = 5;
  for (const ViewRow& row : MadeRanks(plant).Rows("stragglers")) {
    EXPECT_NE(row.at("test"), "tested");
    EXPECT_EQ(row.at("op"), "");
  }
  plant.slow_rank = 0;
  plant.slow_op = "linear";
  plant.slow_times = 2;
  const auto rows = MadeRanks(plant).Rows("stragglers");
  EXPECT_EQ(rows[0].at("verdict"), "slow op");
  EXPECT_EQ(rows[0].at("test"), "not tested over steps");
  for (size_t rank = 1; rank < rows.size(); ++rank) {
    EXPECT_EQ(rows[rank].at("verdict"), "follows") << rank;
  }
}

// One rule for both views: who is named, for what, since when, and how many wait.
TEST(StragglersTest, SaysWhatCulpritsSay) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Plant plant;
    plant.seed = 5000 + seed;
    plant.ranks = seed % 2 == 0 ? 4 : 6;
    plant.steps = seed % 5 == 0 ? 4 : 40;
    plant.slow_rank = static_cast<int>(seed % 4);
    if (seed % 3 == 0) plant.slow_op = "linear";
    plant.slow_times = 1.2;
    plant.late_share = seed % 3 == 1 ? 0.1 : 0;
    if (seed % 4 == 0) plant.group = {1, 2};
    const MadeRanks ranks(plant);
    const auto culprits = ranks.Rows("culprits");
    const auto rows = ranks.Rows("stragglers");
    const auto named = Named(rows);
    ASSERT_EQ(named.size(), culprits.size()) << seed;
    for (const ViewRow& culprit : culprits) {
      const ViewRow& row =
          culprits.size() == 1 ? named[0] : rows[std::stoul(culprit.at("who").substr(5))];
      EXPECT_EQ("rank " + row.at("rank"), culprit.at("who")) << seed;
      EXPECT_EQ(row.at("verdict"), culprit.at("cause")) << seed;
      EXPECT_EQ(row.at("test"), culprit.at("test")) << seed;
      const auto waiters = std::count_if(rows.begin(), rows.end(), [&](const ViewRow& other) {
        return other.at("waits_for") == culprit.at("who");
      });
      EXPECT_EQ(std::to_string(waiters), culprit.at("waiters")) << seed;
    }
  }
}

TEST(StragglersTest, SaysForWhomTheOthersWaitedAndWhatItDidBefore) {
  Plant plant;
  plant.slow_rank = 1;
  plant.slow_op = "attention";
  plant.slow_times = 2;
  const MadeRanks ranks(plant);
  const auto rows = ranks.Rows("stragglers");
  int64_t waited_ns = 0;
  int64_t caused_ns = 0;
  int64_t last_calls = 0;
  for (const ViewRow& row : rows) {
    waited_ns += std::stoll(row.at("wait_ns"));
    caused_ns += std::stoll(row.at("caused_ns"));
    last_calls += std::stoll(row.at("last_calls"));
  }
  // All that was waited, was for somebody: but for what clocks are uncertain by.
  EXPECT_NEAR(static_cast<double>(caused_ns) / static_cast<double>(waited_ns), 1, 0.01);
  EXPECT_EQ(last_calls, 2 * plant.steps);
  EXPECT_EQ(rows[1].at("last_calls"), std::to_string(2 * plant.steps));
  EXPECT_EQ(rows[1].at("calls"), std::to_string(2 * plant.steps));
  EXPECT_EQ(rows[1].at("before_op"), "attention");
  EXPECT_LT(std::stod(rows[1].at("before_idle_pct")), 5);
  // Each call says it, whichever rank's row it is.
  const auto calls = ranks.Rows("collectives");
  EXPECT_EQ(calls.size(), rows.size() * 2 * static_cast<size_t>(plant.steps));
  double idle_pct = 0;
  for (const ViewRow& row : calls) {
    EXPECT_EQ(row.at("last_rank"), "1");
    EXPECT_EQ(row.at("last_op"), "attention");
    EXPECT_THAT(row.at("last_layer"), testing::StartsWith("layer"));
    idle_pct += std::stod(row.at("last_idle_pct"));
  }
  EXPECT_NEAR(idle_pct / static_cast<double>(calls.size()),
              std::stod(rows[1].at("before_idle_pct")), 1e-6);
}

TEST(StragglersTest, ClocksDoNotMatter) {
  Plant plant;
  plant.slow_rank = 3;
  plant.slow_op = "linear";
  plant.slow_from = 30;
  const auto rows = Named(MadeRanks(plant).Rows("stragglers"));
  plant.clock_rank = 3;
  plant.clock_ahead_ns = 3'000'000;
  plant.clock_ppm = 50;
  const auto shifted = Named(MadeRanks(plant).Rows("stragglers"));
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_EQ(shifted.size(), 1u);
  for (const char* const key : {"rank", "verdict", "op", "layer", "since_step"}) {
    EXPECT_EQ(rows[0].at(key), shifted[0].at(key)) << key;
  }
}

}  // namespace
}  // namespace oplens::test::stragglers_test
