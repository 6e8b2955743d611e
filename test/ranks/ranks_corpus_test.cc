// Sets of real profiles of several ranks: what ranks did is that of all their kernels, and every
// call of a collective is listed once. Numbers of them are counts and sums alone.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::ranks_corpus_test {
namespace {

constexpr const char* kSets[] = {"dlrm_w8", "llama_tp2", "linear_tp2", "diff_ddp",
                                 "ddp_sampled_w128"};

std::vector<ViewRow> Rows(const std::string& set, std::string_view view,
                          const std::vector<std::string>& by = {}) {
  prof::ViewOptions options;
  options.by = by;
  const std::string path = (CorpusDir().path / "kineto" / set).string();
  return RowsOf(*PartialOf(ViewNamed(view), {path}, options));
}

int64_t Sum(const std::vector<ViewRow>& rows, const std::string& key) {
  int64_t sum = 0;
  for (const ViewRow& row : rows) sum += row.at(key).empty() ? 0 : std::stoll(row.at(key));
  return sum;
}

TEST(RanksCorpusTest, KernelsAndTimesAreThoseOfAllRanks) {
  OPLENS_NEED_CORPUS();
  for (const char* const set : kSets) {
    SCOPED_TRACE(set);
    const auto ranks = Rows(set, "ranks");
    std::map<std::string, ViewRow> groups;
    for (const ViewRow& row : Rows(set, "groups", {"rank"})) groups[row.at("rank")] = row;
    ASSERT_EQ(groups.size(), ranks.size());
    for (const ViewRow& row : ranks) {
      EXPECT_EQ(row.at("kernels"), groups[row.at("rank")].at("count"));
      EXPECT_EQ(row.at("kernel_ns"), groups[row.at("rank")].at("total"));
    }
  }
}

TEST(RanksCorpusTest, EveryCollectiveIsMatchedOrListed) {
  OPLENS_NEED_CORPUS();
  for (const char* const set : kSets) {
    SCOPED_TRACE(set);
    const auto calls = Rows(set, "collectives");
    const auto by_rank = Rows(set, "collectives", {"rank"});
    EXPECT_EQ(Sum(by_rank, "calls"), static_cast<int64_t>(calls.size()));
    int64_t matched = 0;
    for (const ViewRow& row : calls) {
      const bool found = row.at("match") == "order" || row.at("match") == "sequence";
      EXPECT_EQ(found, row.at("matched_ranks") != "1");
      if (found && !row.at("wait_ns").empty()) ++matched;
    }
    EXPECT_EQ(Sum(by_rank, "matched_calls"), matched);
    EXPECT_EQ(Sum(Rows(set, "stragglers"), "calls"), matched);
  }
}

// Few steps are recorded of each: who is named is not tested, and is whom the view culprits names.
TEST(RanksCorpusTest, OfFewStepsNothingIsTested) {
  OPLENS_NEED_CORPUS();
  for (const char* const set : kSets) {
    SCOPED_TRACE(set);
    const auto rows = Rows(set, "stragglers");
    EXPECT_EQ(rows.size(), Rows(set, "ranks").size());
    std::map<std::string, std::string> causes;  // By rank.
    for (const ViewRow& row : Rows(set, "culprits")) {
      EXPECT_NE(row.at("test"), "tested");
      if (row.at("test").empty()) continue;
      causes[row.at("who")] = row.at("cause");
    }
    for (const ViewRow& row : rows) {
      EXPECT_NE(row.at("test"), "tested");
      if (row.at("test").empty()) continue;
      EXPECT_EQ(row.at("verdict"), causes["rank " + row.at("rank")]) << row.at("rank");
    }
    EXPECT_TRUE(Rows(set, "imbalance").empty());
  }
}

}  // namespace
}  // namespace oplens::test::ranks_corpus_test
