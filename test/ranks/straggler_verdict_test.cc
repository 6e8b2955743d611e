#include "prof/views/collectives/straggler_verdict.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace oplens::prof::straggler_verdict_test {
namespace {

constexpr int kSteps = 24;

/// A rank of steps of 1 ms: one op, and so much waiting in one group.
StragglerWork Work(uint64_t seed, int64_t op_ns, int64_t wait_ns, const std::string& group) {
  StragglerWork work;
  work.ops = {{"op", ""}};
  for (int step = 0; step < kSteps; ++step) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const auto noise = static_cast<int64_t>(seed >> 54);  // Below 1,024.
    work.steps.push_back(
        {.number = step, .total_ns = 1'000'000, .wait_ns = wait_ns + noise, .calls = 4});
    work.times_ns.push_back(op_ns + noise);
    work.group_waits_ns[group][static_cast<uint32_t>(step)] = wait_ns + noise;
  }
  return work;
}

std::vector<StragglerVerdict> VerdictsOf(const std::vector<StragglerWork>& works,
                                         const std::vector<int64_t>& stages) {
  std::vector<StragglerRank> ranks;
  for (size_t i = 0; i < works.size(); ++i) ranks.push_back({&works[i], stages[i]});
  std::vector<StragglerVerdict> verdicts;
  for (const StragglerFinding& finding : JudgeStragglers(ranks))
    verdicts.push_back(finding.verdict);
  return verdicts;
}

// Two stages; the first ranks of both are in one group.
TEST(StragglerVerdictTest, WhoIsLateByASlowOpOfAnotherStageFollows) {
  constexpr int64_t kOp = 300'000;
  constexpr int64_t kWait = 100'000;
  std::vector<StragglerWork> works;
  for (uint64_t rank = 0; rank < 8; ++rank) {
    const bool first = rank % 4 == 0;
    works.push_back(Work(rank + 1, rank == 4 ? kOp + 30'000 : kOp, first ? kWait - 40'000 : kWait,
                         std::to_string(10 + rank % 4)));
  }
  const std::vector<int64_t> stages = {0, 0, 0, 0, 1, 1, 1, 1};
  auto verdicts = VerdictsOf(works, stages);
  EXPECT_EQ(verdicts[0], StragglerVerdict::kFollows);
  EXPECT_EQ(verdicts[4], StragglerVerdict::kSlowOp);
  for (const size_t other : {1U, 2U, 3U, 5U, 6U, 7U}) {
    EXPECT_EQ(verdicts[other], StragglerVerdict::kChance) << other;
  }
  // Without a group of both nothing binds them.
  auto node = works[0].group_waits_ns.extract("10");
  node.key() = "99";
  works[0].group_waits_ns.insert(std::move(node));
  verdicts = VerdictsOf(works, stages);
  EXPECT_EQ(verdicts[0], StragglerVerdict::kLate);
  EXPECT_EQ(verdicts[4], StragglerVerdict::kSlowOp);
}

// It waited less, since nobody knows what it waited for a rank that has no file.
TEST(StragglerVerdictTest, WhoMissesAPartnerIsNotJudged) {
  std::vector<StragglerWork> works;
  for (uint64_t rank = 0; rank < 4; ++rank) {
    works.push_back(Work(rank + 1, 300'000, rank == 3 ? 20'000 : 100'000, "7"));
  }
  const std::vector<int64_t> stages(4, -1);
  EXPECT_EQ(VerdictsOf(works, stages)[3], StragglerVerdict::kLate);
  for (StragglerWork::Step& step : works[3].steps) step.unmatched = 2;
  const auto verdicts = VerdictsOf(works, stages);
  EXPECT_EQ(verdicts[3], StragglerVerdict::kFewSteps);
  for (const size_t other : {0U, 1U, 2U}) {
    EXPECT_EQ(verdicts[other], StragglerVerdict::kChance) << other;
  }
}

// What all ranks have, such as sends in large groups, is no difference; nor is who had no calls.
TEST(StragglerVerdictTest, AStepWithoutCallsIsNoMeasure) {
  std::vector<StragglerWork> works;
  for (uint64_t rank = 0; rank < 4; ++rank) {
    works.push_back(Work(rank + 1, 300'000, rank == 3 ? 20'000 : 100'000, "7"));
    for (StragglerWork::Step& step : works.back().steps) step.unmatched = 1;
  }
  for (size_t step = 0; step < 20; ++step) {
    works[0].steps[step].calls = 0;
    works[0].steps[step].unmatched = 0;
  }
  EXPECT_EQ(VerdictsOf(works, std::vector<int64_t>(4, -1))[3], StragglerVerdict::kLate);
}

}  // namespace
}  // namespace oplens::prof::straggler_verdict_test
