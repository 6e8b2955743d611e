// Ranges that are not closed, kernels without times or launches, shared launches.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::ranges_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

TEST(OpenRange, GivesContextButNeitherOpNorCost) {
  SmallProfile profile;
  profile.thread.PushAndLeak("layer:block");
  profile.thread.PushAndLeak("warm-up");
  profile.thread.PushAndLeak(OpText("add"));
  profile.thread.PushAndLeak("add, seq = 5");
  profile.thread.Launch({});
  const fs::path file = profile.Write();

  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(CountedReason(result, "open-range"), 4);
  const auto records = Records(file);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["layer"], json({"block"})) << records[0];
  EXPECT_EQ(records[0]["range"],
            json({"warm-up [open]", "Tensor.add [open]", "add, seq = 5 [open]"}));
  EXPECT_EQ(records[0]["op"], json::array());
  EXPECT_EQ(records[0]["marker"], json::array());
  EXPECT_THAT(records[0]["reason"], Contains("open-range"));
  EXPECT_EQ(RunParse({"--strict", file.string()}).exit_code, 0) << "an open range is no damage";
}

TEST(OpenRange, GivesTheOpWhenAskedTo) {
  SmallProfile profile;
  profile.thread.PushAndLeak(OpText("add"));
  profile.thread.PushAndLeak("add, seq = 5");
  profile.thread.Launch({});
  const auto records = Records(profile.Write(), {"--keep-open"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["op"], json({"add"}));
  EXPECT_EQ(records[0]["seqId"], json({5}));
  EXPECT_EQ(records[0]["dir"], "fprop");
}

TEST(LeakedRange, NineOfOneTextOnAThreadAreLeftOutAndCounted) {
  SmallProfile profile;
  for (int i = 0; i < 9; ++i) profile.thread.PushAndLeak("__getattr__");
  profile.thread.PushAndLeak("epoch");
  profile.thread.Launch({});
  const fs::path file = profile.Write();
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(CountedReason(result, "leaked-range"), 9);
  EXPECT_EQ(CountedReason(result, "open-range"), 1);
  const auto records = Records(file);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["range"], json({"epoch [open]"}));
}

TEST(LeakedRange, EightOfOneTextAreKept) {
  SmallProfile profile;
  for (int i = 0; i < 8; ++i) profile.thread.PushAndLeak("__getattr__");
  profile.thread.Launch({});
  const fs::path file = profile.Write();
  EXPECT_EQ(CountedReason(RunParse({file.string()}), "leaked-range"), 0);
  EXPECT_EQ(Records(file)[0]["range"].size(), 8u);
}

TEST(LeakedRange, IsCountedPerThread) {
  SmallProfile profile;
  HostThread other(&profile.state, 452974336, 1'000'000);
  for (int i = 0; i < 5; ++i) profile.thread.PushAndLeak("__getattr__");
  for (int i = 0; i < 5; ++i) other.PushAndLeak("__getattr__");
  profile.thread.Launch({});
  const fs::path file = profile.Write();
  EXPECT_EQ(CountedReason(RunParse({file.string()}), "leaked-range"), 0);
  EXPECT_EQ(Records(file)[0]["range"].size(), 5u);
}

TEST(RangePath, KeepsSixteenAndSaysHowManyMoreThereWere) {
  SmallProfile profile;
  for (int i = 0; i < 20; ++i) profile.thread.Push(fmt::format("depth {}", i));
  profile.thread.Launch({});
  for (int i = 0; i < 20; ++i) profile.thread.Pop();
  const auto records = Records(profile.Write());
  ASSERT_EQ(records[0]["range"].size(), 16u);
  EXPECT_EQ(records[0]["range"][0], "depth 0");
  EXPECT_EQ(records[0]["rangeCut"], 4);
}

TEST(Untimed, KernelsComeLastAndAreNotSummed) {
  SmallProfile profile;
  for (int i = 0; i < 3; ++i) profile.AnnotatedKernel("add", i + 1, fmt::format("kernel_{}", i));
  Row& first = profile.builder.rows("CONCURRENT_KERNEL")[0];
  first["start"] = int64_t{0};
  first["end"] = int64_t{0};
  const fs::path file = profile.Write();
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(CountedReason(result, "untimed"), 1);
  const auto records = Records(file);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[2]["kLongName"], "kernel_0");
  EXPECT_EQ(records[2]["kDuration"], 0);
  EXPECT_EQ(records[2]["op"], json({"add"})) << "its launch is known all the same";
  EXPECT_THAT(records[2]["reason"], Contains("untimed"));
  EXPECT_EQ(RunParse({"--strict", file.string()}).exit_code, 3);
}

TEST(Untimed, SeveralKeepTheOrderOfCorrelationId) {
  SmallProfile profile;
  for (int i = 0; i < 4; ++i) profile.AnnotatedKernel("add", i + 1, fmt::format("kernel_{}", i));
  for (Row& row : profile.builder.rows("CONCURRENT_KERNEL")) {
    row["start"] = int64_t{0};
    row["end"] = int64_t{0};
  }
  const auto records = Records(profile.Write({.shuffle_seed = 5}));
  ASSERT_EQ(records.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(records[i]["kLongName"], fmt::format("kernel_{}", i));
}

TEST(SharedLaunch, EveryKernelOfOneCallHasItsRanges) {
  SmallProfile profile;
  {
    const ScriptRange range(&profile.thread, "conv2d, seq = 3");
    const int64_t id = profile.thread.CallApi(311);  // cudaGraphLaunch
    for (int i = 0; i < 3; ++i) {
      profile.thread.RunKernel({.name = fmt::format("node_{}", i)}, id);
    }
  }
  const auto records = Records(profile.Write());
  ASSERT_EQ(records.size(), 3u);
  for (const json& record : records) EXPECT_EQ(record["seqId"], json({3}));
  EXPECT_EQ(records[0]["launch"], "cudaGraphLaunch");
}

TEST(Unlaunched, KernelHasNoThreadAndNoRanges) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel_0");
  {
    const ScriptRange range(&profile.thread, "mul, seq = 2");
    profile.thread.RunKernel({.name = "lost"}, 999999);
  }
  const fs::path file = profile.Write();
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(CountedReason(result, "no-launch"), 1);
  EXPECT_EQ(RunParse({"--strict", file.string()}).exit_code, 3);

  const auto records = Records(file);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1]["kLongName"], "lost");
  EXPECT_EQ(records[1]["tid"], 0);
  for (const char* key :
       {"layer", "trace", "marker", "seqMarker", "seqId", "altSeqId", "op", "mod", "range"}) {
    EXPECT_EQ(records[1][key], json::array()) << key;
  }
  EXPECT_EQ(records[1]["launch"], nullptr);
}

// nvprof --metrics fills KERNEL and leaves the API tables empty.
TEST(MetricsRun, YieldsItsKernelsUnlaunched) {
  SmallProfile profile;
  for (int i = 0; i < 4; ++i) {
    profile.thread.RunKernel({.name = fmt::format("kernel_{}", i)}, 100 + i, "KERNEL");
    profile.builder.Add("METRIC", {{"id", int64_t{7}}, {"correlationId", int64_t{100 + i}}});
  }
  const fs::path file = profile.Write();
  const RunResult result = RunParse({file.string()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(LineCount(result.out), 4);
  EXPECT_EQ(CountedReason(result, "no-launch"), 4);
}

TEST(Threads, OfTheSameNumberInTwoProcessesAreTwoThreads) {
  SmallProfile profile;
  ScriptState other_process{.builder = &profile.builder,
                            .next_correlation = 5001,
                            .next_marker = 5001,
                            .process_id = 777};
  HostThread other(&other_process, profile.thread.thread_id(), profile.thread.now_ns());
  {
    const ScriptRange here(&profile.thread, "here");
    const ScriptRange there(&other, "there");
    profile.thread.Launch({.name = "kernel_here"});
    other.Launch({.name = "kernel_there"});
  }
  for (const json& record : Records(profile.Write())) {
    const std::string name = record["kLongName"];
    EXPECT_EQ(record["range"], json({name.substr(7)}));
  }
}

TEST(Threads, RangeThatEndsOnAnotherThreadBelongsToItsFirst) {
  SmallProfile profile;
  HostThread other(&profile.state, 452974336, 1'000'000);
  const int64_t id = profile.thread.Push("prefetch");
  profile.thread.Launch({.name = "first"});
  profile.thread.Pop();
  for (Row& row : profile.builder.rows("MARKER")) {
    const bool is_end = std::get<int64_t>(row["flags"]) == 4 && std::get<int64_t>(row["id"]) == id;
    if (is_end) row["objectId"] = ThreadObject(profile.state.process_id, 452974336);
  }
  other.Launch({.name = "second"});
  for (const json& record : Records(profile.Write())) {
    const bool first = record["kLongName"] == "first";
    EXPECT_EQ(record["range"], first ? json({"prefetch"}) : json::array());
  }
}

TEST(Markers, InstantaneousOnesNeverEnclose) {
  SmallProfile profile;
  profile.thread.Instant("__start_profile");
  profile.AnnotatedKernel("add", 1, "kernel");
  const fs::path file = profile.Write();
  EXPECT_EQ(Records(file)[0]["range"], json::array());
  EXPECT_EQ(CountedReason(RunParse({file.string()}), "open-range"), 0);
}

TEST(Markers, FurtherFlagBitsAreIgnored) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 4, "kernel");
  for (Row& row : profile.builder.rows("MARKER")) {
    row["flags"] = std::get<int64_t>(row["flags"]) | 16;
  }
  EXPECT_EQ(Records(profile.Write())[0]["seqId"], json({4}));
}

}  // namespace
}  // namespace oplens::test::ranges_test
