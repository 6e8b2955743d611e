#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parse/readers/open_trace.h"

namespace oplens::parse::settle_rank_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Case {
  int64_t metadata = kUnknownId;
  RunPlace environment = {};
  std::string path = "run/net.sql";
};

struct Settled {
  Trace trace;
  std::vector<std::string> notes;
};

Settled Settle(const Case& told) {
  Settled settled;
  settled.trace.rank = told.metadata;
  settled.trace.environment = told.environment;
  Diagnostics diagnostics;
  SettleRank(told.path, &settled.trace, &diagnostics);
  settled.notes = diagnostics.notes();
  return settled;
}

TEST(SettleRank, MetadataThenEnvironmentThenName) {
  EXPECT_EQ(Settle({}).trace.rank, kUnknownId);
  EXPECT_EQ(Settle({.path = "run/rank2.sql"}).trace.rank, 2);
  EXPECT_EQ(Settle({.environment = {1, 4, 1, 0}}).trace.rank, 1);
  EXPECT_EQ(Settle({.metadata = 0}).trace.rank, 0);
  for (const Case& alike : {Case{.metadata = 1, .environment = {1, 4, 1, 0}, .path = "rank1.sql"},
                            Case{.environment = {3, 4, 1, 0}, .path = "rank3.sql"}}) {
    EXPECT_THAT(Settle(alike).notes, IsEmpty());
  }
}

TEST(SettleRank, TellsWhereNamesOfFilesWereSwapped) {
  const Settled settled = Settle({.metadata = 1, .path = "run/rank0.json"});
  EXPECT_EQ(settled.trace.rank, 1);
  EXPECT_THAT(settled.notes,
              ElementsAre("run/rank0.json: is of rank 1 as its metadata says, though "
                          "the name of the file says 0"));
}

TEST(SettleRank, TellsEachContradiction) {
  const Settled settled =
      Settle({.metadata = 1, .environment = {2, 4, 0, 0}, .path = "run/rank3.json"});
  EXPECT_EQ(settled.trace.rank, 1);
  EXPECT_EQ(settled.notes.size(), 2u);
  EXPECT_EQ(settled.trace.world_size, kUnknownId) << "of another rank's environment";
  EXPECT_THAT(Settle({.environment = {2, 4, 0, 0}, .path = "rank3.sql"}).notes,
              ElementsAre("rank3.sql: is of rank 2 as its environment says, though the name of the "
                          "file says 3"));
}

TEST(SettleRank, TakesTheRestOfThePlaceFromTheEnvironment) {
  const Trace trace = Settle({.environment = {5, 8, 1, 2}}).trace;
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.local_rank, 1);
  EXPECT_EQ(trace.node, 2);
}

}  // namespace
}  // namespace oplens::parse::settle_rank_test
