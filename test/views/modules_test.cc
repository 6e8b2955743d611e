#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/tb/views.h"
#include "prof/views/calls/stacks.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/random_cases.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::prof::modules_test {
namespace {

using test::AnyIn;
using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using test::MadeRun;
using test::ViewRow;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;
using Rows = std::map<std::string, ViewRow>;

const View& kView = kModulesView;
constexpr int64_t kForward = 1234;
constexpr int64_t kEngine = 77;
constexpr char kNccl[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

class ModulesTest : public ::testing::Test {
 protected:
  void Module(const std::string& name, int64_t start_ns, int64_t end_ns,
              int64_t thread = kForward) {
    builder_.AddHost("python_function", "nn.Module: " + name, start_ns, end_ns - start_ns, thread);
  }
  void Call(const std::string& name, int64_t start_ns, int64_t end_ns, int64_t sequence = -1,
            int64_t thread = kForward) {
    KinetoOperator op;
    op.name = name;
    op.start_ns = start_ns;
    op.duration_ns = end_ns - start_ns;
    op.thread_id = thread;
    op.sequence = sequence;
    op.dims = "[[2, 3]]";  // What has arguments is a call, whatever its name.
    op.types = R"(["float"])";
    if (thread == kEngine && sequence >= 0) op.forward_thread = 1;
    builder_.AddOperator(op);
  }
  /// A kernel that an API call of 100 ns at `launch_ns` launches.
  void Kernel(int64_t launch_ns, int64_t duration_ns, int64_t thread = kForward,
              const std::string& name = "kernel") {
    KinetoKernel kernel;
    kernel.name = name;
    kernel.start_ns = launch_ns + 50000;
    kernel.duration_ns = duration_ns;
    kernel.correlation = builder_.AddCall("cudaLaunchKernel", launch_ns, 100, thread);
    builder_.AddKernel(kernel);
  }
  std::vector<ViewRow> FindAll(const std::vector<std::string>& by = {},
                               const std::string& name = "trace.json") {
    const std::filesystem::path path = test::TestDir() / name;
    builder_.Write(path);
    return test::RowsOf(*test::PartialOf(kView, {path.string()}, {.by = by}));
  }
  Rows Find() {
    Rows rows;
    for (const ViewRow& row : FindAll()) rows[row.at("path")] = row;
    return rows;
  }

  KinetoBuilder builder_;
};

std::vector<std::string> PathsOf(const std::vector<ViewRow>& rows) {
  std::vector<std::string> paths;
  for (const ViewRow& row : rows) paths.push_back(row.at("path"));
  return paths;
}

// |- Net_0 ------------------------------------------------| 0..10000
//   |- Linear_1 ------------------------|  |- add -|
//      |- aten::mm, 2000, kernel 700 -|      1000, kernel 30      then 300, kernel 4, outside
TEST_F(ModulesTest, ATree) {
  Module("Net_0", 0, 10000);
  Module("Linear_1", 1000, 4000);
  Call("aten::mm", 1500, 3500);
  Call("aten::add", 5000, 6000);
  Call("aten::mul", 11000, 11300);
  Kernel(2000, 700);
  Kernel(5100, 30);
  Kernel(11100, 4);
  const auto all = FindAll();
  EXPECT_EQ(PathsOf(all), (Texts{"Net_0", "Net_0/Linear_1", "(no module)"}));
  Rows rows = Find();
  ViewRow& net = rows["Net_0"];
  EXPECT_EQ(net["level"], "0");
  EXPECT_EQ(net["calls"], "1");
  EXPECT_EQ(net["wall_ns"], "10000");
  EXPECT_EQ(net["ops"], "1");
  EXPECT_EQ(net["host_self_ns"], "1000");
  EXPECT_EQ(net["host_total_ns"], "3000");
  EXPECT_EQ(net["device_self_ns"], "30");
  EXPECT_EQ(net["device_total_ns"], "730");
  EXPECT_EQ(net["bwd_device_total_ns"], "0");
  EXPECT_EQ(net["alloc_bytes"], "");
  ViewRow& linear = rows["Net_0/Linear_1"];
  EXPECT_EQ(linear["name"], "Linear_1");
  EXPECT_EQ(linear["level"], "1");
  EXPECT_EQ(linear["wall_ns"], "3000");
  EXPECT_EQ(linear["device_self_ns"], "700");
  EXPECT_EQ(linear["launches"], "1");
  ViewRow& none = rows["(no module)"];
  EXPECT_EQ(none["level"], "");
  EXPECT_EQ(none["calls"], "");
  EXPECT_EQ(none["host_self_ns"], "300");
  EXPECT_EQ(none["device_self_ns"], "4");
}

// What starts when a gradient was added up is of a bucket of many modules' gradients.
//
// 1      |- Net_0 |- addmm -| -|
// engine                            |- evaluate ... |- AddmmBackward0 -| -| |- evaluate ...
// -------|
//                                                                            |- c10d::allreduce_ -|
TEST_F(ModulesTest, CollectivesOfGradientBucketsAreInNone) {
  Module("Net_0", 0, 10000);
  Call("aten::addmm", 1500, 3500, 5);
  Call("autograd::engine::evaluate_function: AddmmBackward0", 20000, 29000, 5, kEngine);
  Call("AddmmBackward0", 21000, 28000, 5, kEngine);
  Kernel(22000, 700, kEngine);
  Call("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 30000, 39000, -1,
       kEngine);
  Call("torch::autograd::AccumulateGrad", 31000, 38000, -1, kEngine);
  Kernel(31500, 60, kEngine);
  Call("c10d::allreduce_", 33000, 36000, -1, kEngine);
  Kernel(34000, 5000, kEngine);
  Rows rows = Find();
  EXPECT_EQ(rows["Net_0"]["bwd_device_total_ns"], "760");
  EXPECT_EQ(rows["Net_0"]["comm_total_ns"], "0");
  EXPECT_EQ(rows["(collectives)"]["comm_self_ns"], "5000");
  EXPECT_EQ(rows["(collectives)"]["collectives"], "1");
  EXPECT_EQ(rows["(no module)"]["bwd_device_self_ns"], "0");
  EXPECT_EQ(rows["(no module)"]["launches"], "0");
}

// Nor is what a hook launches inside the node of an operator, be it a label that tells of it. What
// a module calls itself stands beside its work.
TEST_F(ModulesTest, CollectivesAreNoModulesWork) {
  Module("Net_0", 0, 10000);
  Module("Conv2d_1", 1000, 6000);
  Call("aten::conv2d", 1500, 2500, 5);
  Kernel(2000, 700);
  Call("c10d::allreduce_", 3000, 5000, 6);
  Kernel(4000, 300, kForward, kNccl);
  Call("ConvolutionBackward0", 21000, 28000, 5, kEngine);
  Kernel(22000, 60, kEngine);
  builder_.AddHost("user_annotation", "nccl:all_reduce", 24000, 2000, kEngine);
  Kernel(25000, 5000, kEngine, kNccl);
  Call("_ReduceFromModelParallelRegionBackward", 31000, 38000, 6, kEngine);
  Kernel(34000, 40, kEngine, kNccl);
  Rows rows = Find();
  ViewRow& conv = rows["Net_0/Conv2d_1"];
  EXPECT_EQ(conv["device_self_ns"], "700");
  EXPECT_EQ(conv["bwd_device_self_ns"], "60");
  EXPECT_EQ(conv["launches"], "2");
  EXPECT_EQ(conv["comm_self_ns"], "340");
  EXPECT_EQ(conv["collectives"], "2");
  EXPECT_EQ(rows["Net_0"]["comm_self_ns"], "0");
  EXPECT_EQ(rows["Net_0"]["comm_total_ns"], "340");
  EXPECT_EQ(rows["(collectives)"]["comm_self_ns"], "5000");
}

// A kernel that no operator launches is in the module around the API call all the same.
TEST_F(ModulesTest, LaunchesOutsideOfOperators) {
  Module("Net_0", 0, 10000);
  Kernel(2000, 700);
  Kernel(20000, 30);
  Rows rows = Find();
  EXPECT_EQ(rows["Net_0"]["device_self_ns"], "700");
  EXPECT_EQ(rows["Net_0"]["launches"], "1");
  EXPECT_EQ(rows["Net_0"]["ops"], "0");
  EXPECT_EQ(rows["(no module)"]["device_self_ns"], "30");
}

// The node, what it calls and the engine's own work for it are of the module of the forward op.
TEST_F(ModulesTest, TheBackwardPassIsApart) {
  Module("Net_0", 0, 10000);
  Module("Linear_1", 1000, 4000);
  Call("aten::mm", 1500, 3500, 5);
  Kernel(2000, 700);
  Call("autograd::engine::evaluate_function: MmBackward0", 20000, 24000, -1, kEngine);
  Call("MmBackward0", 20500, 23000, 5, kEngine);
  Call("aten::mm", 21000, 22000, -1, kEngine);
  Kernel(21500, 50, kEngine);
  Call("aten::sum", 23200, 23700, -1, kEngine);
  Kernel(23300, 6, kEngine);
  Rows rows = Find();
  ASSERT_EQ(rows.size(), 2u);
  ViewRow& linear = rows["Net_0/Linear_1"];
  EXPECT_EQ(linear["calls"], "1");
  EXPECT_EQ(linear["device_self_ns"], "700");
  EXPECT_EQ(linear["host_self_ns"], "2000");
  EXPECT_EQ(linear["bwd_device_self_ns"], "56");
  EXPECT_EQ(linear["bwd_host_self_ns"], "4000");
  EXPECT_EQ(linear["launches"], "3");
  EXPECT_EQ(rows["Net_0"]["bwd_device_total_ns"], "56");
  EXPECT_EQ(rows["Net_0"]["bwd_device_self_ns"], "0");
}

// A block that runs again in the backward pass is the same module, not one outside of the network.
TEST_F(ModulesTest, CheckpointedModules) {
  Module("Net_0", 0, 10000);
  Call("CheckpointFunction", 500, 9000, 3);
  Module("Block_0", 1000, 8000);
  Module("Linear_1", 2000, 4000);
  Call("aten::mm", 2500, 3500);
  Kernel(2600, 100);
  Call("CheckpointFunctionBackward", 20000, 30000, 3, kEngine);
  Module("Block_0", 21000, 28000, kEngine);
  Module("Linear_1", 22000, 24000, kEngine);
  Call("aten::mm", 22500, 23500, 9, kEngine);
  Kernel(22600, 40, kEngine);
  Rows rows = Find();
  EXPECT_EQ(PathsOf(FindAll()), (Texts{"Net_0", "Net_0/Block_0", "Net_0/Block_0/Linear_1"}));
  ViewRow& linear = rows["Net_0/Block_0/Linear_1"];
  EXPECT_EQ(linear["calls"], "2");
  EXPECT_EQ(linear["wall_ns"], "4000");
  EXPECT_EQ(linear["device_self_ns"], "100");
  EXPECT_EQ(linear["bwd_device_self_ns"], "40");
  EXPECT_EQ(rows["Net_0"]["bwd_device_total_ns"], "40");
}

TEST_F(ModulesTest, LabelsOfLightning) {
  builder_.AddHost("user_annotation", "[pl][module]torch.nn.modules.container.Sequential: net", 0,
                   10000);
  builder_.AddHost("user_annotation", "[pl][module]torch.nn.modules.linear.Linear: net.0", 1000,
                   2000);
  builder_.AddHost("user_annotation", "no module", 1000, 2000);
  Call("aten::mm", 1500, 2500);
  EXPECT_EQ(PathsOf(FindAll()), (Texts{"net", "net.0"}));
}

TEST_F(ModulesTest, RangesOfHooks) {
  builder_.AddHost("nvtx", "{'Module': 'net', 'Inputs': [[8, 8]]}", 0, 10000);
  builder_.AddHost("nvtx", "{'Module': 'net.0', 'Inputs': [[8, 8]]}", 1000, 2000);
  builder_.AddHost("nvtx", "{'Module': 'net.0', 'Inputs': [[4, 8]]}", 4000, 2000);
  builder_.AddHost("nvtx", "{'Module': 'no module'}", 1000, 2000);
  Call("aten::mm", 1500, 2500);
  EXPECT_EQ(PathsOf(FindAll()), (Texts{"net", "net.0"}));
}

TEST_F(ModulesTest, WithoutModulesTheRangesThatTheProgramNames) {
  builder_.AddHost("user_annotation", "attention", 1000, 2000);
  builder_.AddHost("user_annotation", "Optimizer.step#SGD.step", 5000, 1000);
  Call("aten::mm", 1500, 2500);
  Call("aten::mul", 5500, 5600);
  const std::filesystem::path path = test::TestDir() / "trace.json";
  builder_.Write(path);
  const auto partial = test::PartialOf(kView, {path.string()});
  EXPECT_EQ(PathsOf(test::RowsOf(*partial)), (Texts{"attention", "(no module)"}));
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("the ranges that the program names"));
  EXPECT_THAT(partial->Notes()[0], HasSubstr("with_modules"));
}

TEST_F(ModulesTest, ByStepAndRank) {
  builder_.AddMember("distributedInfo", R"({"backend": "nccl", "rank": 3, "world_size": 4})");
  for (const int64_t start_ns : {0, 10000}) {
    builder_.AddHost("user_annotation", "ProfilerStep#" + std::to_string(7 + start_ns / 10000),
                     start_ns, 9000);
    Module("Net_0", start_ns + 100, start_ns + 8000);
    Call("aten::mm", start_ns + 1000, start_ns + 2000);
    Kernel(start_ns + 1500, 50 + start_ns / 1000);
  }
  const auto rows = FindAll({"rank", "step"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("rank"), "3");
  EXPECT_EQ(rows[0].at("step"), "7");
  EXPECT_EQ(rows[0].at("device_self_ns"), "50");
  EXPECT_EQ(rows[1].at("step"), "8");
  EXPECT_EQ(rows[1].at("device_self_ns"), "60");
  EXPECT_EQ(rows[1].at("calls"), "1");
  EXPECT_EQ(rows[1].at("path"), "Net_0");
}

TEST_F(ModulesTest, MergingRanksIsAdding) {
  Module("Net_0", 0, 5000);
  Call("aten::mm", 1000, 2000);
  Kernel(1500, 100);
  const std::filesystem::path path = test::TestDir() / "one.json";
  builder_.Write(path);
  Module("Other_0", 6000, 9000);
  Module("Net_0", 7000, 8000);
  const std::filesystem::path other = test::TestDir() / "two.json";
  builder_.Write(other);
  const auto one = test::PartialOf(kView, {path.string()});
  const auto two = test::PartialOf(kView, {other.string()});
  const auto forth = kModulesView.make({});
  forth->Merge(*one);
  forth->Merge(*two);
  const auto back = kModulesView.make({});
  back->Merge(*two);
  back->Merge(*one);
  EXPECT_EQ(test::RowsOf(*forth), test::RowsOf(*back));
  EXPECT_EQ(PathsOf(test::RowsOf(*forth)), (Texts{"Net_0", "Other_0", "Other_0/Net_0"}));
  EXPECT_EQ(test::RowsOf(*forth)[0].at("calls"), "2");
  EXPECT_EQ(test::RowsOf(*forth)[0].at("device_self_ns"), "200");
}

TEST_F(ModulesTest, RecordsHaveNoRows) {
  const auto partial = kModulesView.make({});
  partial->Begin(nullptr);
  partial->Add(PricedKernel());
  partial->End(nullptr);
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_THAT(partial->Notes()[0], HasSubstr("records"));
}

TEST_F(ModulesTest, OtherWordsAreErrors) {
  EXPECT_THROW(kModulesView.make({.by = {"layer"}}), UsageError);
  EXPECT_THROW(MakeTbModules({.by = {"step"}}), UsageError);
}

// Layers of NVTX have paths for names, the network itself its class.
TEST(MadeModulesTest, LayersThatAreNamedByTheirPaths) {
  MadeRun made;
  made.AddRange("layer:Bert", 0, 1000, RangeKind::kMarker);
  made.AddRange("layer:encoder.2", 100, 900, RangeKind::kMarker);
  made.AddRange("layer:encoder.2.attn", 200, 500, RangeKind::kMarker);
  made.AddRange("layer:encoder.20", 600, 700, RangeKind::kMarker);
  made.AddRange("aten::mm", 250, 300, RangeKind::kOperator);
  const auto rows = made.RowsOf(kModulesView.make);
  EXPECT_EQ(PathsOf(rows),
            (Texts{"Bert", "Bert/encoder.2", "Bert/encoder.2.attn", "Bert/encoder.2/encoder.20"}));
  EXPECT_EQ(rows[2].at("name"), "encoder.2.attn");
  EXPECT_EQ(rows[2].at("level"), "2");
}

TEST(MadeModulesTest, Memory) {
  MadeRun made;
  made.AddRange("Net_0", 0, 1000, RangeKind::kModule);
  made.AddRange("Linear_1", 100, 500, RangeKind::kModule);
  const auto add = [&](int64_t time_ns, int64_t size_bytes, int32_t device = 0,
                       MemorySource source = MemorySource::kFramework) {
    MemoryEvent& event = made.trace.memory_events.emplace_back();
    event.time_ns = time_ns;
    event.size_bytes = size_bytes;
    event.device_id = device;
    event.source = source;
  };
  add(600, 16);
  add(200, 512);
  add(300, -256);
  add(310, 64, -1);                          // Of the host.
  add(320, 4096, 0, MemorySource::kDriver);  // Of which the framework gives out parts.
  add(2000, -512);
  std::map<std::string, ViewRow> rows;
  for (const ViewRow& row : made.RowsOf(kModulesView.make)) rows[row.at("path")] = row;
  EXPECT_EQ(rows["Net_0"]["alloc_bytes"], "16");
  EXPECT_EQ(rows["Net_0/Linear_1"]["alloc_bytes"], "512");
  EXPECT_EQ(rows["Net_0/Linear_1"]["freed_bytes"], "256");
  EXPECT_EQ(rows["(no module)"]["freed_bytes"], "512");
}

TEST(MadeModulesTest, FlopsBytesAndTensorCores) {
  MadeRun made;
  made.AddRange("Net_0", 0, 1000, RangeKind::kModule);
  made.AddRange("aten::mm", 100, 500, RangeKind::kOperator);
  made.AddKernel(2000, 2030, made.AddCall(200, 210));
  made.AddKernel(3000, 3010, made.AddCall(300, 310));
  int64_t next = 0;
  const auto rows = made.RowsOf(kModulesView.make, [&](PricedKernel* kernel) {
    kernel->share.flops = 100;
    if (next == 0) kernel->share.bytes = 8;
    kernel->tensor_core = next++ == 0 ? ops::TensorCoreUse::kYes : ops::TensorCoreUse::kNo;
  });
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("flops"), "200");
  EXPECT_EQ(rows[0].at("bytes"), "8");
  EXPECT_EQ(rows[0].at("tc_self_pct"), "75");
}

int64_t SumOf(const std::vector<ViewRow>& rows, const std::string& field) {
  int64_t sum = 0;
  for (const ViewRow& row : rows) sum += row.at(field).empty() ? 0 : std::stoll(row.at(field));
  return sum;
}

/// Sums of modules and stacks are those of operators.
void ExpectSums(MadeRun* made, const std::vector<std::string>& of_modules = {},
                const std::vector<std::string>& of_stacks = {}) {
  const auto operators = made->RowsOf(kOperatorsView.make);
  const auto modules = made->RowsOf(kModulesView.make, {.by = of_modules});
  const auto stacks = made->RowsOf(kStacksView.make, {.by = of_stacks});
  for (const std::string field : {"device_self_ns", "host_self_ns"}) {
    EXPECT_EQ(SumOf(modules, field) + SumOf(modules, "bwd_" + field), SumOf(operators, field));
    EXPECT_EQ(SumOf(stacks, field), SumOf(operators, field));
  }
  EXPECT_EQ(SumOf(modules, "launches"), SumOf(operators, "launches"));
  EXPECT_EQ(SumOf(stacks, "launches"), SumOf(operators, "launches"));
}

// Deeper than paths go: what is deepest counts in what is around it.
TEST(MadeModulesTest, ModulesInModulesWithoutEnd) {
  MadeRun made;
  constexpr int64_t kDepth = 20000;
  for (int64_t i = 0; i < kDepth; ++i) {
    const std::string name = "m" + std::to_string(i % 3);
    made.AddRange(name, 10 * i, 1000000 - 10 * i, RangeKind::kModule);
    made.AddRange("f.py:" + std::to_string(i), 10 * i, 1000000 - 10 * i, RangeKind::kFrame);
    made.AddRange("aten::mm", 10 * i + 1, 1000000 - 10 * i - 1, RangeKind::kOperator);
  }
  made.AddKernel(2000000, 2000010, made.AddCall(10 * kDepth, 10 * kDepth + 1));
  ExpectSums(&made);
  ExpectSums(&made, {"step", "rank"}, {"layer", "host"});
  EXPECT_LE(made.RowsOf(kModulesView.make).size(), 300u);
}

void AddAnything(MadeRun* made) {
  const int64_t start_ns = AnyIn(-50, 300);
  const int64_t closed_ns = start_ns + AnyIn(-5, 60);
  const int64_t end_ns = AnyIn(0, 8) == 0 ? kNeverClosed : closed_ns;
  const auto thread = AnyIn<ThreadIndex>(0, 2);
  const std::string letter(1, AnyIn('a', 'd'));
  const bool launched = test::AnyBool() && !made->trace.launches.empty();
  const auto calls = static_cast<LaunchIndex>(made->trace.launches.size());
  const LaunchIndex launch = launched ? AnyIn<LaunchIndex>(0, calls) : kNoLaunch;
  switch (AnyIn(0, 9)) {
    case 0:
      return made->AddRange("M_" + letter, start_ns, end_ns, RangeKind::kModule, thread);
    case 1:
      return made->AddRange(letter + ".py:1", start_ns, end_ns, RangeKind::kFrame, thread);
    case 2:
      made->AddRange("aten::" + letter, start_ns, end_ns, RangeKind::kOperator, thread);
      made->trace.operators.back().sequence = AnyIn(-1, 3);
      return;
    case 3:
      made->AddRange("ABackward0", start_ns, end_ns, RangeKind::kOperator, thread);
      made->trace.operators.back().sequence = AnyIn(-1, 3);
      made->trace.operators.back().backward = true;
      return;
    case 4:
      made->AddRange("layer:l." + letter, start_ns, end_ns, RangeKind::kMarker, thread);
      return;
    case 5:
      made->AddRange("{'traceMarker': ['a.py:1', '" + letter + ".py:2']}", start_ns, end_ns,
                     RangeKind::kMarker, thread);
      return;
    case 6:
      made->AddCall(start_ns, closed_ns);
      made->trace.launches.back().thread = thread;
      return;
    case 7:
      return made->AddCopy(start_ns, closed_ns, launch, AnyIn(0, 2));
    default:
      made->AddKernel(start_ns, closed_ns, launch, "k", AnyIn(0, 2));
  }
}

TEST(ModulesProperty, SumsAreThoseOfTheOperators) {
  test::CheckRandomCases([] {
    MadeRun made;
    made.AddThread(1, 2);
    for (int i = AnyIn(0, 40); i > 0; --i) AddAnything(&made);
    ExpectSums(&made, {"step"}, {});
    ExpectSums(&made, {}, {"layer"});
  });
}

}  // namespace
}  // namespace oplens::prof::modules_test
