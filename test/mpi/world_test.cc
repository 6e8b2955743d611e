#include <fmt/format.h>
#include <gtest/gtest.h>

#include "test/mpi/mpirun.h"

namespace oplens::test::world_test {
namespace {

class WorldTest : public testing::TestWithParam<std::string> {};

TEST_P(WorldTest, TextsOfAnySizeComeAndNumbersComeOnce) {
  for (const int processes : {1, 2, 3, 8}) {
    const RunResult result = RunMpi(GetParam(), processes, "world_check", {});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, fmt::format("{} processes, 0 wrong\n", processes));
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WorldTest);
INSTANTIATE_TEST_SUITE_P(Mpi, WorldTest, testing::ValuesIn(MpiNames()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace oplens::test::world_test
