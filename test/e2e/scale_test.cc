// What must not grow: memory with the size of a profile, the output with ranges that enclose all.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::scale_test {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMegabyte = 1'000'000;

// `kernels` annotated kernels inside `depth` ranges that enclose them all.
fs::path BigProfile(int kernels, int depth) {
  SmallProfile profile;
  for (int i = 0; i < depth; ++i) profile.thread.Push(fmt::format("depth {}", i));
  for (int i = 0; i < kernels; ++i) profile.AnnotatedKernel("add", i + 1, "kernel");
  for (int i = 0; i < depth; ++i) profile.thread.Pop();
  return profile.Write();
}

// Sanitizers multiply the memory of a program.
bool IsSanitized() { return *OPLENS_SANITIZE != '\0'; }

// A profile of one annotated kernel, repeated by SQL: this process must stay small, since what it
// holds counts as memory of the programs that it starts (see RunResult).
fs::path RepeatedProfile(int kernels) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel");
  const fs::path path = profile.Write({.not_null = false});
  const std::string numbers = fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) ", kernels - 1);
  ExecSql(path,
          numbers +
              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(cbid, start, end, processId, threadId, "
              "correlationId) SELECT cbid, start + 100000 * i, end + 100000 * i, processId, "
              "threadId, correlationId + i FROM n, CUPTI_ACTIVITY_KIND_RUNTIME");
  ExecSql(path,
          numbers +
              "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER(flags, timestamp, id, objectKind, "
              "objectId, name) SELECT flags, timestamp + 100000 * i, id + 10 * i, objectKind, "
              "objectId, name FROM n, CUPTI_ACTIVITY_KIND_MARKER");
  ExecSql(path,
          numbers +
              "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, end, deviceId, contextId, "
              "streamId, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, "
              "staticSharedMemory, dynamicSharedMemory, correlationId, name) SELECT "
              "start + 100000 * i, end + 100000 * i, deviceId, contextId, streamId, gridX, gridY, "
              "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
              "dynamicSharedMemory, correlationId + i, name "
              "FROM n, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
  return path;
}

TEST(Memory, OfBothProgramsIsBounded) {
  if (IsSanitized()) GTEST_SKIP() << "memory says nothing under a sanitizer";
  constexpr int kKernels = 100'000;
  const fs::path database = RepeatedProfile(kKernels);
  const fs::path dict = database.parent_path() / "net.dict";
  const fs::path csv = database.parent_path() / "net.csv";
  const RunResult parse = RunParse({"--strict", "-o", dict.string(), database.string()});
  ASSERT_EQ(parse.exit_code, 0) << parse.err;
  const RunResult prof = RunProf({"-c", "all", "--csv", "-o", csv.string(), dict.string()});
  ASSERT_EQ(prof.exit_code, 0) << prof.err;
  const auto file_bytes = static_cast<int64_t>(fs::file_size(database));
  EXPECT_GT(file_bytes, 20 * kMegabyte);
  EXPECT_LT(parse.max_rss_bytes, 64 * kMegabyte + file_bytes * 35 / 100);
  EXPECT_LT(prof.max_rss_bytes, 64 * kMegabyte + 100 * kKernels);
}

TEST(Nesting, AddsAtMostSixteenTextsToALine) {
  const std::string flat = RunParse({BigProfile(500, 16).string()}).out;
  const std::string deep = RunParse({BigProfile(500, 700).string()}).out;
  EXPECT_EQ(LineCount(deep), 500);
  EXPECT_LT(deep.size(), flat.size() * 11 / 10);
}

// A leak as a public profile has it: 700 ranges of one text that are never closed.
TEST(Nesting, LeakOfSevenHundredRangesIsNotPrinted) {
  SmallProfile profile;
  for (int i = 0; i < 700; ++i) profile.thread.PushAndLeak("__getattr__");
  for (int i = 0; i < 100; ++i) profile.AnnotatedKernel("add", i + 1, "kernel");
  const RunResult result = RunParse({profile.Write().string()});
  EXPECT_EQ(CountedReason(result, "leaked-range"), 700);
  EXPECT_EQ(LineCount(result.out), 100);
  EXPECT_EQ(result.out.find("__getattr__"), std::string::npos);
}

}  // namespace
}  // namespace oplens::test::scale_test
