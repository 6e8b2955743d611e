// Rules of other tools that their own runs showed (bench/peers.py): docs/peers.md has the files.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "prof/compat/hta/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/device_run.h"

namespace oplens::prof::views_of_peers_test {
namespace {

using test::KinetoArgs;
using test::KinetoBuilder;
using test::ViewRow;

std::string Written(const KinetoBuilder& builder) {
  const auto path = test::TestDir() / "run.json";
  builder.Write(path);
  return path.string();
}

std::vector<ViewRow> HtaRows(std::string_view view, const KinetoBuilder& builder) {
  return RowsOver(test::ViewBy("hta", view), {Written(builder)});
}

KinetoArgs StreamArgs(int64_t stream, int64_t correlation) {
  return {{"stream", std::to_string(stream)}, {"correlation", std::to_string(correlation)}};
}

// MTIA's work is in a category of its own.
TEST(HtaPeersTest, WorkOfMtia) {
  KinetoBuilder builder;
  const int64_t first = builder.AddCall("runFunction - job_prep_and_submit_for_execution", 0, 2'000,
                                        1234, "mtia_runtime");
  const int64_t second = builder.AddCall("runFunction - job_prep_and_submit_for_execution", 40'000,
                                         2'000, 1234, "mtia_runtime");
  builder.AddDevice("mtia_ccp_events", "fc", 10'000, 20'000, StreamArgs(104, first));
  builder.AddDevice("mtia_ccp_events", "dma_copy", 50'000, 5'000, StreamArgs(104, second));
  const ViewRow temporal = HtaRows("temporal", builder).at(0);
  EXPECT_EQ(temporal.at("compute_ns"), "20000");
  EXPECT_EQ(temporal.at("non_compute_ns"), "5000");
  EXPECT_EQ(temporal.at("kernel_ns"), "45000");
  const ViewRow launches = HtaRows("launches", builder).at(0);
  EXPECT_EQ(launches.at("launches"), "2");
  EXPECT_EQ(launches.at("gpu_ns"), "25000");
  const ViewRow idle = HtaRows("idle", builder).at(0);
  EXPECT_EQ(idle.at("stream"), "104");
  EXPECT_EQ(idle.at("cause"), "host_wait");
  EXPECT_EQ(idle.at("idle_ns"), "20000");
}

// Older files have 2^32 - 1 as the stream of a wait for the whole GPU, which then is one.
TEST(HtaPeersTest, WaitsOfAllStreams) {
  for (const int64_t stream : {int64_t{4'294'967'295}, int64_t{-1}}) {
    KinetoBuilder builder;
    builder.Launch({.name = "gemm", .duration_ns = 10'000}, 0);
    builder.AddDevice("cuda_sync", "Context Sync", 100'000, 50'000, StreamArgs(stream, 77));
    const ViewRow row = HtaRows("temporal", builder).at(0);
    EXPECT_EQ(row.at("kernel_ns"), stream == -1 ? "9000" : "147000") << stream;
  }
}

// Work whose call is not in the file has the first event of the file for its call.
TEST(HtaPeersTest, TheFirstEventLaunchesWhatHasNoCall) {
  for (const int64_t start_ns : {int64_t{0}, int64_t{90'000}}) {
    KinetoBuilder builder;
    builder.AddHost("user_annotation", "[first]", start_ns, 1'000);
    builder.AddKernel({.name = "a", .start_ns = 10'000, .duration_ns = 5'000, .correlation = 900});
    builder.AddKernel({.name = "b", .start_ns = 20'000, .duration_ns = 5'000, .correlation = 901});
    std::map<std::string, std::string> idle;
    for (const ViewRow& row : HtaRows("idle", builder)) idle[row.at("cause")] = row.at("idle_ns");
    EXPECT_EQ(idle[start_ns == 0 ? "kernel_wait" : "host_wait"], "5000");
  }
}

// Of the work of one call, such as a graph's, the critical path knows the last only.
TEST(HtaPeersTest, TheLastKernelOfAGraph) {
  KinetoBuilder builder;
  builder.AddOperator({.name = "aten::step", .start_ns = 0, .duration_ns = 20'000});
  const int64_t graph = builder.AddCall("cudaGraphLaunch", 2'000, 5'000);
  for (int64_t i = 0; i < 3; ++i) {
    builder.AddKernel({.name = "gemm_" + std::to_string(i),
                       .start_ns = 30'000 + i * 40'000,
                       .duration_ns = 35'000,
                       .correlation = graph});
  }
  int64_t compute_ns = 0;
  for (const ViewRow& row : HtaRows("critical-path", builder)) {
    if (row.at("cause") == "gpu_compute_bound") compute_ns = std::stoll(row.at("time_ns"));
  }
  EXPECT_EQ(compute_ns, 35'000);
}

// Python's calls, waits and what the recorder took count in its diff; a call that names a stream
// is work of it.
TEST(HtaPeersTest, EverythingIsCompared) {
  KinetoBuilder builder;
  builder.AddHost("user_annotation", "ProfilerStep#1", 0, 100'000);
  builder.AddHost("python_function", "train.py(3): f", 1'000, 9'000);
  builder.AddHost("python_function", "nn.Module: Net_0", 2'000, 7'000, 1234,
                  {{"Python module id", "4"}});
  builder.AddHost("overhead", "Instrumentation", 3'000, 1'000);
  builder.AddOperator({.name = "triton_poi_fused_add_0",
                       .start_ns = 12'000,
                       .duration_ns = 5'000,
                       .more = {{"stream", "0"}}});
  const int64_t wait = builder.AddCall("cudaStreamSynchronize", 20'000, 9'000);
  builder.AddDevice("cuda_sync", "Stream Sync", 20'000, 8'000, StreamArgs(7, wait));
  std::map<std::string, std::string> found;
  for (const ViewRow& row :
       test::RowsOf(*test::PartialOf(HtaDiffNamesView(), {Written(builder)}))) {
    found[row.at("device") + " " + row.at("name")] = row.at("time_ns");
  }
  const std::map<std::string, std::string> expected = {{"cpu ProfilerStep#1", "100000"},
                                                       {"cpu train.py(3): f", "9000"},
                                                       {"cpu nn.Module: Net_0", "7000"},
                                                       {"cpu Instrumentation", "1000"},
                                                       {"gpu triton_poi_fused_add_0", "5000"},
                                                       {"cpu cudaStreamSynchronize", "9000"},
                                                       {"gpu Stream Sync", "8000"}};
  EXPECT_EQ(found, expected);
}

// ROCm has shared memory only at the call, and counts threads in the grid of some calls: to the
// plugin the kernel has none, and that grid.
TEST(TbPeersTest, NumbersOfTheKernelsOwnEvent) {
  KinetoBuilder builder;
  builder.AddOperator(
      {.name = "aten::mm", .start_ns = 0, .duration_ns = 9'000, .more = {{"External id", "5"}}});
  const int64_t call =
      builder.AddCall("hipExtModuleLaunchKernel", 1'000, 2'000, 1234, "cuda_runtime",
                      {{"External id", "5"}, {"shared memory", "16384"}});
  builder.AddDevice("kernel", "attn_fwd", 5'000, 4'000,
                    {{"stream", "0"},
                     {"device", "0"},
                     {"correlation", std::to_string(call)},
                     {"External id", "5"},
                     {"grid", "[1024, 8, 1]"},
                     {"block", "[256, 1, 1]"}});
  const auto partial = test::PartialOf(test::ViewBy("tb", "groups"), {Written(builder)},
                                       {.by = {"kernel", "op", "grid", "block", "regs", "smem"}});
  const auto rows = test::RowsOf(*partial);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("op"), "aten::mm");
  EXPECT_EQ(rows[0].at("smem"), "0");
  EXPECT_EQ(rows[0].at("grid"), "1024,8,1");
}

}  // namespace
}  // namespace oplens::prof::views_of_peers_test
