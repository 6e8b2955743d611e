// What the system is asked about files grows with their number, not with its square.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "test/support/counted_calls.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::test::path_calls_test {
namespace {

namespace fs = std::filesystem;

constexpr int kFewest = 25;

struct Calls {
  int64_t first = 0;  ///< Of the run that writes the summaries,
  int64_t again = 0;  ///< of one that finds them up to date.
};

/// Of `prof --summary` over so many ranks; nullopt: processes cannot be traced here.
std::optional<Calls> CallsFor(int ranks, bool named) {
  const fs::path folder = TestDir() / fmt::format("run{}{}", ranks, named ? "named" : "");
  const fs::path summaries = TestDir() / fmt::format("sums{}{}", ranks, named ? "named" : "");
  fs::create_directories(folder);
  fs::create_directories(summaries);
  std::vector<std::string> command = {
      Program("prof"), "--summary",        "--summary-views", "ranks",
      "--summary-dir", summaries.string(), "--jobs",          "1"};
  for (int rank = 0; rank < ranks; ++rank) {
    KinetoBuilder builder;
    builder.AddMember("distributedInfo",
                      fmt::format(R"({{"rank": {}, "world_size": {}}})", rank, ranks));
    builder.AddKernel({.name = "gemm", .start_ns = 5'000, .duration_ns = 1'000});
    const fs::path path = folder / fmt::format("rank{}.json", rank);
    builder.Write(path);
    if (named) command.push_back(path.string());
  }
  if (!named) command.push_back(folder.string());
  Calls calls;
  for (int64_t* const count : {&calls.first, &calls.again}) {
    const std::optional<CountedRun> run = RunCounted(command);
    if (!run) return std::nullopt;
    EXPECT_EQ(run->exit_code, 0);
    *count = run->path_calls;
  }
  EXPECT_EQ(FilesIn(summaries).size(), static_cast<size_t>(ranks));
  return calls;
}

/// Twice as many files more cost twice as much more.
void ExpectLinear(int64_t one, int64_t two, int64_t four) {
  EXPECT_GT(two, one);
  const auto of_first = static_cast<double>(two - one);
  const auto of_second = static_cast<double>(four - two);
  EXPECT_NEAR(of_second / of_first, 2, 0.1) << one << ' ' << two << ' ' << four;
}

TEST(PathCallsTest, SummariesOfRanksAskLinearlyOften) {
  for (const bool named : {false, true}) {
    SCOPED_TRACE(named ? "named files" : "a folder");
    std::vector<Calls> calls;
    for (const int ranks : {kFewest, 2 * kFewest, 4 * kFewest}) {
      const std::optional<Calls> of = CallsFor(ranks, named);
      if (!of) GTEST_SKIP() << "processes cannot be traced here";
      calls.push_back(*of);
    }
    ExpectLinear(calls[0].first, calls[1].first, calls[2].first);
    ExpectLinear(calls[0].again, calls[1].again, calls[2].again);
    EXPECT_LT(calls[2].again, calls[2].first);
  }
}

}  // namespace
}  // namespace oplens::test::path_calls_test
