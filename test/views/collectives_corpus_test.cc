// The views of several ranks over the profiles of the corpus: what must hold of any profile, and
// what is known of some.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::collectives_corpus_test {
namespace {

/// Folders with several ranks of one run.
constexpr const char* kRuns[] = {"ddp_sampled_w128", "dlrm_w8", "linear_tp2", "llama_tp2"};
/// Files and folders of one rank.
constexpr const char* kAlone[] = {"b200",
                                  "cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
                                  "cpu_only/rank_non_gpu.json.gz",
                                  "ddp_a100_nccl_meta",
                                  "ddp_v100_memory",
                                  "diff_ddp/control_a100_rank3.json.gz",
                                  "diff_ddp/test_v100_rank1.json.gz",
                                  "llama_tp2_dim1024",
                                  "mi300",
                                  "resnet50_num_workers_0",
                                  "v100_ns"};

std::vector<ViewRow> Rows(std::string_view view, const std::string& name,
                          const std::vector<std::string>& by = {}) {
  prof::ViewOptions options;
  options.by = by;
  return RowsOf(
      *PartialOf(ViewNamed(view), {(CorpusDir().path / "kineto" / name).string()}, options));
}

int64_t Ns(const ViewRow& row, const std::string& key) {
  return row.at(key).empty() ? 0 : std::stoll(row.at(key));
}

void CheckCall(const ViewRow& row) {
  EXPECT_EQ(row.at("wait_ns").empty(), row.at("transfer_ns").empty());
  if (!row.at("wait_ns").empty()) {
    EXPECT_GE(Ns(row, "wait_ns"), 0);
    EXPECT_EQ(Ns(row, "wait_ns") + Ns(row, "transfer_ns"), Ns(row, "latency_ns"));
  }
  EXPECT_LE(Ns(row, "exposed_ns"), Ns(row, "latency_ns"));
  EXPECT_GE(Ns(row, "exposed_ns"), 0);
  // No link of one GPU is as fast: NVLink 5 has 900e9 bytes/s in a direction.
  for (const char* const key : {"algo_gbps", "bus_gbps", "seen_gbps"}) {
    if (row.at(key).empty()) continue;
    EXPECT_LT(std::stod(row.at(key)), 900) << key;
  }
  if (!row.at("algo_gbps").empty()) {
    EXPECT_LE(std::stod(row.at("seen_gbps")), std::stod(row.at("algo_gbps")) * (1 + 1e-12));
  }
}

void CheckSums(const std::string& name, const std::vector<ViewRow>& calls) {
  for (const std::vector<std::string>& by : std::vector<std::vector<std::string>>{
           {"kind"}, {"rank", "step"}, {"group", "dtype", "size"}}) {
    const auto sums = Rows("collectives", name, by);
    for (const auto& [of_sum, of_call] :
         std::map<std::string, std::string>{{"latency_ns", "latency_ns"},
                                            {"wait_ns", "wait_ns"},
                                            {"transfer_ns", "transfer_ns"},
                                            {"exposed_ns", "exposed_ns"},
                                            {"total_bytes", "size_bytes"}}) {
      int64_t left = 0;
      for (const ViewRow& row : calls) left += Ns(row, of_call);
      for (const ViewRow& row : sums) left -= Ns(row, of_sum);
      EXPECT_EQ(left, 0) << by[0] << " " << of_sum;
    }
    for (const ViewRow& row : sums) {
      EXPECT_EQ(Ns(row, "wait_ns") + Ns(row, "transfer_ns") + Ns(row, "unmatched_ns"),
                Ns(row, "latency_ns"));
    }
  }
}

/// The parts sum to the step, and are those of the view `overview`.
void CheckSteps(const std::string& name) {
  std::map<std::string, ViewRow> overview;
  for (const ViewRow& row : Rows("overview", name)) {
    overview[row.at("rank") + "/" + row.at("step")] = row;
  }
  for (const ViewRow& row : Rows("distributed", name)) {
    if (row.at("step") == "mean") continue;
    SCOPED_TRACE("rank " + row.at("rank") + ", step " + row.at("step"));
    EXPECT_EQ(Ns(row, "computation_ns") + Ns(row, "overlap_ns") + Ns(row, "communication_ns") +
                  Ns(row, "other_ns"),
              Ns(row, "total_ns"));
    EXPECT_GE(Ns(row, "other_ns"), Ns(row, "memory_ns"));
    const ViewRow& same = overview.at(row.at("rank") + "/" + row.at("step"));
    EXPECT_EQ(row.at("total_ns"), same.at("total_ns"));
    EXPECT_EQ(Ns(row, "computation_ns") + Ns(row, "overlap_ns"), Ns(same, "kernel_ns"));
    EXPECT_EQ(Ns(row, "overlap_ns") + Ns(row, "communication_ns"),
              Ns(same, "comm_exposed_ns") + Ns(same, "comm_hidden_ns"));
  }
}

void CheckAll(const std::string& name) {
  SCOPED_TRACE(name);
  const auto calls = Rows("collectives", name);
  for (const ViewRow& row : calls) CheckCall(row);
  CheckSums(name, calls);
  CheckSteps(name);
}

TEST(CollectivesCorpusTest, WhatMustHold) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  for (const char* const name : kRuns) CheckAll(name);
  for (const char* const name : kAlone) CheckAll(name);
}

TEST(CollectivesCorpusTest, EightRanksHaveAllCalls) {
  OPLENS_NEED_CORPUS();
  const auto rows = Rows("collectives", "dlrm_w8");
  ASSERT_EQ(rows.size(), 64u);
  for (const ViewRow& row : rows) {
    EXPECT_EQ(row.at("match"), "order");
    EXPECT_EQ(row.at("matched_ranks"), "8");
    EXPECT_NE(row.at("size_bytes"), "");
    // Clocks agree once they are set right: ends differ by microseconds.
    EXPECT_LE(std::abs(Ns(row, "residual_ns")), 20'000);
  }
}

TEST(CollectivesCorpusTest, TheSecondRankWaitsForTheFirst) {
  OPLENS_NEED_CORPUS();
  const auto rows = Rows("collectives", "linear_tp2");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(Ns(rows[0], "wait_ns"), 0);
  EXPECT_GT(Ns(rows[1], "wait_ns"), 11'000'000);
  // Two ranks of one machine, whose clock both files tell: they end within two microseconds.
  EXPECT_LE(std::abs(Ns(rows[1], "clock_ns")), 2'000);
}

}  // namespace
}  // namespace oplens::test::collectives_corpus_test
