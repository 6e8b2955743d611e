#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/join/call_tree.h"
#include "prof/views/collectives/collective_matches.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::test::collectives_test {
namespace {

using prof::kCollectivesView;
using prof::View;
using testing::Contains;
using testing::HasSubstr;

const View& kView = prof::kCollectivesView;

/// A kernel of a collective as a rank's file tells it.
struct Call {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  std::string name = "allreduce";
  int64_t elements = 1000;
  int64_t sequence = -1;
  int64_t group_size = 2;
  std::string group = "0";
};

std::string WriteRank(int rank, const std::vector<Call>& calls, int64_t world = 2) {
  KinetoBuilder builder;
  builder.AddMember("distributedInfo",
                    fmt::format(R"({{"rank": {}, "world_size": {}}})", rank, world));
  for (const Call& call : calls) {
    KinetoArgs more;
    if (!call.group.empty()) {
      more = {{"Collective name", JsonText(call.name)},
              {"In msg nelems", std::to_string(call.elements)},
              {"Out msg nelems", std::to_string(call.elements)},
              {"Group size", std::to_string(call.group_size)},
              {"dtype", "\"Float\""},
              {"Process Group Name", JsonText(call.group)}};
      if (call.sequence >= 0) more.push_back({"Seq", std::to_string(call.sequence)});
    }
    builder.AddKernel({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
                       .start_ns = call.start_ns,
                       .duration_ns = call.duration_ns,
                       .more = more});
  }
  const auto path = TestDir() / fmt::format("rank{}.json", rank);
  builder.Write(path);
  return path.string();
}

std::vector<ViewRow> Rows(const std::vector<std::string>& paths,
                          const std::vector<std::string>& by = {}) {
  prof::ViewOptions options;
  options.by = by;
  return RowsOf(*PartialOf(kView, paths, options));
}

std::string WriteGather() {
  KinetoBuilder builder;
  builder.AddMember("distributedInfo", R"({"rank": 0, "world_size": 16})");
  KinetoOperator op;
  op.name = "c10d::_allgather_base_";
  op.start_ns = 1000;
  op.duration_ns = 9000;
  op.dims = "[[65536, 384], [8192, 384]]";
  op.types = R"(["float", "float"])";
  builder.AddOperator(op);
  builder.AddHost("user_annotation", "nccl:_all_gather_base", 2000, 6000, 1234,
                  {{"Input Dims", "[[8192, 384]]"}, {"Input type", R"(["float"])"}});
  KinetoKernel kernel;
  kernel.name = "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)";
  kernel.start_ns = 20'000;
  kernel.duration_ns = 458'000;
  kernel.correlation = builder.AddCall("cudaLaunchKernel", 3000, 100);
  builder.AddKernel(kernel);
  const auto path = TestDir() / "gather.json";
  builder.Write(path);
  return path.string();
}

// 16 ranks run, 8 of them are the group, as the extents tell.
TEST(CollectivesTest, TheGroupIsAsLargeAsTheExtentsSay) {
  const auto rows = Rows({WriteGather()});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("group_size"), "8");
  EXPECT_EQ(rows[0].at("size_bytes"), "100663296");
}

// Where the name of a kernel says no more than that it communicates.
TEST(CollectivesTest, RangesThatNameAPassTellTheKind) {
  KinetoBuilder builder;
  builder.AddHost("user_annotation", "dispatch(F)", 1000, 9000);
  builder.AddHost("user_annotation", "mlp(F)", 11'000, 9000);
  for (const int64_t launch_ns : {2000, 12'000}) {
    KinetoKernel kernel;
    kernel.name = "nvshmemi_kernel(int)";
    kernel.start_ns = launch_ns + 50'000;
    kernel.correlation = builder.AddCall("cudaLaunchKernel", launch_ns, 100);
    builder.AddKernel(kernel);
  }
  const auto path = TestDir() / "passes.json";
  builder.Write(path);
  const auto rows = Rows({path.string()});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("kind"), "all_to_all");
  EXPECT_EQ(rows[1].at("kind"), "unknown");
}

// rank 0   |0-----------------20|      waits 12 us, transfers 8
// rank 1              |12-----20|      waits 0, transfers 8
TEST(CollectivesTest, TheLastToComeDoesNotWait) {
  const auto rows = Rows({WriteRank(0, {{0, 20'000}}), WriteRank(1, {{12'000, 8'000}})});
  ASSERT_EQ(rows.size(), 2u);
  for (const ViewRow& row : rows) {
    EXPECT_EQ(row.at("kind"), "all_reduce");
    EXPECT_EQ(row.at("group"), "0");
    EXPECT_EQ(row.at("group_size"), "2");
    EXPECT_EQ(row.at("dtype"), "fp32");
    EXPECT_EQ(row.at("size_bytes"), "4000");
    EXPECT_EQ(row.at("time"), "kernel");
    EXPECT_EQ(row.at("transfer_ns"), "8000");
    EXPECT_EQ(row.at("matched_ranks"), "2");
    EXPECT_EQ(row.at("match"), "order");
    EXPECT_EQ(row.at("algo_gbps"), "0.5");
    EXPECT_EQ(row.at("bus_gbps"), "0.5");
  }
  EXPECT_EQ(rows[0].at("latency_ns"), "20000");
  EXPECT_EQ(rows[0].at("wait_ns"), "12000");
  EXPECT_EQ(rows[0].at("seen_gbps"), "0.20000000000000001");
  EXPECT_EQ(rows[1].at("wait_ns"), "0");
}

TEST(CollectivesTest, OneRankAloneDoesNotKnow) {
  const auto partial = PartialOf(kView, {WriteRank(0, {{0, 20'000}})});
  const auto rows = RowsOf(*partial);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("latency_ns"), "20000");
  EXPECT_EQ(rows[0].at("exposed_ns"), "20000");
  for (const char* const key : {"wait_ns", "transfer_ns", "algo_gbps", "bus_gbps"}) {
    EXPECT_EQ(rows[0].at(key), "") << key;
  }
  EXPECT_EQ(rows[0].at("match"), "unmatched");
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("one rank alone")));
}

TEST(CollectivesTest, AGroupOfOneWaitsForNobody) {
  const auto rows = Rows({WriteRank(0, {{.duration_ns = 500, .group_size = 1}})});
  EXPECT_EQ(rows[0].at("match"), "alone");
  EXPECT_EQ(rows[0].at("wait_ns"), "0");
  EXPECT_EQ(rows[0].at("transfer_ns"), "500");
  EXPECT_EQ(rows[0].at("bus_gbps"), "");
}

TEST(CollectivesTest, NumbersGoBeforeOrder) {
  // Rank 1 has not recorded number 7.
  const auto rows =
      Rows({WriteRank(0, {{0, 100, "allreduce", 10, 7}, {200, 90, "allreduce", 10, 8}}),
            WriteRank(1, {{210, 80, "allreduce", 10, 8}})});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("match"), "unmatched");
  EXPECT_EQ(rows[0].at("match_id"), "");
  EXPECT_EQ(rows[1].at("match"), "sequence");
  EXPECT_EQ(rows[1].at("match_id"), "2");  // The second row of the view.
  EXPECT_EQ(rows[2].at("match_id"), "2");
  EXPECT_EQ(rows[1].at("wait_ns"), "10");
  EXPECT_EQ(rows[2].at("seq"), "8");
}

TEST(CollectivesTest, DifferentCountsAreNotMatched) {
  const auto partial =
      PartialOf(kView, {WriteRank(0, {{0, 100}, {200, 90}, {400, 50, "broadcast"}}),
                        WriteRank(1, {{210, 80}, {400, 50, "broadcast"}})});
  const auto rows = RowsOf(*partial);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].at("match"), "unmatched");
  EXPECT_EQ(rows[1].at("match"), "unmatched");
  EXPECT_EQ(rows[2].at("match"), "order");  // Another kind.
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("3 calls are unmatched")));
}

TEST(CollectivesTest, GroupsSizesAndKindsAreApart) {
  const auto rows = Rows({WriteRank(0, {{0, 100, "allreduce", 10}, {200, 100, "allreduce", 20}}),
                          WriteRank(1, {{0, 70, "allreduce", 20}, {200, 60, "allreduce", 10}})});
  EXPECT_EQ(rows[0].at("transfer_ns"), "60");
  EXPECT_EQ(rows[1].at("transfer_ns"), "70");
  EXPECT_EQ(rows[0].at("match_id"), "1");
  EXPECT_EQ(rows[1].at("match_id"), "2");
  EXPECT_EQ(rows[2].at("match_id"), "2");
  EXPECT_EQ(rows[3].at("match_id"), "1");
  const auto other = Rows({WriteRank(0, {{.duration_ns = 10, .group = "a"}}),
                           WriteRank(1, {{.duration_ns = 10, .group = "b"}})});
  EXPECT_EQ(other[0].at("match"), "unmatched");
}

TEST(CollectivesTest, MoreRanksThanTheGroupHasAreSeveralGroups) {
  const auto rows =
      Rows({WriteRank(0, {{0, 100}}), WriteRank(1, {{0, 90}}), WriteRank(2, {{0, 80}})});
  for (const ViewRow& row : rows) EXPECT_EQ(row.at("match"), "unmatched");
}

TEST(CollectivesTest, SendsOfTwoRanksBelongTogether) {
  for (const int64_t ranks : {2, 3}) {
    const auto rows =
        Rows({WriteRank(0, {{.duration_ns = 100, .name = "send", .group_size = ranks}}),
              WriteRank(1, {{.duration_ns = 60, .name = "recv", .group_size = ranks}})});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].at("kind"), "send");
    EXPECT_EQ(rows[0].at("wait_ns"), ranks == 2 ? "40" : "");
    EXPECT_EQ(rows[1].at("match_id"), ranks == 2 ? "1" : "");
  }
}

TEST(CollectivesTest, WithoutGroupsAllRanksAreOne) {
  const auto partial = PartialOf(kView, {WriteRank(0, {{.duration_ns = 100, .group = ""}}),
                                         WriteRank(1, {{.duration_ns = 60, .group = ""}})});
  const auto rows = RowsOf(*partial);
  EXPECT_EQ(rows[0].at("wait_ns"), "40");
  EXPECT_EQ(rows[0].at("group_size"), "2");  // All ranks of the run.
  EXPECT_EQ(rows[0].at("size_bytes"), "");
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("name no groups")));
  const auto part = Rows({WriteRank(0, {{.duration_ns = 100, .group = ""}}, 8),
                          WriteRank(1, {{.duration_ns = 60, .group = ""}}, 8)});
  EXPECT_EQ(part[0].at("group_size"), "");
}

// Rank 1's clock is 1000 ns ahead; its third call ends 30 ns late.
TEST(CollectivesTest, ClocksAreSetByTheCommonEnd) {
  std::vector<Call> first;
  std::vector<Call> second;
  for (int64_t i = 0; i < 5; ++i) {
    first.push_back({i * 10'000, 500});
    second.push_back({i * 10'000 + 1100, 400 + (i == 2 ? 30 : 0)});
  }
  const auto rows = Rows({WriteRank(0, first), WriteRank(1, second)});
  ASSERT_EQ(rows.size(), 10u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(rows[i].at("residual_ns"), "0");
    EXPECT_EQ(rows[5 + i].at("residual_ns"), i == 2 ? "30" : "0");
    EXPECT_EQ(rows[5 + i].at("match"), "order");
  }
}

TEST(CollectivesTest, CallsOfAnotherTimeAreNotOne) {
  std::vector<Call> first;
  std::vector<Call> second;
  for (int64_t i = 0; i < 5; ++i) {
    first.push_back({i * 10'000, 500});
    second.push_back({i * 10'000 + (i == 4 ? 5000 : 0), 500});
  }
  const auto partial = PartialOf(kView, {WriteRank(0, first), WriteRank(1, second)});
  const auto rows = RowsOf(*partial);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("match"), i % 5 == 4 ? "unmatched" : "order") << i;
  }
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("2 calls are unmatched: their counterparts")));
}

TEST(CollectivesTest, SumsByKeys) {
  const std::vector<std::string> paths = {
      WriteRank(0, {{0, 100}, {200, 50, "broadcast"}, {300, 10, "broadcast", 5}}),
      WriteRank(1, {{0, 60}, {200, 30, "broadcast"}})};
  const auto kinds = Rows(paths, {"kind"});
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].at("kind"), "all_reduce");
  EXPECT_EQ(kinds[0].at("calls"), "2");
  EXPECT_EQ(kinds[0].at("wait_ns"), "40");
  EXPECT_EQ(kinds[0].at("transfer_ns"), "120");
  EXPECT_EQ(kinds[0].at("total_bytes"), "8000");
  EXPECT_EQ(std::stod(kinds[0].at("algo_gbps")), 8000.0 / 120);
  EXPECT_EQ(kinds[1].at("calls"), "3");
  EXPECT_EQ(kinds[1].at("matched_calls"), "2");
  EXPECT_EQ(kinds[1].at("latency_ns"), "90");
  EXPECT_EQ(kinds[1].at("unmatched_ns"), "10");
  EXPECT_EQ(kinds[1].at("transfer_ns"), "60");
  EXPECT_EQ(kinds[1].at("wait_ns"), "20");
  const auto all = Rows(paths, {"rank", "group", "size", "dtype", "step"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("size_bytes"), "20");
  EXPECT_EQ(all[0].at("wait_ns"), "");
  EXPECT_EQ(all[1].at("calls"), "2");
  EXPECT_EQ(all[1].at("group_size"), "2");
  EXPECT_THROW(Rows(paths, {"layer"}), UsageError);
}

TEST(CollectivesTest, NoCollectivesAreNoRows) {
  MadeRun made;
  made.AddKernel(0, 10);
  EXPECT_TRUE(made.RowsOf(kCollectivesView.make).empty());
  const auto partial = kCollectivesView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(RowsOf(*partial).empty());
  EXPECT_THAT(partial->Notes(), Contains(HasSubstr("records")));
}

TEST(CollectivesTest, MergesInAnyOrder) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<Call> calls;
    for (int64_t i = 0; i < 6; ++i) {
      calls.push_back({i * 1000 + 17 * rank, 300 + (rank * 7 + i * 5) % 11,
                       i % 2 == 0 ? "allreduce" : "_allgather_base", 100, i, 4,
                       rank % 2 == 0 || i < 3 ? "x" : "y"});
    }
    paths.push_back(WriteRank(rank, calls, 4));
  }
  const auto expected = Rows(paths);
  std::vector<size_t> order = {0, 1, 2, 3};
  do {
    // Given once all are merged.
    const auto all = kCollectivesView.make({});
    prof::CollectiveSet calls;
    for (const size_t i : order) {
      FoundInProfiles found = FindIn(kView, {paths[i]});
      all->Merge(*found.partial);
      calls.Merge(std::move(found.calls));
    }
    const prof::CollectiveMatches matches(calls);
    // Each given its own, then merged: partials of partials.
    std::vector<std::unique_ptr<prof::Partial>> parts;
    for (const size_t i : order) {
      parts.push_back(kCollectivesView.make({}));
      parts.back()->AddCalls(matches.RowsOf(i));
    }
    parts[0]->Merge(*parts[1]);
    parts[2]->Merge(*parts[3]);
    parts[2]->Merge(*parts[0]);
    ASSERT_EQ(RowsOf(*parts[2]), expected);
    GiveCalls(calls, all.get());
    ASSERT_EQ(RowsOf(*all), expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CollectivesTest, HostileTimesStayWithinBounds) {
  constexpr int64_t kMin = INT64_MIN;
  constexpr int64_t kMax = INT64_MAX;
  const auto partial = kCollectivesView.make({});
  const auto sums = kCollectivesView.make({.by = {"kind"}});
  prof::CollectiveSet calls;
  for (int rank = 0; rank < 2; ++rank) {
    MadeRun made;
    made.trace.rank_name = made.trace.strings.Intern(std::to_string(rank));
    made.trace.clock_offset_ns = rank == 0 ? kMax : kMin;
    for (const auto& [start_ns, end_ns] : std::vector<std::pair<int64_t, int64_t>>{
             {kMin, -2}, {0, kMax}, {1, kMax - rank}, {kMax - 1, kMax}, {5, 4}, {kMin, kMax}}) {
      made.AddKernel(start_ns, end_ns, kNoLaunch, "ncclDevKernel_AllReduce()");
      made.AddKernel(start_ns, end_ns, kNoLaunch, "gemm");
    }
    calls.Merge(made.calls());
  }
  GiveCalls(calls, partial.get());
  GiveCalls(calls, sums.get());
  const auto rows = RowsOf(*partial);
  EXPECT_EQ(rows.size(), 8u);
  for (const ViewRow& row : rows) {
    EXPECT_GE(std::stoll(row.at("latency_ns")), 0);
    if (row.at("wait_ns").empty()) continue;
    EXPECT_GE(std::stoll(row.at("wait_ns")), 0);
    EXPECT_EQ(std::stoll(row.at("wait_ns")) + std::stoll(row.at("transfer_ns")),
              std::stoll(row.at("latency_ns")));
  }
  ASSERT_EQ(RowsOf(*sums).size(), 1u);
  EXPECT_GE(std::stoll(RowsOf(*sums)[0].at("latency_ns")), 0);
}

}  // namespace
}  // namespace oplens::test::collectives_test
