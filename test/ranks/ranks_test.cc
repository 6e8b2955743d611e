#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/views/views.h"
#include "test/ranks/made_ranks.h"

namespace oplens::test::ranks_test {
namespace {

std::vector<int64_t> Column(const std::vector<ViewRow>& rows, const std::string& key) {
  std::vector<int64_t> values;
  for (const ViewRow& row : rows) values.push_back(std::stoll(row.at(key)));
  return values;
}

TEST(RanksTest, SaysWhatEachRankDid) {
  MadeRun made;
  made.trace.rank_name = made.trace.strings.Intern("3");
  made.trace.node = 12;
  made.AddStep(0, 0, 100);
  made.AddKernel(10, 30);
  made.AddKernel(20, 50, kNoLaunch, "ncclDevKernel_AllReduce_Sum_f32()");
  made.AddCopy(60, 70);
  const auto rows = made.RowsOf(prof::kRanksView.make);
  ASSERT_EQ(rows.size(), 1u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("rank"), "3");
  EXPECT_EQ(row.at("steps"), "1");
  EXPECT_EQ(row.at("total_ns"), "100");
  EXPECT_EQ(row.at("step_ns"), "100");
  EXPECT_EQ(row.at("busy_ns"), "50");  // 10 to 50 and 60 to 70.
  EXPECT_EQ(row.at("compute_ns"), "20");
  EXPECT_EQ(row.at("communication_ns"), "20");  // 30 to 50.
  EXPECT_EQ(row.at("kernels"), "2");
  EXPECT_EQ(row.at("kernel_ns"), "50");
  EXPECT_EQ(row.at("collectives"), "1");
  EXPECT_EQ(row.at("wait_ns"), "");  // One rank alone does not know.
  EXPECT_EQ(row.at("node"), "12");
  for (const char* const key : {"stage", "place", "peak_bytes"}) {
    EXPECT_EQ(row.at(key), "") << key;
  }
}

TEST(RanksTest, TheSlowestWaitsLeast) {
  Plant plant;
  plant.slow_rank = 2;
  plant.slow_op = "linear";
  plant.slow_times = 1.5;
  const auto rows = MadeRanks(plant).Rows("ranks");
  const auto waits = Column(rows, "wait_ns");
  ASSERT_EQ(waits.size(), 4u);
  for (const size_t other : {size_t{0}, size_t{1}, size_t{3}})
    EXPECT_GT(waits[other], 3 * waits[2]);
}

TEST(RanksTest, TellsThePlaceInProcessGroups) {
  MadeRun made;
  Trace& trace = made.trace;
  trace.rank = 5;
  trace.world_size = 8;
  const auto add = [&](std::string_view name, std::string_view description,
                       std::vector<int64_t> ranks) {
    ProcessGroup& group = trace.process_groups.emplace_back();
    group.name = trace.strings.Intern(name);
    group.description = trace.strings.Intern(description);
    group.size = static_cast<int64_t>(ranks.size());
    group.ranks = std::move(ranks);
  };
  add("0", "default_pg", {0, 1, 2, 3, 4, 5, 6, 7});
  add("1", "TENSOR_MODEL_PARALLEL_GROUP", {4, 5});
  add("2", "PIPELINE_MODEL_PARALLEL_GROUP", {1, 5});
  made.AddKernel(0, 10);
  auto row = made.RowsOf(prof::kRanksView.make)[0];
  EXPECT_EQ(row.at("place"), "tensor 1/2, pipeline 1/2");
  EXPECT_EQ(row.at("place_by"), "told");
  EXPECT_EQ(row.at("stage"), "1");
  add("3", "undefined", {1, 3, 5, 7});
  row = made.RowsOf(prof::kRanksView.make)[0];
  EXPECT_EQ(row.at("place"), "data 2/4, tensor 1/2, pipeline 1/2");
  EXPECT_EQ(row.at("place_by"), "inferred");
}

/// What is saved is what was found, whether the calls were given before or after.
TEST(RanksTest, SavesAndLoads) {
  Plant plant;
  plant.slow_rank = 1;
  plant.slow_op = "norm";
  plant.cut_rank = 0;
  plant.cut_calls = 3;
  plant.group = {0, 2, 3};
  const MadeRanks ranks(plant);
  for (const char* const name : {"ranks", "stragglers", "imbalance"}) {
    const auto expected = ranks.Rows(name);
    for (const CallsGiven given : {CallsGiven::kBefore, CallsGiven::kAfter}) {
      const auto loaded = ranks.FindSaved(name, given);
      EXPECT_EQ(RowsOf(*loaded), expected) << name;
      EXPECT_EQ(loaded->Notes(), ranks.Find(name)->Notes()) << name;
    }
  }
}

}  // namespace
}  // namespace oplens::test::ranks_test
