// Rows of kernels that no call launched and whose op or layer is inferred.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::inferred_rows_test {
namespace {

using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::ViewRow;
using Rows = std::map<std::string, ViewRow>;

constexpr int64_t kProductNs = 700;
constexpr int64_t kSumNs = 30;

/// Two modules whose ops are captured, one kernel of its own each, and a replay of the graph.
class InferredRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Module("Net_0", 0, 40'000);
    Module("Linear_1", 1000, 10'000);
    builder_.AddCall("hipStreamBeginCapture", 100, 50);
    Call("aten::mm", 2000, "[[2, 3], [3, 4]]", "gemm");
    Call("aten::add", 12'000, "[[2, 4], [2, 4]]", "add");
    builder_.AddCall("hipStreamEndCapture", 20'000, 50);
    // As recorded: an op that runs.
    Operator("aten::mm", 30'000, "[[2, 3], [3, 4]]");
    Kernel(builder_.AddCall("hipLaunchKernel", 30'100, 50), 31'000, kProductNs, "gemm");
  }

  void Replay(int64_t launch_ns, const std::string& first = "gemm") {
    const int64_t graph = builder_.AddCall("hipGraphLaunch", launch_ns, 50);
    Kernel(graph, launch_ns + 1000, kProductNs, first);
    Kernel(graph, launch_ns + 3000, kSumNs, "add");
  }

  Rows Find(const View& view, const std::string& key, const std::vector<std::string>& by = {}) {
    const std::filesystem::path path = test::TestDir() / "trace.json";
    builder_.Write(path);
    Rows rows;
    for (const ViewRow& row : test::RowsOf(*test::PartialOf(view, {path.string()}, {.by = by}))) {
      rows[row.at(key)] = row;
    }
    return rows;
  }

  KinetoBuilder builder_;
  std::string grid_ = "[1,1,1]";  // Of what is captured.

 private:
  void Module(const std::string& name, int64_t start_ns, int64_t end_ns) {
    builder_.AddHost("python_function", "nn.Module: " + name, start_ns, end_ns - start_ns);
  }
  void Operator(const std::string& name, int64_t start_ns, const std::string& dims) {
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_ns;
    op.duration_ns = 5000;
    op.dims = dims;
    op.types = R"(["float", "float"])";
    builder_.AddOperator(op);
  }
  void Call(const std::string& name, int64_t start_ns, const std::string& dims,
            const std::string& kernel) {
    Operator(name, start_ns, dims);
    builder_.AddCall("hipLaunchKernel", start_ns + 100, 50, 1234, "cuda_runtime",
                     {{"kernel", "\"" + kernel + "\""}, {"grid", grid_}});
  }
  void Kernel(int64_t correlation, int64_t start_ns, int64_t duration_ns, const std::string& name) {
    KinetoKernel kernel;
    kernel.name = name;
    kernel.start_ns = start_ns;
    kernel.duration_ns = duration_ns;
    kernel.correlation = correlation;
    builder_.AddKernel(kernel);
  }
};

TEST_F(InferredRowsTest, OperatorsHaveThemMarkedUnderTheirOp) {
  Replay(50'000);
  Replay(60'000);
  Rows rows = Find(kOperatorsView, "op");
  EXPECT_EQ(rows.count("(unattributed)"), 0u);
  ViewRow& product = rows["mm (inferred)"];
  EXPECT_EQ(product["calls"], "0");
  EXPECT_EQ(product["launches"], "2");
  EXPECT_EQ(product["device_self_ns"], "1400");
  EXPECT_EQ(product["device_total_ns"], "1400");
  EXPECT_EQ(product["device_busy_ns"], "1400");
  EXPECT_EQ(product["flops"], "96");
  EXPECT_EQ(product["host_self_ns"], "");
  EXPECT_EQ(product["mean_ns"], "");
  EXPECT_EQ(rows["add (inferred)"]["device_self_ns"], "60");
  // What is recorded stays as it is.
  EXPECT_EQ(rows["aten::mm"]["calls"], "2");
  EXPECT_EQ(rows["aten::mm"]["launches"], "1");
  EXPECT_EQ(rows["aten::mm"]["device_self_ns"], "700");
  EXPECT_EQ(rows["aten::mm"]["flops"], "48");
  EXPECT_EQ(rows["aten::add"]["device_self_ns"], "0");
}

TEST_F(InferredRowsTest, OperatorsSplitThemByTheirShapesAndLayers) {
  Replay(50'000);
  Rows rows = Find(kOperatorsView, "op", {"shape", "layer", "phase", "step"});
  EXPECT_EQ(rows["mm (inferred)"]["shape"], "(2,3);(3,4)");
  EXPECT_EQ(rows["mm (inferred)"]["layer"], "Net_0:Linear_1");
  EXPECT_EQ(rows["mm (inferred)"]["phase"], "forward");
  EXPECT_EQ(rows["add (inferred)"]["layer"], "Net_0");
  EXPECT_EQ(rows["add (inferred)"]["shape"], "(2,4);(2,4)");
}

TEST_F(InferredRowsTest, ModulesHaveThemMarkedInTheirLayer) {
  Replay(50'000);
  for (const std::vector<std::string>& by : {std::vector<std::string>{}, {"step"}}) {
    Rows rows = Find(kModulesView, "path", by);
    EXPECT_EQ(rows.count("(no module)"), 0u);
    ViewRow& net = rows["Net_0 (inferred)"];
    EXPECT_EQ(net["level"], "0");
    EXPECT_EQ(net["calls"], "0");
    EXPECT_EQ(net["ops"], "0");
    EXPECT_EQ(net["launches"], "1");
    EXPECT_EQ(net["device_self_ns"], "30");
    EXPECT_EQ(net["device_total_ns"], "730");
    EXPECT_EQ(net["bwd_device_total_ns"], "0");
    EXPECT_EQ(net["host_total_ns"], "0");
    ViewRow& linear = rows["Net_0 (inferred)/Linear_1"];
    EXPECT_EQ(linear["name"], "Linear_1");
    EXPECT_EQ(linear["device_self_ns"], "700");
    EXPECT_EQ(linear["flops"], "48");
    EXPECT_EQ(rows["Net_0"]["device_total_ns"], "700");
    EXPECT_EQ(rows["Net_0"]["ops"], "2");
  }
}

/// Of kernels of another grid the op is known, and no FLOPs of the captured sizes.
class OtherGridTest : public InferredRowsTest {
 protected:
  void SetUp() override {
    grid_ = "[2,1,1]";
    InferredRowsTest::SetUp();
  }
};

TEST_F(OtherGridTest, TheOpIsNotPriced) {
  Replay(50'000);
  Rows rows = Find(kOperatorsView, "op", {"shape"});
  EXPECT_EQ(rows["mm (inferred)"]["device_self_ns"], "700");
  EXPECT_EQ(rows["mm (inferred)"]["shape"], "");
  EXPECT_EQ(rows["mm (inferred)"]["flops"], "");
  EXPECT_EQ(rows["mm (inferred)"]["bytes"], "");
  EXPECT_EQ(rows["aten::mm"]["flops"], "48");
}

/// What the file does not tell stays without an op, and outside of all modules.
TEST_F(InferredRowsTest, WithoutAnOpButTheNamesTheyAreUnattributed) {
  Replay(50'000, "other");
  Rows rows = Find(kOperatorsView, "op");
  // The name of one kernel tells its op, but no module.
  EXPECT_EQ(rows["(unattributed)"]["device_self_ns"], "700");
  EXPECT_EQ(rows["add (inferred)"]["device_self_ns"], "30");
  Rows modules = Find(kModulesView, "path");
  EXPECT_EQ(modules["(no module)"]["device_self_ns"], "730");
  EXPECT_EQ(modules["(no module)"]["launches"], "2");
}

/// A graph that is launched in a module or op is the work of these.
TEST_F(InferredRowsTest, WhatACallLaunchesIsThatCalls) {
  KinetoOperator op;
  op.name = "my::replay";
  op.start_ns = 49'000;
  op.duration_ns = 5000;
  builder_.AddOperator(op);
  builder_.AddHost("python_function", "nn.Module: Graphed_0", 48'000, 9000);
  Replay(50'000);
  Rows rows = Find(kOperatorsView, "op");
  EXPECT_EQ(rows["my::replay"]["device_self_ns"], "730");
  EXPECT_EQ(rows.count("mm (inferred)"), 0u);
  Rows modules = Find(kModulesView, "path");
  EXPECT_EQ(modules["Graphed_0"]["device_self_ns"], "730");
  EXPECT_EQ(modules.count("Net_0 (inferred)"), 0u);
}

}  // namespace
}  // namespace oplens::prof::inferred_rows_test
