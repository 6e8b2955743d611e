#include "prof/verdicts/culprits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "prof/views/views.h"
#include "test/ranks/made_ranks.h"

namespace oplens::test::culprits_test {
namespace {

using prof::Culprit;
using prof::CulpritCause;
using prof::CulpritRank;
using prof::HostWork;
using prof::LoadPlace;
using prof::RankLoad;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kSteps = 24;

/// Ranks of steps of 1 ms, in which each waits 100 us.
class Ranks {
 public:
  explicit Ranks(size_t count, int steps = kSteps) {
    uint64_t seed = 1;
    const auto noise = [&seed] {
      seed = seed * 6364136223846793005 + 1442695040888963407;
      return static_cast<int64_t>(seed >> 54);  // Below 1,024.
    };
    for (size_t rank = 0; rank < count; ++rank) {
      RankLoad& load = loads_.emplace_back();
      load.number = static_cast<int64_t>(rank);
      load.world_size = static_cast<int64_t>(count);
      for (const char* const op : {"mm", "norm", "gelu"})
        load.places.push_back({op, "", 24, 1000, {}});
      for (const char* const layer : {"a", "b"}) load.places.push_back({"", layer, 36, 1500, {}});
      for (int step = 0; step < steps; ++step) {
        load.steps.push_back({.number = step,
                              .total_ns = 1'000'000,
                              .compute_ns = 600'000 + noise(),
                              .other_ns = 100'000 + noise(),
                              .wait_ns = 100'000 + noise(),
                              .calls = 4});
        for (LoadPlace& place : load.places) {
          place.times_ns.push_back((place.op.empty() ? 300'000 : 200'000) + noise() / 4);
        }
      }
    }
  }

  RankLoad& operator[](size_t rank) { return loads_[rank]; }
  /// The rank computes longer in a step, in one op and all layers alike, and waits less.
  void Slow(size_t rank, int step, size_t place, int64_t by_ns) {
    RankLoad& load = loads_[rank];
    const auto at = static_cast<size_t>(step);
    load.steps[at].compute_ns += by_ns;
    load.steps[at].wait_ns = std::max<int64_t>(0, int64_t{load.steps[at].wait_ns} - by_ns);
    load.places[place].times_ns[at] += by_ns;
  }
  /// `stages`: of the ranks, if known.
  std::vector<Culprit> Find(const std::vector<int64_t>& stages = {}) const {
    std::vector<CulpritRank> ranks;
    for (size_t i = 0; i < loads_.size(); ++i) {
      const int64_t stage = i < stages.size() ? stages[i] : -1;
      ranks.push_back({std::to_string(i), &loads_[i], stage, loads_[i].node, {}});
    }
    return prof::JudgeRanks(ranks).culprits;
  }

 private:
  std::vector<RankLoad> loads_;
};

constexpr size_t kMm = 0;
constexpr size_t kLayerB = 4;

TEST(CulpritsTest, NobodyIsNamedByChance) {
  EXPECT_THAT(Ranks(8).Find(), IsEmpty());
  EXPECT_THAT(Ranks(8, 3).Find(), IsEmpty());
  EXPECT_THAT(Ranks(1).Find(), IsEmpty());
}

TEST(CulpritsTest, ASlowOpIsNamedWithItsStepAndCost) {
  Ranks ranks(8);
  for (int step = 10; step < kSteps; ++step) ranks.Slow(3, step, kMm, 50'000);
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 3");
  EXPECT_EQ(found[0].cause, CulpritCause::kSlowOp);
  EXPECT_EQ(found[0].what, "mm +25 %");
  EXPECT_EQ(found[0].since_step, 10);
  EXPECT_TRUE(found[0].tested);
  EXPECT_NEAR(static_cast<double>(found[0].cost_ns.value_or(0)), 50'000, 2'000);
}

TEST(CulpritsTest, WhoIsSlowButNeverWaitedForIsNone) {
  Ranks ranks(8);
  for (int step = 0; step < kSteps; ++step) {
    ranks.Slow(3, step, kMm, 50'000);
    ranks[3].steps[static_cast<size_t>(step)].wait_ns = 140'000;
  }
  EXPECT_THAT(ranks.Find(), IsEmpty());
}

TEST(CulpritsTest, FewStepsGiveAnOrderWithoutATest) {
  Ranks ranks(8, 3);
  for (int step = 0; step < 3; ++step) ranks.Slow(3, step, kMm, 50'000);
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 3");
  EXPECT_FALSE(found[0].tested);
  EXPECT_NEAR(found[0].cost_share, 0.05, 0.003);
}

// What others waited for it is its cost, where its own times show less.
TEST(CulpritsTest, OfFewStepsWhoIsWaitedForIsNamedToo) {
  Ranks ranks(4, 2);
  for (const size_t other : {0U, 1U, 2U}) ranks[other].waited_ns = {{"3", 200'000}, {"1", 5'000}};
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 3");
  EXPECT_EQ(found[0].cause, CulpritCause::kLate);
  EXPECT_EQ(found[0].cost_ns, 100'000);
  EXPECT_FALSE(found[0].tested);
}

// A rank that does other work is late for that: it is named once.
TEST(CulpritsTest, OfFewStepsWhoDoesMoreWorkIsNotLate) {
  Ranks ranks(4, 2);
  for (int step = 0; step < 2; ++step) ranks.Slow(3, step, kMm, 100'000);
  ranks[3].places[kMm].flops = 1500;
  for (const size_t other : {0U, 1U, 2U}) ranks[other].waited_ns = {{"3", 200'000}};
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 3");
  EXPECT_EQ(found[0].cause, CulpritCause::kOtherWork);
}

TEST(CulpritsTest, AGpuThatGetsSlowerGrows) {
  Ranks ranks(8);
  for (int step = 5; step < kSteps; ++step) {
    for (size_t op = 0; op < 3; ++op) ranks.Slow(6, step, op, 2'000 * (step - 4));
  }
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cause, CulpritCause::kSlowGpu);
  EXPECT_TRUE(found[0].grows);
  EXPECT_LT(found[0].since_step.value_or(99), 12);
}

TEST(CulpritsTest, ALayerAndAGpuAreToldFromAnOp) {
  Ranks layer(8);
  Ranks gpu(8);
  for (int step = 0; step < kSteps; ++step) {
    for (size_t op = 0; op < 3; ++op) {
      layer.Slow(2, step, op, 10'000);
      gpu.Slow(5, step, op, 10'000);
    }
    const auto at = static_cast<size_t>(step);
    layer[2].places[kLayerB].times_ns[at] += 30'000;
    for (const size_t place : {size_t{3}, kLayerB}) gpu[5].places[place].times_ns[at] += 15'000;
  }
  const auto in_layer = layer.Find();
  ASSERT_THAT(in_layer, SizeIs(1));
  EXPECT_EQ(in_layer[0].cause, CulpritCause::kSlowLayer);
  EXPECT_EQ(in_layer[0].what, "b +10 %");
  const auto in_all = gpu.Find();
  ASSERT_THAT(in_all, SizeIs(1));
  EXPECT_EQ(in_all[0].cause, CulpritCause::kSlowGpu);
}

TEST(CulpritsTest, ANodeIsOneRow) {
  Ranks ranks(8);
  for (size_t rank = 0; rank < 8; ++rank) ranks[rank].node = rank < 4 ? "0" : "1";
  for (size_t rank = 4; rank < 8; ++rank) {
    for (int step = 0; step < kSteps; ++step) ranks.Slow(rank, step, kMm, 50'000);
  }
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "node 1");
  EXPECT_EQ(found[0].cause, CulpritCause::kSlowNode);
  EXPECT_THAT(found[0].what, HasSubstr("4 of its 4 ranks"));
}

TEST(CulpritsTest, WhatTheHostDoesAtTimesIsNamedWithItsSteps) {
  Ranks ranks(8);
  for (const int step : {6, 13, 20}) {
    prof::LoadStep& slow = ranks[2].steps[static_cast<size_t>(step)];
    slow.other_ns += 80'000;
    slow.wait_ns = 20'000;
    slow.host_ns[static_cast<size_t>(HostWork::kGarbage)] += 80'000;
  }
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cause, CulpritCause::kGarbage);
  EXPECT_EQ(found[0].slow_steps, (std::vector<int64_t>{6, 13, 20}));
  EXPECT_FALSE(found[0].since_step);
  // A tenth of a step that costs 8 %, in 3 of 24 steps.
  EXPECT_NEAR(found[0].cost_share, 0.08 / 8, 0.001);
}

TEST(CulpritsTest, WhoDoesMoreWorkIsNotSlow) {
  Ranks ranks(8);
  for (int step = 0; step < kSteps; ++step) ranks.Slow(3, step, kMm, 100'000);
  ranks[3].places[kMm].flops = 1500;
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cause, CulpritCause::kOtherWork);
  EXPECT_EQ(found[0].what, "mm does 1.50 times the work");
}

TEST(CulpritsTest, WhatIsWrongWithFilesComesFirst) {
  Ranks ranks(8);
  for (int step = 0; step < kSteps; ++step) ranks.Slow(3, step, kMm, 50'000);
  ranks[7].number = 6;
  ranks[1].steps.resize(20);
  for (LoadPlace& place : ranks[1].places) place.times_ns.resize(20);
  ranks[0].gpu = "V100";
  for (size_t rank = 1; rank < 8; ++rank) ranks[rank].gpu = "H100";
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(5));
  EXPECT_EQ(found[0].cause, CulpritCause::kMissingRank);
  EXPECT_EQ(found[0].who, "rank 7");
  EXPECT_EQ(found[1].cause, CulpritCause::kTwice);
  EXPECT_EQ(found[1].who, "rank 6");
  EXPECT_EQ(found[2].cause, CulpritCause::kOtherRun);
  EXPECT_EQ(found[2].what, "on V100; the others on H100");
  EXPECT_EQ(found[3].cause, CulpritCause::kFewerSteps);
  EXPECT_EQ(found[4].who, "rank 3");
}

TEST(CulpritsTest, RecordingsOfOtherTimesAreOfOtherRuns) {
  Ranks ranks(4);
  for (size_t rank = 0; rank < 4; ++rank) {
    ranks[rank].began_ns = static_cast<int64_t>(rank) * 60'000'000'000;  // Clocks that are off.
  }
  EXPECT_THAT(ranks.Find(), IsEmpty());
  ranks[2].began_ns = 7'200'000'000'000;
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 2");
  EXPECT_EQ(found[0].what, "recorded 2.0 hours after the others");
}

TEST(CulpritsTest, WhoWaitsForAWaiterWaitsForTheCulprit) {
  Ranks ranks(4);
  for (int step = 0; step < kSteps; ++step) ranks.Slow(0, step, kMm, 50'000);
  // 1.2 ms in all. Rank 2 waits longer for rank 3, as in a pipeline, but also for rank 1.
  ranks[1].waited_ns = {{"0", 1'200'000}};
  ranks[2].waited_ns = {{"1", 1'100'000}, {"3", 9'000'000}};
  ranks[3].waited_ns = {{"2", 1'100'000}};
  auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].waiters, 3U);
  // What is far less than it costs is not its doing.
  ranks[2].waited_ns = {{"1", 100'000}, {"3", 9'000'000}};
  found = ranks.Find();
  EXPECT_EQ(found[0].waiters, 1U);
}

TEST(CulpritsTest, ASlowGroupIsTheNetworks) {
  Ranks ranks(8);
  for (size_t rank = 0; rank < 8; ++rank) {
    const std::string name = std::to_string(rank / 2);
    prof::LoadGroup& group = ranks[rank].groups[name];
    group.name = name;
    group.size = 2;
    for (uint32_t step = 0; step < kSteps; ++step) {
      const bool slow = rank / 2 == 2 && step >= 8;
      const int64_t transfer_ns = (slow ? 80'000 : 20'000) + step % 3 * 100;
      group.steps[step] = {4, transfer_ns, transfer_ns};
    }
  }
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cause, CulpritCause::kNetwork);
  EXPECT_EQ(found[0].who, "group 2");
  EXPECT_EQ(found[0].since_step, 8);
  EXPECT_NEAR(static_cast<double>(found[0].cost_ns.value_or(0)), 60'000, 1'000);
}

/// All ranks meet in one all_to_all a step, of which rank r ends `late_ns[r]` later from `first`
/// on.
void AddAllToAll(const std::vector<int64_t>& late_ns, int first, int steps, Ranks* ranks) {
  for (size_t rank = 0; rank < late_ns.size(); ++rank) {
    prof::LoadGroup& group = (*ranks)[rank].groups["ep"];
    group.name = "ep";
    group.ranks = "[0, 1, ...]";
    group.size = static_cast<int64_t>(late_ns.size());
    for (int step = 0; step < steps; ++step) {
      const int64_t noise_ns = static_cast<int64_t>(rank) * 37 % 5 * 100 + step % 3 * 100;
      group.steps[static_cast<uint32_t>(step)] = {
          2, 20'000, 20'000, 2, noise_ns + (step >= first ? late_ns[rank] : 0), 90'000};
    }
  }
}

TEST(CulpritsTest, TwoThatEndLateAtOnceHaveASlowLink) {
  for (const int first : {0, 8}) {
    Ranks ranks(8);
    AddAllToAll({0, 0, 50'000, 0, 0, 51'000, 0, 0}, first, kSteps, &ranks);
    const auto found = ranks.Find();
    ASSERT_THAT(found, SizeIs(1)) << first;
    EXPECT_EQ(found[0].who, "link of ranks 2 and 5");
    EXPECT_EQ(found[0].cause, CulpritCause::kNetwork);
    EXPECT_EQ(found[0].since_step, first);
    EXPECT_THAT(found[0].what, HasSubstr("0.05 ms a step later"));
    EXPECT_THAT(found[0].what, HasSubstr("group [0, 1, ...]"));
    EXPECT_NEAR(static_cast<double>(found[0].cost_ns.value_or(0)), 50'000, 1'000);
  }
}

TEST(CulpritsTest, OnlyWhatIsExposedOfALinkCosts) {
  Ranks ranks(8);
  AddAllToAll({0, 0, 50'000, 0, 0, 51'000, 0, 0}, 0, kSteps, &ranks);
  for (auto& [step, sums] : ranks[5].groups["ep"].steps) sums.end_exposed_ns = 9'000;
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].cost_ns, 9'000);
}

// Who gets more than others ends late alone, and three have no link.
TEST(CulpritsTest, WhoEndsLateAloneHasNoSlowLink) {
  for (const auto& late_ns : std::vector<std::vector<int64_t>>{{0, 0, 50'000, 0},
                                                               {0, 50'000, 50'000, 50'000},
                                                               {0, 25'000, 50'000, 0},
                                                               {50'000, 50'000}}) {
    Ranks ranks(late_ns.size());
    AddAllToAll(late_ns, 0, kSteps, &ranks);
    EXPECT_THAT(ranks.Find(), IsEmpty()) << late_ns.size() << " " << late_ns[1];
  }
}

TEST(CulpritsTest, OfFewStepsWhoHasASlowLinkIsNotLate) {
  Ranks ranks(4, 3);
  AddAllToAll({0, 50'000, 0, 50'000}, 0, 3, &ranks);
  // Rank 2 waits for rank 3, and is waited for.
  for (const size_t other : {0U, 1U, 2U}) ranks[other].waited_ns = {{"3", 200'000}};
  ranks[0].waited_ns["2"] = 190'000;
  const auto found = ranks.Find();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "link of ranks 1 and 3");
  EXPECT_FALSE(found[0].tested);
}

// All wait for the first stage of a pipeline, which ends its backward passes last.
TEST(CulpritsTest, OfFewStepsAStageForWhichOthersWaitAnywayIsNotLate) {
  Ranks ranks(4, 2);
  for (const size_t other : {1U, 2U, 3U}) ranks[other].waited_ns = {{"0", 300'000}};
  const std::vector<int64_t> stages = {0, 0, 1, 1};
  EXPECT_THAT(ranks.Find(stages), IsEmpty());
  EXPECT_THAT(ranks.Find({0, 0, 0, 0}), SizeIs(1));
  for (prof::LoadStep& step : ranks[0].steps) step.wait_ns = 20'000;  // Its peer waits longer.
  const auto found = ranks.Find(stages);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].who, "rank 0");
  EXPECT_NEAR(static_cast<double>(found[0].cost_ns.value_or(0)), 80'000, 2'000);
}

TEST(CulpritsTest, OfMadeRunsTheSlowOneAloneIsNamed) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Plant plant;
    plant.seed = seed;
    EXPECT_THAT(MadeRanks(plant).Rows("culprits"), IsEmpty()) << seed;
    plant.slow_rank = static_cast<int>(seed % 4);
    plant.slow_op = "linear";
    plant.slow_times = 1.3;
    plant.slow_from = 20;
    const MadeRanks ranks(plant);
    const auto rows = ranks.Rows("culprits");
    ASSERT_THAT(rows, SizeIs(1)) << seed;
    EXPECT_EQ(rows[0].at("who"), "rank " + std::to_string(plant.slow_rank)) << seed;
    EXPECT_THAT(rows[0].at("what"), HasSubstr("linear")) << seed;
    EXPECT_EQ(rows[0].at("waiters"), "3") << seed;
    for (const CallsGiven given : {CallsGiven::kBefore, CallsGiven::kAfter}) {
      EXPECT_EQ(RowsOf(*ranks.FindSaved("culprits", given)), rows) << seed;
    }
  }
}

}  // namespace
}  // namespace oplens::test::culprits_test
