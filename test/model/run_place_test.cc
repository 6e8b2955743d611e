#include "parse/model/run_place.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace oplens::run_place_test {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

RunPlace PlaceOf(const Variables& variables) {
  RankVariables environment;
  for (const auto& [name, value] : variables) environment.Take(name, value);
  return environment.Place();
}

TEST(RankVariables, OfEachLauncher) {
  EXPECT_EQ(PlaceOf({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"GROUP_RANK", "1"}}),
            (RunPlace{3, 8, 1, 1}));
  EXPECT_EQ(PlaceOf({{"OMPI_COMM_WORLD_RANK", "5"},
                     {"OMPI_COMM_WORLD_SIZE", "6"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}}),
            (RunPlace{5, 6, 2, -1}));
  EXPECT_EQ(PlaceOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), (RunPlace{0, 2, -1, -1}));
  EXPECT_EQ(PlaceOf({{"SLURM_PROCID", "9"},
                     {"SLURM_NTASKS", "16"},
                     {"SLURM_LOCALID", "1"},
                     {"SLURM_NODEID", "1"},
                     {"SLURM_STEP_ID", "0"}}),
            (RunPlace{9, 16, 1, 1}));
}

TEST(RankVariables, TheNearestLauncherCounts) {
  // srun starts torchrun, which starts four processes a node.
  EXPECT_EQ(PlaceOf({{"SLURM_PROCID", "1"},
                     {"SLURM_NTASKS", "2"},
                     {"SLURM_STEP_ID", "0"},
                     {"RANK", "6"},
                     {"WORLD_SIZE", "8"}}),
            (RunPlace{6, 8, -1, -1}));
}

TEST(RankVariables, SayNothingOfWhatIsNoRun) {
  EXPECT_EQ(PlaceOf({}), RunPlace());
  EXPECT_EQ(PlaceOf({{"RANK", "0"}, {"WORLD_SIZE", "1"}}), RunPlace());
  EXPECT_EQ(PlaceOf({{"RANK", "3"}}), RunPlace()) << "some other program's RANK";
  EXPECT_EQ(PlaceOf({{"RANK", "8"}, {"WORLD_SIZE", "8"}}), RunPlace());
  // The script of a batch job, in which no srun has run yet.
  EXPECT_EQ(PlaceOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), RunPlace());
}

TEST(RankVariables, PassOverWhatIsNoNumber) {
  for (const char* value :
       {"", "x", "-1", "+1", "1x", " 1", "2147483648", "99999999999999999999"}) {
    EXPECT_EQ(PlaceOf({{"RANK", value}, {"WORLD_SIZE", "8"}}), RunPlace()) << value;
  }
  // Behind it the next launcher.
  EXPECT_EQ(PlaceOf({{"RANK", "A"}, {"WORLD_SIZE", "8"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "8"}}),
            (RunPlace{1, 8, -1, -1}));
}

TEST(RankOfPath, IsInTheNameOrThatOfTheFolder) {
  const std::vector<std::pair<std::string, int64_t>> cases = {
      {"rank3.json", 3},
      {"run/trace_rank_12_step5.json.gz", 12},
      {"run/Rank-07.pt.trace.json", 7},
      {"x.rank=1.sqlite", 1},
      {"run/rank_2/net.sql", 2},
      {"rank9/rank4.sql", 4},
      {"net_local_rank0_rank5.json", 5},
      {"rank2147483647.json", 2147483647},
      {"net.sql", -1},
      {"rank.json", -1},
      {"rankine5.json", -1},
      {"frank5.json", -1},
      {"local_rank5.json", -1},
      {"node-rank5.json", -1},
      {"rank2147483648.json", -1},
      {"rank_2/run/net.sql", -1},
      {"rank--3.json", -1},
      {"rank", -1},
      {"-", -1},
      {"", -1},
  };
  for (const auto& [path, rank] : cases) EXPECT_EQ(RankOfPath(path), rank) << path;
}

}  // namespace
}  // namespace oplens::run_place_test
