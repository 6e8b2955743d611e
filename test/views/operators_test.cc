#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "parse/join/call_tree.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/random_cases.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::prof::operators_test {
namespace {

using test::AnyIn;
using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::Require;
using test::ViewRow;
using ::testing::HasSubstr;
using Rows = std::map<std::string, ViewRow>;

const View& kView = kOperatorsView;
constexpr int64_t kThread = 1234;
constexpr char kNccl[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

class OperatorsTest : public ::testing::Test {
 protected:
  void Call(const std::string& name, int64_t start_ns, int64_t end_ns, int64_t thread = kThread) {
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_ns;
    op.duration_ns = end_ns - start_ns;
    op.thread_id = thread;
    builder_.AddOperator(op);
  }
  /// A kernel that an API call of 100 ns at `launch_ns` launches.
  void Kernel(int64_t launch_ns, int64_t start_ns, int64_t duration_ns, int64_t stream = 7,
              int64_t thread = kThread) {
    KinetoKernel kernel;
    kernel.start_ns = start_ns;
    kernel.duration_ns = duration_ns;
    kernel.stream = stream;
    kernel.correlation = builder_.AddCall("cudaLaunchKernel", launch_ns, 100, thread);
    builder_.AddKernel(kernel);
  }
  void Kernel(int64_t launch_ns, int64_t start_ns, int64_t duration_ns, const char* name) {
    KinetoKernel kernel;
    kernel.name = name;
    kernel.start_ns = start_ns;
    kernel.duration_ns = duration_ns;
    kernel.correlation = builder_.AddCall("cudaLaunchKernel", launch_ns, 100, kThread);
    builder_.AddKernel(kernel);
  }
  std::string Write(const std::string& name = "trace.json") {
    const std::filesystem::path path = test::TestDir() / name;
    builder_.Write(path);
    return path.string();
  }
  Rows Find(const std::vector<std::string>& by = {}) {
    const auto partial = test::PartialOf(kView, {Write()}, {.by = by});
    Rows rows;
    for (const ViewRow& row : test::RowsOf(*partial)) rows[row.at("op")] = row;
    return rows;
  }

  KinetoBuilder builder_;
};

// |- linear -------------------------------------------| 1000..11000
//     |- t -| 2000..3000     |- addmm ---------| 5000..9000
//                               [kernel 700]       [kernel 50], of linear itself
TEST_F(OperatorsTest, Nested) {
  Call("aten::linear", 1000, 11000);
  Call("aten::t", 2000, 3000);
  Call("aten::addmm", 5000, 9000);
  Kernel(6000, 20000, 700);
  Kernel(10000, 21000, 50);
  Rows rows = Find();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows["aten::linear"]["host_total_ns"], "10000");
  EXPECT_EQ(rows["aten::linear"]["host_self_ns"], "5000");
  EXPECT_EQ(rows["aten::linear"]["device_self_ns"], "50");
  EXPECT_EQ(rows["aten::linear"]["device_total_ns"], "750");
  EXPECT_EQ(rows["aten::linear"]["launches"], "1");
  EXPECT_EQ(rows["aten::addmm"]["device_self_ns"], "700");
  EXPECT_EQ(rows["aten::addmm"]["device_total_ns"], "700");
  EXPECT_EQ(rows["aten::addmm"]["p50_ns"], "4000");
  EXPECT_EQ(rows["aten::t"]["device_total_ns"], "0");
  EXPECT_EQ(rows["aten::t"]["tc_elig"], "");
}

// f calls itself: 10000 long, in it 6000, in that 2000 of g and 1000 of f again.
TEST_F(OperatorsTest, RecursionCountsOnceInTotals) {
  Call("aten::f", 0, 10000);
  Call("aten::f", 1000, 7000);
  Call("aten::g", 2000, 4000);
  Call("aten::f", 5000, 6000);
  Kernel(5100, 20000, 10);  // Of the innermost f.
  Kernel(2100, 20100, 20);  // Of g.
  Rows rows = Find();
  EXPECT_EQ(rows["aten::f"]["calls"], "3");
  EXPECT_EQ(rows["aten::f"]["host_total_ns"], "10000");
  EXPECT_EQ(rows["aten::f"]["host_self_ns"], "8000");
  EXPECT_EQ(rows["aten::f"]["mean_ns"], "5666.666666666667");
  EXPECT_EQ(rows["aten::f"]["device_self_ns"], "10");
  EXPECT_EQ(rows["aten::f"]["device_total_ns"], "30");
}

// b begins in a and ends after it: neither is in the other, and what is launched while both are
// open belongs to b, which began last.
TEST_F(OperatorsTest, AChildThatOutlivesItsParent) {
  Call("aten::a", 0, 5000);
  Call("aten::b", 3000, 8000);
  Kernel(1000, 20000, 1);
  Kernel(4000, 20100, 2);
  Kernel(6000, 20200, 4);
  Rows rows = Find();
  EXPECT_EQ(rows["aten::a"]["device_total_ns"], "1");
  EXPECT_EQ(rows["aten::b"]["device_total_ns"], "6");
  EXPECT_EQ(rows["aten::a"]["host_self_ns"], "5000");
  EXPECT_EQ(rows["aten::b"]["host_self_ns"], "5000");
}

TEST_F(OperatorsTest, OverlappingStreamsAreBusyOnce) {
  Call("aten::op", 0, 5000);
  Kernel(1000, 20000, 100, 7);
  Kernel(2000, 20050, 100, 8);
  Kernel(3000, 20060, 10, 9);
  Kernel(4000, 20500, 5, 7);
  Rows rows = Find();
  EXPECT_EQ(rows["aten::op"]["device_self_ns"], "215");
  EXPECT_EQ(rows["aten::op"]["device_busy_ns"], "155");
  EXPECT_EQ(rows["aten::op"]["launches"], "4");
}

TEST_F(OperatorsTest, WhatNoCallLaunchedIsARow) {
  Call("aten::op", 0, 5000);
  Kernel(1000, 20000, 100);
  Kernel(6000, 20200, 30);
  Kernel(1000, 20300, 7, 7, 99);  // On a thread without calls.
  KinetoKernel lost;
  lost.start_ns = 30000;
  lost.duration_ns = 11;
  builder_.AddKernel(lost);  // Without a launch.
  Rows rows = Find();
  EXPECT_EQ(rows["aten::op"]["device_self_ns"], "100");
  EXPECT_EQ(rows["(unattributed)"]["device_self_ns"], "48");
  EXPECT_EQ(rows["(unattributed)"]["calls"], "0");
  EXPECT_EQ(rows["(unattributed)"]["host_self_ns"], "");
}

// What hooks of gradients launch is not of the node in which they run. Operators that they call
// keep theirs, and so do nodes of programs' own.
//
// |- evaluate --------------------------------------| |- evaluate ------| |- _ReduceFrom... -|
//    |- ConvolutionBackward0 ----------------|                              [nccl 40]
//       [kernel 60]  |- nccl -|  |- c10d -|    [nccl 7]  |- Accumulate -|
//                   [nccl 5000]  [nccl 300]                 [nccl 2000]
TEST_F(OperatorsTest, CollectivesOfGradientHooksAreARow) {
  const std::string evaluate = "autograd::engine::evaluate_function: ";
  Call(evaluate + "ConvolutionBackward0", 0, 20000);
  Call("ConvolutionBackward0", 1000, 15000);
  Kernel(2000, 100000, 60);
  builder_.AddHost("user_annotation", "nccl:all_reduce", 4000, 2000);
  Kernel(5000, 100100, 5000, kNccl);
  Call("c10d::allreduce_", 8000, 12000);
  Kernel(9000, 106000, 300, kNccl);
  Kernel(16000, 107000, 7, kNccl);
  Call(evaluate + "torch::autograd::AccumulateGrad", 30000, 40000);
  Call("torch::autograd::AccumulateGrad", 31000, 39000);
  Kernel(32000, 108000, 2000, kNccl);
  Call("_ReduceFromModelParallelRegionBackward", 50000, 60000);
  Kernel(51000, 111000, 40, kNccl);
  Rows rows = Find();
  EXPECT_EQ(rows["ConvolutionBackward0"]["device_self_ns"], "60");
  EXPECT_EQ(rows["ConvolutionBackward0"]["device_total_ns"], "360");
  EXPECT_EQ(rows["ConvolutionBackward0"]["launches"], "1");
  EXPECT_EQ(rows[evaluate + "ConvolutionBackward0"]["device_total_ns"], "360");
  EXPECT_EQ(rows["torch::autograd::AccumulateGrad"]["device_total_ns"], "0");
  EXPECT_EQ(rows["c10d::allreduce_"]["device_self_ns"], "300");
  EXPECT_EQ(rows["_ReduceFromModelParallelRegionBackward"]["device_self_ns"], "40");
  ViewRow& collectives = rows["(collectives)"];
  EXPECT_EQ(collectives["device_self_ns"], "7007");
  EXPECT_EQ(collectives["device_total_ns"], "7007");
  EXPECT_EQ(collectives["device_busy_ns"], "7007");
  EXPECT_EQ(collectives["launches"], "3");
  EXPECT_EQ(collectives["calls"], "0");
  EXPECT_EQ(collectives["host_self_ns"], "");
  EXPECT_EQ(rows.count("(unattributed)"), 0u);
  int64_t all_ns = 0;
  for (const auto& [op, row] : rows) all_ns += std::stoll(row.at("device_self_ns"));
  EXPECT_EQ(all_ns, 60 + 5000 + 300 + 7 + 2000 + 40);
}

TEST_F(OperatorsTest, CopiesAndFillsAreLaunchedToo) {
  Call("aten::copy_", 0, 5000);
  const int64_t copy = builder_.AddCall("cudaMemcpyAsync", 1000, 100);
  builder_.AddDevice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 20000, 300,
                     {{"correlation", std::to_string(copy)}, {"device", "0"}, {"stream", "7"}});
  const int64_t fill = builder_.AddCall("cudaMemsetAsync", 2000, 100);
  builder_.AddDevice("gpu_memset", "Memset (Device)", 20400, 20,
                     {{"correlation", std::to_string(fill)}, {"device", "0"}, {"stream", "7"}});
  Rows rows = Find();
  EXPECT_EQ(rows["aten::copy_"]["device_self_ns"], "320");
  EXPECT_EQ(rows["aten::copy_"]["launches"], "2");
  EXPECT_EQ(rows["aten::copy_"]["flops"], "");
}

TEST_F(OperatorsTest, AThousandLevels) {
  constexpr int64_t kLevels = 1000;
  for (int64_t i = 0; i < kLevels; ++i) Call("aten::level" + std::to_string(i % 2), i, 10000 - i);
  Kernel(5000, 20000, 40);
  Rows rows = Find();
  EXPECT_EQ(rows["aten::level0"]["calls"], "500");
  EXPECT_EQ(rows["aten::level0"]["device_self_ns"], "0");
  EXPECT_EQ(rows["aten::level0"]["device_total_ns"], "40");
  EXPECT_EQ(rows["aten::level1"]["device_self_ns"], "40");
  EXPECT_EQ(rows["aten::level1"]["device_total_ns"], "40");
  EXPECT_EQ(rows["aten::level0"]["host_total_ns"], "10000");
  // All but the innermost, 999..9001, spend 2 ns themselves.
  EXPECT_EQ(rows["aten::level0"]["host_self_ns"], "1000");
  EXPECT_EQ(rows["aten::level1"]["host_self_ns"], std::to_string(499 * 2 + 8002));
}

TEST_F(OperatorsTest, WithoutOps) {
  Kernel(1000, 20000, 100);
  const auto partial = test::PartialOf(kView, {Write()});
  const auto rows = test::RowsOf(*partial);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("op"), "(unattributed)");
  EXPECT_EQ(rows[0].at("device_total_ns"), "100");
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("no calls of operators"));
}

TEST_F(OperatorsTest, RecordsHaveNoRows) {
  const auto partial = kOperatorsView.make({});
  partial->Begin(nullptr);
  partial->Add(PricedKernel());
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("records"));
}

// A call and a kernel that end before they begin have no part in any time.
TEST_F(OperatorsTest, NegativeDurations) {
  Call("aten::op", 0, 5000);
  Call("aten::backwards", 3000, 2000);
  Kernel(1000, 20000, 100);
  Kernel(4000, 21000, -50);
  Rows rows = Find();
  EXPECT_EQ(rows["aten::op"]["device_self_ns"], "100");
  EXPECT_EQ(rows["aten::op"]["launches"], "1");
  EXPECT_EQ(rows["aten::op"]["host_self_ns"], "5000");
}

TEST_F(OperatorsTest, SplitByShapeAndPhase) {
  for (const int64_t start_ns : {0, 10000}) {
    KinetoOperator op;
    op.start_ns = start_ns;
    op.dims = start_ns == 0 ? "[[2, 3], [3, 4]]" : "[[5, 3], [3, 4]]";
    op.types = R"(["float", "float"])";
    builder_.AddOperator(op);
  }
  Kernel(100, 20000, 100);
  Kernel(10100, 21000, 70);
  const auto partial = test::PartialOf(kView, {Write()}, {.by = {"shape", "phase"}});
  const auto rows = test::RowsOf(*partial);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("shape"), "(2,3);(3,4)");
  EXPECT_EQ(rows[0].at("phase"), "forward");
  EXPECT_EQ(rows[0].at("device_self_ns"), "100");
  EXPECT_EQ(rows[0].at("flops"), "48");
  EXPECT_EQ(rows[1].at("shape"), "(5,3);(3,4)");
  EXPECT_EQ(rows[1].at("device_self_ns"), "70");
}

TEST_F(OperatorsTest, SplitByLayer) {
  builder_.AddHost("python_function", "nn.Module: Net_0", 0, 10000);
  builder_.AddHost("python_function", "nn.Module: Linear_1", 1000, 3000);
  Call("aten::mm", 1500, 3500);
  Call("aten::mm", 5000, 6000);
  Kernel(2000, 20000, 100);
  const auto partial = test::PartialOf(kView, {Write()}, {.by = {"layer"}});
  const auto rows = test::RowsOf(*partial);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("layer"), "Net_0:Linear_1");
  EXPECT_EQ(rows[0].at("host_self_ns"), "2000");
  EXPECT_EQ(rows[1].at("layer"), "Net_0");
  EXPECT_EQ(rows[1].at("host_self_ns"), "1000");
}

TEST_F(OperatorsTest, SplitByStack) {
  for (const char* stack : {"b.py(2): g;a.py(1): <module>", "c.py(3): h;a.py(1): <module>"}) {
    KinetoOperator op;
    op.name = "aten::relu";
    op.start_ns = stack[0] == 'b' ? 0 : 5000;
    op.stack = stack;
    builder_.AddOperator(op);
  }
  const auto partial = test::PartialOf(kView, {Write()}, {.by = {"stack"}});
  std::vector<std::string> stacks;
  for (const ViewRow& row : test::RowsOf(*partial)) stacks.push_back(row.at("stack"));
  EXPECT_THAT(stacks, ::testing::ElementsAre("a.py:1,b.py:2", "a.py:1,c.py:3"));
}

TEST_F(OperatorsTest, MergingRanksIsAdding) {
  Call("aten::op", 0, 5000);
  Kernel(1000, 20000, 100);
  const std::string path = Write();
  const auto one = test::PartialOf(kView, {path});
  const auto two = kOperatorsView.make({});
  two->Merge(*one);
  two->Merge(*one);
  const auto rows = test::RowsOf(*two);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("calls"), "2");
  EXPECT_EQ(rows[0].at("device_self_ns"), "200");
  EXPECT_EQ(rows[0].at("device_busy_ns"), "200");
  EXPECT_EQ(rows[0].at("mean_ns"), "5000");
  EXPECT_EQ(rows[0].at("p95_ns"), "5000");
}

TEST_F(OperatorsTest, UnknownWordsNameTheValidOnes) {
  try {
    kOperatorsView.make({.by = {"shape", "colour"}});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("colour"));
    EXPECT_THAT(error.what(), HasSubstr("shape, layer, stack, phase, step, rank"));
  }
}

/// What a row should hold, of one name.
struct Expected {
  int64_t device_self_ns = 0;
  int64_t device_total_ns = 0;
  int64_t host_total_ns = 0;
  std::map<int32_t, std::vector<Interval>> times;  // By device.
};
using AllExpected = std::map<std::string, Expected>;

/// By going up from each call and each event.
AllExpected Search(const Run& run) {
  const auto all = run.calls().all();
  const auto name_of = [&](size_t call) {
    return std::string(run.trace().strings.View(run.trace().ranges[all[call].range].text));
  };
  const auto parent_of = [&](size_t call) -> size_t {
    const ThreadIndex thread = run.trace().ThreadOf(run.trace().ranges[all[call].range]);
    return all[call].parent == CallWork::kNone ? all.size()
                                               : run.calls().BeginOf(thread) + all[call].parent;
  };
  AllExpected expected;
  for (size_t call = 0; call < all.size(); ++call) {
    bool outermost = true;
    for (size_t at = parent_of(call); at < all.size(); at = parent_of(at)) {
      outermost = outermost && name_of(at) != name_of(call);
    }
    if (outermost) expected[name_of(call)].host_total_ns += all[call].total_ns;
  }
  for (const DeviceEvent& event : run.work().events()) {
    const uint32_t call = run.call_work().CallOf(event);
    const std::string self = call == CallWork::kNone ? "(unattributed)" : name_of(call);
    expected[self].device_self_ns += event.duration_ns();
    expected[self].times[event.device_id].push_back({event.start_ns, event.end_ns});
    std::set<std::string> names = {self};
    for (size_t at = call; at < all.size(); at = parent_of(at)) names.insert(name_of(at));
    for (const std::string& name : names) {
      expected[name].device_total_ns += event.duration_ns();
    }
  }
  return expected;
}

/// The operators, and what a search finds of the last run.
class Searched : public Partial {
 public:
  explicit Searched(AllExpected* found) : operators_(kOperatorsView.make({})), found_(found) {}
  void Begin(const Run* run) override { operators_->Begin(run); }
  void Add(const PricedKernel& kernel) override { operators_->Add(kernel); }
  void End(const Run* run) override {
    operators_->End(run);
    *found_ = Search(*run);
  }
  void Merge(const Partial& other) override {
    operators_->Merge(*dynamic_cast<const Searched&>(other).operators_);
  }
  std::vector<Field> Fields() const override { return operators_->Fields(); }
  void Emit(Sink* sink) const override { operators_->Emit(sink); }

 private:
  std::unique_ptr<Partial> operators_;
  AllExpected* found_;
};

AllExpected searched;  // Of the test at hand.

KinetoBuilder DrawnTrace() {
  KinetoBuilder builder;
  const auto calls = AnyIn(0, 40);
  for (int i = 0; i < calls; ++i) {
    KinetoOperator op;
    op.name = "aten::" + std::string(1, AnyIn('a', 'd'));
    op.start_ns = AnyIn<int64_t>(0, 200);
    op.duration_ns = AnyIn<int64_t>(0, 100);
    op.thread_id = AnyIn(1, 3);
    builder.AddOperator(op);
  }
  const auto kernels = AnyIn(1, 20);
  for (int i = 0; i < kernels; ++i) {
    KinetoKernel kernel;
    kernel.start_ns = AnyIn<int64_t>(1000, 1100);
    kernel.duration_ns = AnyIn<int64_t>(0, 30);
    kernel.device = AnyIn(0, 2);
    kernel.stream = i;
    kernel.correlation =
        builder.AddCall("cudaLaunchKernel", AnyIn<int64_t>(0, 300), 2, AnyIn(1, 4));
    builder.AddKernel(kernel);
  }
  return builder;
}

void CheckADrawnTrace() {
  const View kSearched = {"operators", "", kOperatorsView.needs, kOperatorsView.fields,
                          [](const ViewOptions&) {
                            return std::unique_ptr<Partial>(std::make_unique<Searched>(&searched));
                          }};
  const std::filesystem::path path = test::TestDir() / "drawn.json";
  DrawnTrace().Write(path);
  const auto rows = test::RowsOf(*test::PartialOf(kSearched, {path.string()}));
  Require(rows.size() == searched.size());
  for (const ViewRow& row : rows) {
    const Expected& expected = searched.at(row.at("op"));
    int64_t busy_ns = 0;
    for (const auto& [device, times] : expected.times) busy_ns += IntervalSet(times).length_ns();
    Require(row.at("device_self_ns") == std::to_string(expected.device_self_ns));
    Require(row.at("device_total_ns") == std::to_string(expected.device_total_ns));
    Require(row.at("device_busy_ns") == std::to_string(busy_ns));
    if (row.at("op") == "(unattributed)") continue;
    Require(row.at("host_total_ns") == std::to_string(expected.host_total_ns));
  }
}

TEST(OperatorsProperty, RowsAreWhatASearchFinds) { test::CheckRandomCases(CheckADrawnTrace); }

}  // namespace
}  // namespace oplens::prof::operators_test
