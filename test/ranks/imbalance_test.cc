#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parse/join/call_tree.h"
#include "prof/price/kernel_facts.h"
#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::test::imbalance_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// A rank of a run of four, with one group besides that of all.
struct Rank {
  int64_t rank = 0;
  std::string_view description;
  std::vector<int64_t> group;
  std::vector<int64_t> kernels_ns;  ///< One a step.
  std::string_view kernel = "gemm";
};

std::unique_ptr<prof::Partial> Find(const std::vector<Rank>& ranks) {
  auto all = prof::kImbalanceView.make({});
  prof::CollectiveSet calls;
  for (const Rank& rank : ranks) {
    MadeRun made;
    Trace& trace = made.trace;
    trace.rank = rank.rank;
    trace.world_size = 4;
    trace.rank_name = trace.strings.Intern(std::to_string(rank.rank));
    ProcessGroup& group = trace.process_groups.emplace_back();
    group.name = trace.strings.Intern("9");
    group.description = trace.strings.Intern(rank.description);
    group.ranks = rank.group;
    for (size_t step = 0; step < rank.kernels_ns.size(); ++step) {
      const auto start_ns = static_cast<int64_t>(step) * 1000;
      made.AddStep(static_cast<int64_t>(step), start_ns, start_ns + 1000);
      made.AddKernel(start_ns, start_ns + rank.kernels_ns[step], kNoLaunch, rank.kernel);
    }
    Epochs epochs;
    prof::KernelFactsCache names(&epochs, nullptr);
    const auto pin = epochs.Current();
    all->Merge(*made.PartialOf(prof::kImbalanceView.make, [&](prof::PricedKernel* kernel) {
      kernel->facts = names.Of(kernel->record->long_name);
    }));
    calls.Merge(made.calls());
  }
  GiveCalls(calls, all.get());
  return all;
}

TEST(ImbalanceTest, StagesOfAPipeline) {
  const std::string_view pp = "PIPELINE_MODEL_PARALLEL_GROUP";
  // Stage 0 is ranks 0 and 1, stage 1 is ranks 2 and 3.
  const auto rows = RowsOf(*Find({{0, pp, {0, 2}, {200, 300}},
                                  {1, pp, {1, 3}, {400, 300}},
                                  {2, pp, {0, 2}, {500, 100}},
                                  {3, pp, {1, 3}, {500, 100}}}));
  ASSERT_EQ(rows.size(), 1u);
  const ViewRow& row = rows[0];
  EXPECT_EQ(row.at("what"), "stages");
  EXPECT_EQ(row.at("members"), "2");
  EXPECT_EQ(row.at("steps"), "2");
  // Step 0: 300 and 500; step 1: 300 and 100.
  EXPECT_EQ(row.at("max_ns"), "800");
  EXPECT_EQ(row.at("mean_ns"), "600");
  EXPECT_EQ(row.at("saved_ns"), "200");
  EXPECT_EQ(row.at("total_ns"), "2000");
  EXPECT_EQ(row.at("saved_pct"), "10");
  EXPECT_EQ(row.at("most"), "0");  // 600 and 600: the first.
}

TEST(ImbalanceTest, ExpertsOfAGroup) {
  const std::string_view ep = "EXPERT_MODEL_PARALLEL_GROUP";
  const std::string_view grouped = "cutlass_grouped_gemm_kernel";
  const auto rows = RowsOf(*Find({{0, ep, {0, 1}, {100, 100}, grouped},
                                  {1, ep, {0, 1}, {300, 200}, grouped},
                                  {2, ep, {2, 3}, {100, 100}, grouped},
                                  {3, ep, {2, 3}, {100, 100}, grouped}}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("what"), "experts");
  EXPECT_EQ(rows[0].at("group"), "9");
  EXPECT_EQ(rows[0].at("first_rank"), "0");
  EXPECT_EQ(rows[0].at("most"), "1");
  EXPECT_EQ(rows[0].at("max_ns"), "500");
  EXPECT_EQ(rows[0].at("mean_ns"), "350");
  EXPECT_EQ(rows[0].at("saved_ns"), "150");
  EXPECT_EQ(rows[1].at("first_rank"), "2");
  EXPECT_EQ(rows[1].at("ratio"), "1");
  EXPECT_EQ(rows[1].at("saved_ns"), "0");
}

TEST(ImbalanceTest, WithoutGroupsThereIsNothing) {
  const auto partial = Find({{0, "DATA_PARALLEL_GROUP", {0, 1}, {100}},  //
                             {1, "DATA_PARALLEL_GROUP", {0, 1}, {300}}});
  EXPECT_TRUE(RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("no group of stages or experts")));
}

}  // namespace
}  // namespace oplens::test::imbalance_test
