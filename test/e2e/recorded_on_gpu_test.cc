// Recordings of a GPU (examples/data/h200/README.md): what `record` and PyTorch's profiler saw of
// the same steps, and small recordings whose contents are known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::recorded_on_gpu_test {
namespace {

using nlohmann::json;

std::string Data(const std::string& name) { return SourceDir() + "/examples/data/h200/" + name; }

std::vector<json> Kernels(const std::string& name, const std::string& columns) {
  return ProfRows(Data(name), {"-c", columns});
}

/// The cells of a column, one a line and numbered, so that a difference is shown where it begins.
std::string Column(const std::vector<json>& rows, const std::string& column) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    text += std::to_string(i + 1) + " " + rows[i][column].dump() + "\n";
  }
  return text;
}

class SameStepsTest : public testing::TestWithParam<const char*> {};

TEST_P(SameStepsTest, ARecordingAndATraceOfPyTorchAgree) {
  const std::string name = std::string("today/") + GetParam();
  const std::string columns = "kernel,op,dir,flops,grid";
  const std::vector<json> recorded = Kernels(name + ".sql.gz", columns);
  const std::vector<json> traced = Kernels(name + ".json.gz", columns);
  EXPECT_FALSE(recorded.empty());
  for (const char* column : {"kernel", "grid", "op", "dir", "flops"}) {
    EXPECT_EQ(Column(recorded, column), Column(traced, column)) << column;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, SameStepsTest,
                         testing::Values("allocations", "amp", "compiled_graphs", "copies", "ddp",
                                         "float8", "float8_dynamic", "fsdp", "int4_weights",
                                         "int8_weights", "nested_tensors", "triton_op",
                                         "variable_lengths"),
                         [](const auto& program) { return std::string(program.param); });

// A convolution of 16 x 3 x 32 x 32 by 32 filters of 3 x 3 whose input needs no gradient: two
// kernels of one gradient, the second of which adds up what the first computed in parts.
TEST(RecordedOnGpuTest, AGradientInTwoKernelsCountsOnce) {
  int64_t flops = 0;
  int64_t kernels = 0;
  for (const json& row : Kernels("today/amp.sql.gz", "kernel,op,flops,grad")) {
    if (row["op"] != "convolution_backward") continue;
    flops += row["flops"].get<int64_t>();
    const std::string kernel = row["kernel"];
    if (kernel.find("wgrad") == std::string::npos) continue;
    ++kernels;
    if (row["flops"] != 0) {
      EXPECT_EQ(row["grad"], "wgrad");
    }
  }
  EXPECT_EQ(kernels, 4) << "two in each of two steps";
  EXPECT_EQ(flops, 2 * (2 * 16 * 32 * 32 * 32 * 3 * 3 * 3));
}

struct Recording {
  const char* name;
  size_t kernels;
};

TEST(RecordedOnGpuTest, EveryKernelHasAnOp) {
  for (const auto& [name, kernels] :
       {Recording{"mlp_step.sql.gz", 34}, {"emit_nvtx.sql.gz", 40}, {"oplens_torch.sql.gz", 40}}) {
    SCOPED_TRACE(name);
    const std::vector<json> rows = Kernels(name, "kernel,op,dir");
    EXPECT_EQ(rows.size(), kernels);
    for (const json& row : rows) {
      EXPECT_TRUE(row["op"].is_string()) << row;
      EXPECT_TRUE(row["dir"].is_string()) << row;
    }
  }
}

// The same step, annotated in both ways.
TEST(RecordedOnGpuTest, BothAnnotationsOfAStepNameTheSameOps) {
  const std::vector<json> ours = Kernels("oplens_torch.sql.gz", "kernel,op,dir");
  const std::vector<json> torch = Kernels("emit_nvtx.sql.gz", "kernel,op,dir");
  for (const char* column : {"kernel", "op", "dir"}) {
    EXPECT_EQ(Column(ours, column), Column(torch, column));
  }
}

// A step of 40 kernels, its capture, three replays.
TEST(RecordedOnGpuTest, ReplaysOfACapturedStepHaveItsOps) {
  std::map<std::string, int64_t> replayed;
  int64_t kernels = 0;
  for (const json& record : Records(Data("graph.sql.gz"))) {
    if (record["launch"] != "cudaGraphLaunch") continue;
    ++kernels;
    ASSERT_FALSE(record["op"].empty()) << record;
    ++replayed[record["op"][0].get<std::string>()];
  }
  EXPECT_EQ(kernels, 120);
  EXPECT_EQ(replayed.size(), 22u);
  for (const auto& [op, count] : replayed) EXPECT_EQ(count % 3, 0) << op;
}

// What PyTorch's allocator told while two steps ran: allocations and releases within ops.
TEST(RecordedOnGpuTest, EventsOfTheAllocatorAreRecorded) {
  int64_t moments = 0;
  for (const json& row : ProfRows(Data("today/allocations.sql.gz"), {"--view", "memory"})) {
    if (row["device"] != "GPU0") continue;
    ++moments;
    EXPECT_EQ(row["total"], "recorded");
    EXPECT_EQ(row["peak_bytes"], 86532096);
  }
  EXPECT_EQ(moments, 135);
}

}  // namespace
}  // namespace oplens::test::recorded_on_gpu_test
