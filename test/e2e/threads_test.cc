// --threads: a trace that is large enough for threads to be started gives the same bytes with any
// number of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"

namespace oplens::test::threads_test {
namespace {

constexpr int kKernels = 6000;  // About 4.5 MB, of which threads share all but 2.

/// A trace with an unreadable event in it.
std::filesystem::path LargeTrace() {
  KinetoBuilder builder;
  for (int i = 0; i < kKernels; ++i) {
    const int64_t start_ns = i * int64_t{10'000};
    builder.AddOperator({.name = i % 3 == 0 ? "aten::add" : "aten::mm",
                         .start_ns = start_ns,
                         .duration_ns = 5000,
                         .dims = fmt::format("[[{}, 32], [32, 64]]", 16 + i % 5),
                         .types = R"(["float", "float"])",
                         .sequence = i});
    builder.Launch({.name = fmt::format("kernel_{}", i % 11), .duration_ns = 2000 + i % 7},
                   start_ns + 1000);
    if (i == kKernels * 3 / 4) builder.AddRaw(R"({"ph": "X", "ts": nan, "name": "a " quote"})");
  }
  std::filesystem::path path = TestDir() / "large.json";
  builder.Write(path);
  return path;
}

/// A database with tables of more than 2 MB of pages.
std::filesystem::path LargeDatabase() {
  SmallProfile profile;
  for (int i = 0; i < 4 * kKernels; ++i) {
    profile.AnnotatedKernel(i % 3 == 0 ? "add" : "mm", i, "kernel_" + std::to_string(i % 11));
  }
  return profile.Write();
}

class ThreadsTest : public testing::TestWithParam<bool> {};

TEST_P(ThreadsTest, OutputIsTheSameForAnyNumber) {
  const std::string path = (GetParam() ? LargeDatabase() : LargeTrace()).string();
  EXPECT_GT(std::filesystem::file_size(path), 5U << 19);
  const int64_t kernels = GetParam() ? 4 * kKernels : kKernels;
  const auto outputs = [&](const std::string& threads) {
    std::string all;
    for (const RunResult& result :
         {RunParse({"--threads", threads, path}),
          RunParse({"--threads", threads, "--format", "jsonl", path}),
          RunProf({"--threads", threads, "--csv", "-c", "all", path}),
          RunProf({"--threads", threads, "--csv", "-c", "kernel,op,launch_delay", "--top", "9",
                   "--where", "sil>2002", path}),
          RunProf({"--threads", threads, "--by", "op,kernel", "--json", path, path}),
          RunProf({"--threads", threads, "--view", "all", "--json", path}),
          RunProf({"--threads", threads, "--view", "kernels,operators,launches", "--json", path}),
          RunProf({"--threads", threads, "--view", "kernels,idle", "--json", "--time-range", "5-30",
                   path})}) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      all += result.out + result.err;
    }
    return all;
  };
  const std::string one = outputs("1");
  EXPECT_EQ(LineCount(RunParse({path}).out), kernels);
  for (const char* threads : {"2", "3", "8"}) {
    // Not EXPECT_EQ, which would print megabytes.
    EXPECT_TRUE(outputs(threads) == one) << threads;
  }
}

TEST_P(ThreadsTest, AFullDiskIsToldAlike) {
  const std::string path = (GetParam() ? LargeDatabase() : LargeTrace()).string();
  const auto told = [&](const std::string& threads) {
    std::string all;
    for (const RunResult& result :
         {RunParse({"--threads", threads, "-o", "/dev/full", path}),
          RunProf({"--threads", threads, "--csv", "-o", "/dev/full", path}),
          RunProf({"--threads", threads, "--view", "all", "--json", "-o", "/dev/full", path})}) {
      EXPECT_NE(result.exit_code, 0);
      all += fmt::format("{}: {}\n", result.exit_code, result.err);
    }
    return all;
  };
  const std::string one = told("1");
  EXPECT_NE(one.find("/dev/full"), std::string::npos) << one;
  for (const char* threads : {"2", "8"}) EXPECT_EQ(told(threads), one);
}

INSTANTIATE_TEST_SUITE_P(Files, ThreadsTest, testing::Values(false, true));

TEST(Threads, NumbersOutOfRangeAreRefused) {
  for (const char* threads : {"0", "-1", "17"}) {
    const RunResult result = RunParse({"--threads", threads, "x.json"});
    EXPECT_EQ(result.exit_code, 2) << threads;
    EXPECT_NE(result.err.find("threads"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace oplens::test::threads_test
