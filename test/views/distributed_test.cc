#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parse/join/call_tree.h"
#include "prof/views/collectives/collective_matches.h"
#include "prof/views/views.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::test::distributed_test {
namespace {

using prof::kDistributedView;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

int64_t Ns(const ViewRow& row, const char* key) { return std::stoll(row.at(key)); }

void CheckPartition(const ViewRow& row) {
  if (row.at("step") == "mean") return;
  int64_t sum_ns = 0;
  for (const char* const key : {"computation_ns", "overlap_ns", "communication_ns", "other_ns"}) {
    EXPECT_GE(Ns(row, key), 0) << key;
    sum_ns += Ns(row, key);
  }
  EXPECT_EQ(sum_ns, Ns(row, "total_ns"));
  EXPECT_LE(Ns(row, "memory_ns"), Ns(row, "other_ns"));
  if (row.at("wait_ns").empty()) return;
  EXPECT_EQ(Ns(row, "wait_ns") + Ns(row, "transfer_ns") + Ns(row, "unmatched_ns"),
            Ns(row, "latency_ns"));
}

// step      |0-----------------------------100|
// compute       |10---40|
// comm               |30----60|
// copy                   |35-------70|
TEST(DistributedTest, FourPartsOfAStep) {
  MadeRun made;
  made.AddStep(3, 0, 100);
  const LaunchIndex launch = made.AddCall(1, 2);
  made.AddKernel(10, 40, launch, "gemm");
  made.AddKernel(30, 60, launch, kNccl, 0, 9);
  made.AddCopy(35, 70, launch);
  const auto rows = made.RowsOf(kDistributedView.make);
  ASSERT_EQ(rows.size(), 2u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("step"), "3");
  EXPECT_EQ(row.at("total_ns"), "100");
  EXPECT_EQ(row.at("computation_ns"), "20");
  EXPECT_EQ(row.at("overlap_ns"), "10");
  EXPECT_EQ(row.at("communication_ns"), "20");
  EXPECT_EQ(row.at("other_ns"), "50");
  EXPECT_EQ(row.at("memory_ns"), "10");
  EXPECT_EQ(row.at("computation_pct"), "20");
  EXPECT_EQ(row.at("other_pct"), "50");
  EXPECT_EQ(row.at("collectives"), "1");
  EXPECT_EQ(row.at("latency_ns"), "30");
  EXPECT_EQ(row.at("wait_ns"), "");
  EXPECT_EQ(row.at("unmatched_ns"), "30");
  EXPECT_EQ(rows[1].at("step"), "mean");
  EXPECT_EQ(rows[1].at("total_ns"), "100");
}

/// Two steps of a rank with a collective each, of these lengths.
FoundInProfiles FoundOfRank(int rank, int64_t first_ns, int64_t second_ns) {
  MadeRun made;
  made.trace.rank_name = made.trace.strings.Intern(std::to_string(rank));
  made.AddStep(0, 0, 1000);
  made.AddStep(1, 1000, 2000);
  made.AddKernel(500 - first_ns, 500, made.AddCall(10, 20), kNccl);
  made.AddKernel(1500 - second_ns, 1500, made.AddCall(1010, 1020), kNccl);
  return {made.PartialOf(kDistributedView.make, [](prof::PricedKernel*) {}), made.calls()};
}

/// Both ranks merged: each given its calls before that, or all once they are one.
std::unique_ptr<prof::Partial> Merged(bool swapped, bool calls_first) {
  FoundInProfiles one = FoundOfRank(swapped ? 1 : 0, swapped ? 200 : 300, swapped ? 150 : 100);
  FoundInProfiles other = FoundOfRank(swapped ? 0 : 1, swapped ? 300 : 200, swapped ? 100 : 150);
  auto all = kDistributedView.make({});
  one.calls.Merge(std::move(other.calls));
  const prof::CollectiveMatches matches(one.calls);
  if (calls_first) {
    one.partial->AddCalls(matches.RowsOf(swapped ? 1 : 0));
    other.partial->AddCalls(matches.RowsOf(swapped ? 0 : 1));
  }
  all->Merge(*one.partial);
  all->Merge(*other.partial);
  if (!calls_first) GiveCalls(one.calls, all.get());
  return all;
}

TEST(DistributedTest, WaitsOfTwoRanks) {
  for (const auto& [swapped, calls_first] : std::vector<std::pair<bool, bool>>{
           {false, false}, {true, false}, {false, true}, {true, true}}) {
    const auto all = Merged(swapped, calls_first);
    const auto rows = RowsOf(*all);
    ASSERT_EQ(rows.size(), 6u);
    EXPECT_EQ(rows[0].at("wait_ns"), "100");
    EXPECT_EQ(rows[0].at("transfer_ns"), "200");
    EXPECT_EQ(rows[1].at("wait_ns"), "0");
    EXPECT_EQ(rows[2].at("step"), "mean");
    EXPECT_EQ(rows[2].at("wait_ns"), "50");
    EXPECT_EQ(rows[3].at("wait_ns"), "0");
    EXPECT_EQ(rows[4].at("wait_ns"), "50");
    EXPECT_EQ(rows[5].at("rank"), "1");
    for (const ViewRow& row : rows) CheckPartition(row);
    EXPECT_THAT(all->Notes(), Contains(HasSubstr("name no groups")));
  }
}

TEST(DistributedTest, WithoutCollectivesNothingIsWaitedFor) {
  MadeRun made;
  made.AddKernel(0, 10);
  const auto rows = made.RowsOf(kDistributedView.make);
  EXPECT_EQ(rows[0].at("collectives"), "0");
  EXPECT_EQ(rows[0].at("wait_ns"), "0");
  EXPECT_EQ(rows[0].at("communication_ns"), "0");
}

TEST(DistributedTest, WithoutWorkOfAGpuThereAreNoRows) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  const auto partial = made.PartialOf(kDistributedView.make, [](prof::PricedKernel*) {});
  EXPECT_TRUE(RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("no timed work")));
}

RC_GTEST_PROP(DistributedProperty, PartsSumToTheStep, ()) {
  const auto all = kDistributedView.make({});
  prof::CollectiveSet calls;
  for (int rank = 0; rank < 2; ++rank) {
    MadeRun made;
    made.trace.rank_name = made.trace.strings.Intern(std::to_string(rank));
    for (int i = *rc::gen::inRange(1, 25); i > 0; --i) {
      const int64_t start_ns = *rc::gen::inRange(-20, 200);
      const int64_t end_ns = start_ns + *rc::gen::inRange(-3, 60);
      switch (*rc::gen::inRange(0, 6)) {
        case 0:
          made.AddStep(*rc::gen::inRange(0, 3), start_ns, end_ns);
          break;
        case 1:
          made.AddRange("nccl:all_reduce", start_ns, end_ns);
          break;
        case 2:
          made.AddCopy(start_ns, end_ns);
          break;
        case 3:
          made.AddKernel(start_ns, end_ns, kNoLaunch, "gemm");
          break;
        case 4:
          made.AddReplay(start_ns, end_ns);
          break;
        default:
          made.AddKernel(start_ns, end_ns, made.AddCall(start_ns - 5, start_ns - 4), kNccl);
      }
    }
    all->Merge(*made.PartialOf(kDistributedView.make, [](prof::PricedKernel*) {}));
    calls.Merge(made.calls());
  }
  GiveCalls(calls, all.get());
  for (const ViewRow& row : RowsOf(*all)) CheckPartition(row);
}

}  // namespace
}  // namespace oplens::test::distributed_test
