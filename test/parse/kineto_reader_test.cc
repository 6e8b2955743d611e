// What KinetoReader makes of the events of a trace.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "test/parse/described_args.h"
#include "test/parse/read_kineto.h"
#include "test/support/kineto_builder.h"

namespace oplens::parse::kineto_reader_test {
namespace {

using test::Describe;
using test::JsonText;
using test::KinetoArgs;
using test::KinetoBuilder;
using test::KinetoKernel;
using test::KinetoOperator;
using testing::HasSubstr;
using testing::Not;
using Texts = std::vector<std::string>;

constexpr int64_t kMicrosecond = 1000;

/// All parts but the calls that nothing refers to.
constexpr TraceNeeds kAllButCalls = {TracePart::kWaitEvents, TracePart::kMemoryEvents,
                                     TracePart::kInstants, TracePart::kOverheads,
                                     TracePart::kNames};

/// "2 3 4", of sizes of a grid or a block.
std::string SizesOf(const int32_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + " " + std::to_string(sizes[1]) + " " + std::to_string(sizes[2]);
}

class KinetoReaderTest : public testing::TestWithParam<bool> {
 protected:
  Trace Read(const KinetoBuilder& builder, TraceNeeds needs = kAllButCalls) {
    diagnostics_ = Diagnostics();
    return test::ReadKineto(builder.Text(), needs, &diagnostics_);
  }
  std::string Notes() const { return diagnostics_.Render("test"); }

  Diagnostics diagnostics_;
};

int64_t CountKind(const Trace& trace, RangeKind kind) {
  return std::count_if(trace.ranges.begin(), trace.ranges.end(),
                       [kind](const Range& range) { return range.kind == kind; });
}

std::string_view Text(const Trace& trace, StringId id) { return trace.strings.View(id); }

TEST_F(KinetoReaderTest, TakesTheProcessGroups) {
  KinetoBuilder builder;
  builder.AddMember("distributedInfo",
                    R"({"rank": 1, "world_size": 4, "pg_config": [
                        {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 4, "ranks": [0, 1, 2, 3]},
                        {"pg_name": "7", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "ranks": [0, 1]},
                        {"pg_name": "8", "pg_size": 2, "ranks": [1, -3]},
                        {"pg_desc": "without a name"}, 5]})");
  builder.AddKernel({});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.process_groups.size(), 3u);
  const ProcessGroup& all = trace.process_groups[0];
  EXPECT_EQ(Text(trace, all.name), "0");
  EXPECT_EQ(Text(trace, all.description), "default_pg");
  EXPECT_EQ(all.size, 4);
  EXPECT_EQ(all.ranks, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(Text(trace, trace.process_groups[1].description), "TENSOR_MODEL_PARALLEL_GROUP");
  EXPECT_EQ(trace.process_groups[1].size, kUnknownId);
  EXPECT_EQ(trace.process_groups[2].description, 0u);
  EXPECT_TRUE(trace.process_groups[2].ranks.empty());
}

class KinetoGeneration : public KinetoReaderTest {};

TEST_P(KinetoGeneration, FillsTheModel) {
  KinetoBuilder builder({.old_names = GetParam(), .whole_microseconds = GetParam()});
  builder.AddMember("deviceProperties",
                    R"([{"id": 3, "name": "Some GPU", "totalGlobalMem": 34084028416,
                         "computeMajor": 9, "computeMinor": 1, "numSms": 132, "warpSize": 64}])");
  builder.AddMember("distributedInfo", R"({"backend": "nccl", "rank": 3, "world_size": 8})");
  builder.AddName("process_name", KinetoBuilder::kProcess, 0, "python");
  builder.AddName("thread_name", KinetoBuilder::kProcess, 1234, "main");
  builder.AddOperator({.name = "aten::relu",
                       .start_ns = 10 * kMicrosecond,
                       .duration_ns = 50 * kMicrosecond,
                       .dims = "[[2, 3]]",
                       .types = R"(["float"])",
                       .values = R"([""])",
                       .sequence = 7,
                       .forward_thread = 1,
                       .stack = "b.py(20): forward;a.py(10): <module>"});
  KinetoKernel kernel = {.name = "relu_kernel",
                         .duration_ns = 4 * kMicrosecond,
                         .device = 3,
                         .grid = {4, 2, 1},
                         .block = {64, 1, 1},
                         .registers = 40,
                         .shared_bytes = 512};
  builder.Launch(kernel, 20 * kMicrosecond);
  const Trace trace = Read(builder);

  EXPECT_EQ(trace.family, Family::kKineto);
  EXPECT_EQ(trace.schema_version, 1);
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.clock_resolution_ns, GetParam() ? 1000 : 1);
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(Text(trace, trace.devices[0].name), "Some GPU");
  EXPECT_EQ(trace.devices[0].multiprocessors, 132);
  EXPECT_EQ(trace.devices[0].compute_capability_major, 9);
  EXPECT_EQ(trace.devices[0].compute_capability_minor, 1);
  EXPECT_EQ(trace.devices[0].warp_threads, 64);
  EXPECT_EQ(trace.devices[0].memory_bytes, 34084028416);

  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].thread_id, 1234);
  EXPECT_EQ(Text(trace, trace.threads[0].name), "main");
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].id, KinetoBuilder::kProcess);
  EXPECT_EQ(Text(trace, trace.processes[0].name), "python");

  ASSERT_EQ(trace.ranges.size(), 1u);
  const Range& range = trace.ranges[0];
  EXPECT_EQ(range.kind, RangeKind::kOperator);
  EXPECT_EQ(Text(trace, range.text), "aten::relu");
  EXPECT_EQ(range.end_ns - range.start_ns, 50 * kMicrosecond);
  ASSERT_NE(trace.OperatorOf(range), nullptr);
  const Operator& op = *trace.OperatorOf(range);
  EXPECT_NE(op.call, 0u);
  EXPECT_EQ(op.sequence, 7);
  EXPECT_EQ(op.forward_thread, 1);
  EXPECT_EQ(Text(trace, op.stack), "{'traceMarker': ['a.py:10', 'b.py:20']}");

  ASSERT_EQ(trace.kernels.size(), 1u);
  const Kernel& read = trace.kernels[0];
  EXPECT_EQ(Text(trace, read.name), "relu_kernel");
  EXPECT_EQ(read.end_ns - read.start_ns, 4 * kMicrosecond);
  EXPECT_EQ(read.device_id, 3);
  EXPECT_EQ(read.stream_id, 7);
  EXPECT_EQ(read.context_id, 1);
  EXPECT_EQ(SizesOf(trace.ShapeOf(read).grid), "4 2 1");
  EXPECT_EQ(SizesOf(trace.ShapeOf(read).block), "64 1 1");
  EXPECT_EQ(trace.ShapeOf(read).registers_per_thread, 40);
  const KernelDetails details = trace.DetailsOf(read);
  EXPECT_EQ(details.shared_memory_bytes, 512);
  EXPECT_EQ(trace.ShapeOf(read).static_shared_memory_bytes, -1);
  EXPECT_FLOAT_EQ(details.blocks_per_multiprocessor, 0.5F);
  EXPECT_FLOAT_EQ(details.warps_per_multiprocessor, 2);
  // The builder gives the old name to the same number.
  EXPECT_FLOAT_EQ(details.achieved_occupancy_pct, GetParam() ? -1 : 31);
  EXPECT_FLOAT_EQ(details.theoretical_occupancy_pct, GetParam() ? 31 : -1);
  EXPECT_FALSE(read.graph);
  ASSERT_NE(read.launch, kNoLaunch);
  EXPECT_EQ(Text(trace, trace.launches[read.launch].api), "cudaLaunchKernel");
  EXPECT_EQ(trace.launches[read.launch].thread, trace.ThreadOf(range));
  EXPECT_FALSE(diagnostics_.Damaged());
  EXPECT_EQ(diagnostics_.notes().size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Names, KinetoGeneration, testing::Bool(),
                         [](const auto& test) { return test.param ? "Old" : "New"; });

TEST_F(KinetoReaderTest, KeepsNanoseconds) {
  KinetoBuilder builder;
  builder.AddKernel({.start_ns = 757'064, .duration_ns = 87'412'863});
  builder.AddKernel({.start_ns = 999, .duration_ns = 1});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.kernels.size(), 2u);
  EXPECT_EQ(trace.kernels[0].start_ns, 4'458'676'000'000'000 + 757'064);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 87'412'863);
  EXPECT_EQ(trace.kernels[1].start_ns, 4'458'676'000'000'999);
  EXPECT_EQ(trace.kernels[1].end_ns, 4'458'676'000'001'000);
}

TEST_F(KinetoReaderTest, SaysHowCoarseTimesSince1970Are) {
  KinetoBuilder builder({.origin_us = 1'712'195'495'519'689});
  builder.AddKernel({.start_ns = 250, .duration_ns = 63'813});
  const Trace trace = Read(builder);
  EXPECT_EQ(trace.clock_resolution_ns, 250);
  EXPECT_EQ(trace.kernels[0].end_ns - trace.kernels[0].start_ns, 63'813);
}

// Files of the first versions: "[]" may be anything, and is no default.
TEST_F(KinetoReaderTest, ExtentsAloneDoNotTellValues) {
  KinetoBuilder builder;
  builder.AddOperator({.name = "aten::cudnn_convolution",
                       .dims = "[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []]",
                       .types = "[]"});
  builder.AddOperator({.name = "aten::mul_", .dims = "[[], []]", .types = "[]"});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 2u);
  std::string error;
  const auto described = [&](size_t i) {
    return Describe(ParseOpCall(trace.strings.View(trace.operators[i].call), &error)->args);
  };
  EXPECT_EQ(described(0), "tensor[2,3,8,8] tensor[4,3,3,3] (unknown) (unknown) (unknown) (unknown)")
      << "padding, stride, dilation, groups";
  EXPECT_EQ(described(1), "tensor[] tensor[]");
}

std::string CallText(const Trace& trace, size_t op) {
  return std::string(trace.strings.View(trace.operators[op].call));
}

// What TorchInductor hands to the profiler with a call of its kernels.
TEST_F(KinetoReaderTest, ReadsCallsOfCompiledKernels) {
  KinetoBuilder builder;
  const std::string dims = "[[8, 4], [4], []]";
  const std::string types = R"(["float", "c10::Half", "Scalar"])";
  const std::string values = R"(["", "", "32"])";
  builder.AddOperator({.name = "triton_poi_fused_add_0",
                       .dims = dims,
                       .types = types,
                       .values = values,
                       .more = {{"Input Strides", "[[0, 1], [1], []]"},
                                {"kernel_backend", R"("triton")"},
                                {"kernel_kwargs", R"("XBLOCK=16")"},
                                {"kernel_flop", "64"},
                                {"kernel_num_gb", "1.5e-06"},
                                {"num_warps", "4"}}});
  builder.AddOperator({.name = "triton_poi_fused_add_0",
                       .dims = dims,
                       .types = types,
                       .values = values,
                       .more = {{"Input Strides", "[[4, 1], [1], []]"},
                                {"kernel_file", R"("/tmp/a.py")"},
                                {"grid", R"json("grid(32,)")json"}}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 2u);
  const std::string numbers = "{'name': '', 'type': 'int', 'value': 32}, ";
  EXPECT_EQ(CallText(trace, 0),
            "{'mod': 'triton', 'op': 'triton_poi_fused_add_0', 'args': [{'name': '', 'type': "
            "'tensor', 'shape': (1, 4), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', "
            "'shape': (4,), 'dtype': 'float16'}, " +
                numbers +
                "{'name': 'kernel_kwargs', 'type': 'str', 'value': 'XBLOCK=16'}, {'name': "
                "'kernel_flop', 'type': 'int', 'value': 64}, {'name': 'kernel_bytes', 'type': "
                "'int', 'value': 1500}]}");
  EXPECT_EQ(CallText(trace, 1),
            "{'mod': 'triton', 'op': 'triton_poi_fused_add_0', 'args': [{'name': '', 'type': "
            "'tensor', 'shape': (8, 4), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', "
            "'shape': (4,), 'dtype': 'float16'}, " +
                numbers + "{'name': 'grid', 'type': 'str', 'value': 'grid(32,)'}]}");
}

// The same arguments with other constants are another call.
TEST_F(KinetoReaderTest, KeepsCompiledCallsApart) {
  KinetoBuilder builder;
  for (const char* kwargs : {R"("XBLOCK=16")", R"("XBLOCK=32")", R"("XBLOCK=16")"}) {
    builder.AddOperator({.name = "triton_poi_fused_add_0",
                         .dims = "[[8]]",
                         .types = R"(["float"])",
                         .more = {{"kernel_kwargs", kwargs}}});
  }
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 3u);
  EXPECT_EQ(trace.operators[0].call, trace.operators[2].call);
  EXPECT_NE(trace.operators[0].call, trace.operators[1].call);
}

TEST_F(KinetoReaderTest, SurvivesOddFactsOfCompiledKernels) {
  KinetoBuilder builder;
  builder.AddOperator({.name = "triton_poi_fused_add_0",
                       .dims = "[[8], [[2], [3]], [4, 4]]",
                       .types = R"(["float", "TensorList", "float"])",
                       .more = {{"Input Strides", R"([[0, 0], "x", 7, [[1]]])"},
                                {"kernel_backend", "5"},
                                {"kernel_kwargs", "[1]"},
                                {"kernel_flop", R"("many")"},
                                {"kernel_num_gb", "1e300"},
                                {"grid", "{}"}}});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 1u);
  std::string error;
  const auto call = ParseOpCall(CallText(trace, 0), &error);
  ASSERT_TRUE(call.has_value()) << error;
  EXPECT_EQ(Describe(call->args), "tensor[8]float32 1:tensor[2] 1:tensor[3] tensor[4,4]float32");
}

// Whoever registered it: a name alone is that of an operator.
TEST_F(KinetoReaderTest, OperatorsWithoutArgumentsKeepTheirNames) {
  KinetoBuilder builder;
  for (const char* name :
       {"triton_poi_fused_gelu_8", "CompiledFunction", "detach", "record_param_comms"}) {
    builder.AddOperator({.name = name});
  }
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 3u);
  EXPECT_EQ(CallText(trace, 0), "{'mod': 'triton', 'op': 'triton_poi_fused_gelu_8', 'args': []}");
  EXPECT_EQ(CallText(trace, 1), "{'mod': '', 'op': 'CompiledFunction', 'args': []}");
  // Files of the first versions have labels of the user under the same category.
  KinetoBuilder old({.old_names = true});
  old.AddOperator({.name = "warmup"});
  EXPECT_TRUE(Read(old).operators.empty());
}

TEST_F(KinetoReaderTest, MakesEachCallOnce) {
  KinetoBuilder builder;
  for (const char* dims : {"[[2, 3]]", "[[2, 3]]", "[[2], [3]]", "[[23]]"}) {
    builder.AddOperator({.name = "aten::relu", .dims = dims, .types = R"(["float", "float"])"});
  }
  builder.AddOperator({.name = "aten::relu", .dims = "[[2, 3]]", .types = R"(["double"])"});
  builder.AddOperator({.name = "aten::tanh", .dims = "[[2, 3]]", .types = R"(["float"])"});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 6u);
  std::vector<StringId> calls;
  for (const Operator& op : trace.operators) calls.push_back(op.call);
  EXPECT_EQ(calls[0], calls[1]);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  EXPECT_EQ(calls.size(), 5u);
}

TEST_F(KinetoReaderTest, TellsRangesApart) {
  KinetoBuilder builder;
  builder.AddHost("user_annotation", "ProfilerStep#6", 0, 100);
  builder.AddHost("user_annotation", "my label", 0, 100);
  builder.AddHost("python_function", "nn.Module: Linear_3", 0, 100);
  builder.AddHost("python_function", "train.py(117): step", 0, 100);
  builder.AddHost("python_function", "<built-in method get of dict object at 0x7f00AB>", 0, 100);
  builder.AddHost("python_function", "<built-in function len>", 0, 100);
  builder.AddHost("python_function", "<frozen os>(709): __getitem__", 0, 100);
  const Trace trace = Read(builder);
  std::vector<std::string> texts;
  for (const Range& range : trace.ranges) {
    texts.push_back(fmt::format("{} {}", static_cast<int>(range.kind), Text(trace, range.text)));
  }
  const auto line = [](RangeKind kind, std::string_view text) {
    return fmt::format("{} {}", static_cast<int>(kind), text);
  };
  EXPECT_THAT(
      texts,
      testing::UnorderedElementsAreArray(
          {line(RangeKind::kStep, "ProfilerStep#6"), line(RangeKind::kAnnotation, "my label"),
           line(RangeKind::kModule, "Linear_3"), line(RangeKind::kFrame, "train.py:117"),
           line(RangeKind::kFrame, "<built-in method get of dict object>"),
           line(RangeKind::kFrame, "<built-in function len>"),
           line(RangeKind::kFrame, "<frozen os>:709")}));
}

TEST_F(KinetoReaderTest, KnowsBackwardNodesAndSteps) {
  KinetoBuilder builder({.old_names = true});
  builder.AddOperator({.name = "AddmmBackward0", .sequence = 13});
  builder.AddOperator({.name = "ProfilerStep#2"});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.operators.size(), 1u);
  EXPECT_TRUE(trace.operators[0].backward);
  EXPECT_EQ(trace.operators[0].call, 0u);
  EXPECT_EQ(trace.operators[0].sequence, 13);
  EXPECT_EQ(CountKind(trace, RangeKind::kStep), 1);
}

TEST_F(KinetoReaderTest, ReadsCopiesFillsWaitsAndOverheads) {
  KinetoBuilder builder;
  const std::string call = fmt::format("{}", builder.AddCall("cudaMemcpyAsync", 0, 100));
  const KinetoArgs args = {{"device", "1"},
                           {"context", "2"},
                           {"stream", "20"},
                           {"correlation", call},
                           {"bytes", "4096"}};
  builder.AddDevice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 10, 5, args);
  builder.AddDevice("gpu_memcpy", "Memcpy PtoP (Device -> Managed Static)", 10, 5, args);
  builder.AddDevice("gpu_memcpy", "Memcpy", 10, 5, args);
  builder.AddDevice("gpu_memcpy", "Memcpy UVM DtoH (Managed -> Pageable)", 10, 5, args);
  builder.AddDevice("gpu_memset", "Memset (Device)", 10, 6, args);
  builder.AddDevice("cuda_sync", "Stream Wait Event", 10, 7, args);
  builder.AddDevice("gpu_user_annotation", "ProfilerStep#1", 10, 8, args);
  builder.AddHost("overhead", "Activity Buffer Request", 10, 9);
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.copies.size(), 4u);
  EXPECT_EQ(trace.copies[3].copy_kind, CopyKind::kUnifiedDeviceToHost);
  EXPECT_EQ(trace.copies[0].copy_kind, CopyKind::kHostToDevice);
  EXPECT_EQ(trace.copies[0].source_kind, MemoryKind::kPinned);
  EXPECT_EQ(trace.copies[0].target_kind, MemoryKind::kDevice);
  EXPECT_EQ(trace.copies[0].size_bytes, 4096);
  EXPECT_EQ(trace.copies[0].device_id, 1);
  EXPECT_EQ(trace.copies[0].context_id, 2);
  EXPECT_EQ(trace.copies[0].stream_id, 20);
  EXPECT_EQ(trace.copies[1].copy_kind, CopyKind::kPeerToPeer);
  EXPECT_EQ(trace.copies[1].target_kind, MemoryKind::kManagedStatic);
  EXPECT_EQ(trace.copies[2].copy_kind, CopyKind::kUnknown);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.copies[0].launch, 0u);
  ASSERT_EQ(trace.sets.size(), 1u);
  EXPECT_EQ(trace.sets[0].size_bytes, 4096);
  EXPECT_EQ(trace.sets[0].launch, 0u);
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].kind, WaitKind::kStreamWaitEvent);
  EXPECT_EQ(trace.synchronizations[0].launch, 0u);
  ASSERT_EQ(trace.device_annotations.size(), 1u);
  EXPECT_EQ(trace.device_annotations[0].stream_id, 20);
  EXPECT_EQ(CountKind(trace, RangeKind::kStep), 0);  // A step on the GPU is no step.
  ASSERT_EQ(trace.overheads.size(), 1u);
  EXPECT_EQ(trace.overheads[0].kind, OverheadKind::kBufferRequest);
  EXPECT_EQ(trace.overheads[0].end_ns - trace.overheads[0].start_ns, 9);
}

TEST_F(KinetoReaderTest, KeepsOnlyCallsWithWork) {
  KinetoBuilder builder;
  builder.AddCall("cudaStreamIsCapturing", 0, 10);
  builder.Launch({.name = "k"}, 100);
  builder.AddCall("cudaEventQuery", 200, 10);
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.kernels[0].launch, 0u);
}

TEST_F(KinetoReaderTest, TellsWhatWasPutIntoGraphsWhereItIsAskedFor) {
  KinetoBuilder builder;
  const KinetoArgs named = {{"kernel", JsonText("captured")}, {"grid", "[2,1,1]"}};
  builder.AddCall("hipLaunchKernel", 50, 10, 1234, "cuda_runtime", named);  // Lost: no capture yet.
  builder.AddCall("hipStreamBeginCapture", 100, 10);
  builder.AddCall("hipExtModuleLaunchKernel", 200, 10, 1234, "cuda_runtime", named);
  builder.AddCall("hipMemcpyAsync", 250, 10);
  builder.AddCall("hipStreamEndCapture", 300, 10);
  builder.AddCall("cudaStreamBeginCapture", 400, 10);
  builder.AddCall("cudaLaunchKernel", 500, 10);
  builder.AddCall("cudaStreamEndCapture", 600, 10);
  builder.Launch({.name = "k"}, 700);
  EXPECT_TRUE(Read(builder).captured.empty());
  EXPECT_EQ(Read(builder, {TracePart::kCaptures}).captured.size(), 2u);
  const Trace trace = Read(builder, {TracePart::kOwnCaptures});
  ASSERT_EQ(trace.kernels.size(), 1u);
  const std::vector<Kernel>& captured = trace.captured;
  ASSERT_EQ(captured.size(), 2u);
  EXPECT_EQ(captured[0].capture, captured[0].launch);
  EXPECT_FALSE(captured[0].timed());
  EXPECT_EQ(trace.strings.View(captured[0].name), "captured");
  EXPECT_EQ(trace.ShapeOf(captured[0]).grid[0], 2);
  EXPECT_EQ(trace.launches[captured[0].launch].start_ns % 1000, 200);
  EXPECT_EQ(captured[1].name, 0u);
  EXPECT_NE(captured[0].stream_id, captured[1].stream_id);
}

TEST_F(KinetoReaderTest, KeepsAllCallsWhereTheyAreAskedFor) {
  KinetoBuilder builder;
  builder.AddCall("cudaMalloc", 900, 10);
  const int64_t call = builder.Launch({.name = "k"}, 100);
  builder.AddHost("cuda_driver", "cuLaunchKernel", 101, 5, 1234,
                  {{"correlation", fmt::format("{}", call)}});
  builder.AddHost("cuda_runtime", "predictor::run", 500, 10, 99, {});
  builder.AddRaw(R"({"ph": "X", "cat": "cuda_runtime", "name": "reversed", "ts": 9, "dur": -1})");
  const Trace trace = Read(builder, TraceNeeds::All());
  Texts names;
  for (const LaunchCall& launch : trace.launches) names.emplace_back(Text(trace, launch.api));
  EXPECT_EQ(names, (Texts{"cudaLaunchKernel", "cuLaunchKernel", "predictor::run", "cudaMalloc"}));
  EXPECT_EQ(trace.kernels[0].launch, 0u);
  EXPECT_EQ(trace.launches[2].correlation_id, kUnknownId);
  EXPECT_EQ(trace.threads[trace.launches[2].thread].thread_id, 99);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 1);
}

TEST_F(KinetoReaderTest, KeepsCallsThatWaitWhereTheyAreAskedFor) {
  KinetoBuilder builder;
  builder.AddCall("cudaMalloc", 900, 10);
  builder.Launch({.name = "k"}, 100);
  builder.AddCall("cudaDeviceSynchronize", 5000, 10, 99);
  builder.AddCall("cudaMemcpy", 4000, 10);
  const Trace trace = Read(builder, {TracePart::kWaitCalls, TracePart::kApiTimes});
  Texts names;
  for (const LaunchCall& launch : trace.launches) names.emplace_back(Text(trace, launch.api));
  EXPECT_EQ(names, (Texts{"cudaLaunchKernel", "cudaMemcpy", "cudaDeviceSynchronize"}));
  EXPECT_EQ(trace.threads[trace.launches[2].thread].thread_id, 99);
  EXPECT_EQ(trace.api_times.size(), 1u);  // The others.
}

TEST_F(KinetoReaderTest, KeepsNothingElseThatNobodyAsksFor) {
  KinetoBuilder builder;
  builder.AddHost("overhead", "Activity Buffer Request", 10, 9);
  builder.AddInstant("[memory]", 6, {{"Bytes", "4"}});
  builder.AddInstant("mark", 8, {});
  builder.AddDevice("cuda_sync", "Stream Wait Event", 10, 7,
                    {{"wait_on_cuda_event_id", "3"}, {"wait_on_cuda_event_record_corr_id", "8"}});
  builder.AddHost("cuda_runtime", "cudaEventRecord", 5, 1, 1234, {{"correlation", "8"}});
  const Trace trace = Read(builder, {});
  EXPECT_EQ(trace.overheads.size(), 0u);
  EXPECT_EQ(trace.memory_events.size(), 0u);
  EXPECT_EQ(trace.instants.size(), 0u);
  EXPECT_EQ(trace.event_records.size(), 0u);
  EXPECT_EQ(trace.launches.size(), 0u);
  ASSERT_EQ(trace.synchronizations.size(), 1u);
  EXPECT_EQ(trace.synchronizations[0].event_id, kNoEvent);
  EXPECT_EQ(trace.clock_offset_ns, std::nullopt);
}

TEST_F(KinetoReaderTest, WaitsKnowWhereTheirEventWasRecorded) {
  KinetoBuilder builder;
  const int64_t record = builder.AddCall("cudaEventRecord", 0, 10);
  const auto wait = [&](const char* name, const KinetoArgs& args) {
    KinetoArgs all = {{"device", "1"}, {"context", "2"}, {"stream", "20"}};
    all.insert(all.end(), args.begin(), args.end());
    builder.AddDevice("cuda_sync", name, 10, 7, all);
  };
  const KinetoArgs event = {{"wait_on_stream", "7"},
                            {"wait_on_cuda_event_id", "3"},
                            {"wait_on_cuda_event_record_corr_id", fmt::format("{}", record)}};
  wait("Stream Wait Event", event);
  wait("Event Sync", event);
  wait("Stream Wait Event",
       {{"wait_on_cuda_event_id", "4"}, {"wait_on_cuda_event_record_corr_id", "-1"}});
  wait("Context Sync", {});
  wait("Stream Wait Event",
       {{"wait_on_cuda_event_id", "\"x\""}, {"wait_on_cuda_event_record_corr_id", "99999"}});
  const Trace trace = Read(builder);
  const auto& waits = trace.synchronizations;
  ASSERT_EQ(waits.size(), 5u);
  ASSERT_EQ(trace.event_records.size(), 2u);
  EXPECT_EQ(waits[0].event_id, 3u);
  EXPECT_EQ(waits[0].event_record, 0u);
  EXPECT_EQ(waits[1].event_record, 0u);
  EXPECT_EQ(trace.event_records[0].stream_id, 7);
  EXPECT_EQ(trace.event_records[0].device_id, 1);
  EXPECT_EQ(trace.event_records[0].context_id, 2);
  EXPECT_EQ(trace.event_records[0].event_id, 3u);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.event_records[0].launch, 0u);
  EXPECT_EQ(waits[2].event_id, 4u);
  EXPECT_EQ(waits[2].event_record, kNoItem);
  EXPECT_EQ(waits[3].event_id, kNoEvent);
  EXPECT_EQ(waits[4].event_id, kNoEvent);
  EXPECT_EQ(trace.event_records[1].launch, kNoLaunch) << "its call is not in the file";
}

TEST_F(KinetoReaderTest, TheBaseOfTimesIsTheirOrigin) {
  KinetoBuilder builder;
  builder.AddMember("baseTimeNanoseconds", "1735632360000000000");
  EXPECT_EQ(Read(builder, {}).clock_offset_ns, 1735632360000000000);
}

TEST_F(KinetoReaderTest, AcceptsWorkBeforeItsCall) {
  KinetoBuilder builder;
  builder.AddKernel({.correlation = 101});
  const int64_t call = builder.AddCall("cuLaunchKernel", 0, 10, 77, "cuda_driver");
  ASSERT_EQ(call, 101);
  const Trace trace = Read(builder);
  ASSERT_NE(trace.kernels[0].launch, kNoLaunch);
  const LaunchCall& launch = trace.launches[trace.kernels[0].launch];
  EXPECT_EQ(Text(trace, launch.api), "cuLaunchKernel");
  EXPECT_EQ(trace.threads[launch.thread].thread_id, 77);
}

TEST_F(KinetoReaderTest, PrefersRuntimeCallsThenEarlierOnes) {
  KinetoBuilder builder;
  const KinetoArgs same = {{"correlation", "9"}};
  const auto add = [&](const char* api, int64_t start_ns, const char* category) {
    builder.AddHost(category, api, start_ns, 10, 1234, same);
  };
  add("cuLaunchKernel", 5, "cuda_driver");
  add("late", 100, "cuda_runtime");
  add("early", 50, "cuda_runtime");
  builder.AddKernel({.correlation = 9});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(Text(trace, trace.launches[0].api), "early");
  EXPECT_EQ(diagnostics_.CountOf(Reason::kDuplicateLaunch), 2);
}

TEST_F(KinetoReaderTest, MarksAllKernelsOfAGraph) {
  for (const char* api : {"cudaGraphLaunch", "hipGraphLaunch"}) {
    KinetoBuilder builder;
    const int64_t call = builder.AddCall(api, 0, 10);
    for (int i = 0; i < 3; ++i) builder.AddKernel({.correlation = call});
    builder.Launch({}, 100);
    const Trace trace = Read(builder);
    ASSERT_EQ(trace.kernels.size(), 4u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(trace.kernels[i].graph) << api;
      EXPECT_EQ(trace.kernels[i].launch, trace.kernels[0].launch);
    }
    EXPECT_FALSE(trace.kernels[3].graph);
  }
}

TEST_F(KinetoReaderTest, TakesSizesFromTheCallWhereTheWorkHasNone) {
  KinetoBuilder builder;
  const int64_t launch =
      builder.AddCall("hipLaunchKernel", 0, 10, 1234, "cuda_runtime",
                      {{"grid", "[5, 6, 7]"}, {"block", "[64, 2, 1]"}, {"shared memory", "96"}});
  const int64_t copy =
      builder.AddCall("hipMemcpyWithStream", 20, 10, 1234, "cuda_runtime", {{"size", "\"2560\""}});
  builder.AddDevice("kernel", "k", 30, 10,
                    {{"device", "2"}, {"stream", "0"}, {"correlation", fmt::format("{}", launch)}});
  builder.AddDevice("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 50, 10,
                    {{"correlation", fmt::format("{}", copy)}});
  const Trace trace = Read(builder);
  EXPECT_EQ(SizesOf(trace.ShapeOf(trace.kernels[0]).grid), "5 6 7");
  EXPECT_EQ(SizesOf(trace.ShapeOf(trace.kernels[0]).block), "64 2 1");
  EXPECT_EQ(trace.DetailsOf(trace.kernels[0]).shared_memory_bytes, 96);
  EXPECT_EQ(trace.ShapeOf(trace.kernels[0]).registers_per_thread, -1);
  EXPECT_EQ(trace.copies[0].size_bytes, 2560);
}

TEST_F(KinetoReaderTest, CountsBlocksWhereTheCallCountsWorkItems) {
  KinetoBuilder builder;
  const KinetoArgs sizes = {{"grid", "[513, 4, 1]"}, {"block", "[256, 2, 1]"}};
  for (const char* api : {"hipExtModuleLaunchKernel", "hipModuleLaunchKernel"}) {
    const int64_t call = builder.AddCall(api, 0, 10, 1234, "cuda_runtime", sizes);
    const std::string correlation = fmt::format("{}", call);
    builder.AddDevice("kernel", "own sizes", 30, 10,
                      {{"correlation", correlation}, sizes[0], sizes[1]});
    builder.AddDevice("kernel", "none", 40, 10, {{"correlation", correlation}});
    builder.AddDevice("kernel", "other sizes", 50, 10,
                      {{"correlation", correlation}, {"grid", "[6, 2, 1]"}, sizes[1]});
  }
  const Trace trace = Read(builder);
  Texts grids;
  for (const Kernel& kernel : trace.kernels) grids.push_back(SizesOf(trace.ShapeOf(kernel).grid));
  EXPECT_THAT(grids,
              testing::ElementsAre("3 2 1", "3 2 1", "6 2 1", "513 4 1", "513 4 1", "6 2 1"));
}

/// What the first traces of AMD GPUs have: numbers of calls and work under "External id" alone.
class KinetoExternalIds : public KinetoReaderTest {
 protected:
  void AddCall(const std::string& api, int64_t id, KinetoArgs args = {}) {
    args.emplace_back("External id", fmt::format("{}", id));
    builder_.AddHost("cuda_runtime", api, 100 * id, 10, 1234, args);
  }
  void AddWork(const std::string& category, int64_t id, KinetoArgs args = {}) {
    args.emplace_back("External id", fmt::format("{}", id));
    builder_.AddDevice(category, category == "kernel" ? "k" : "Memcpy HtoD", 100 * id + 50, 10,
                       args);
  }

  KinetoBuilder builder_;
};

TEST_F(KinetoExternalIds, LinkOneCallWithOneKernel) {
  // Operators are numbered apart.
  builder_.AddOperator({.start_ns = 0, .more = {{"External id", "26"}}});
  AddCall("hipGetDevicePropertiesR0600", 24);
  AddCall("hipExtModuleLaunchKernel", 25,
          {{"grid dim", "[512, 4, 1]"}, {"block dim", "[256, 1, 1]"}});
  AddCall("hipLaunchKernel", 26, {{"grid dim", "[7, 1, 1]"}, {"block dim", "[64, 1, 1]"}});
  AddCall("hipMemcpyWithStream", 27, {{"size", "4096"}});
  AddWork("kernel", 25);
  AddWork("kernel", 26);
  AddWork("gpu_memcpy", 27);
  const Trace trace = Read(builder_);
  ASSERT_EQ(trace.launches.size(), 3u);
  ASSERT_EQ(trace.kernels.size(), 2u);
  ASSERT_LT(trace.kernels[0].launch, 3u);
  EXPECT_EQ(Text(trace, trace.launches[trace.kernels[0].launch].api), "hipExtModuleLaunchKernel");
  EXPECT_EQ(trace.kernels[0].correlation_id, 25);
  EXPECT_EQ(SizesOf(trace.ShapeOf(trace.kernels[0]).grid), "2 4 1");
  EXPECT_EQ(SizesOf(trace.ShapeOf(trace.kernels[0]).block), "256 1 1");
  ASSERT_LT(trace.kernels[1].launch, 3u);
  EXPECT_EQ(trace.launches[trace.kernels[1].launch].start_ns % 10'000, 2600);
  EXPECT_EQ(SizesOf(trace.ShapeOf(trace.kernels[1]).grid), "7 1 1");
  ASSERT_LT(trace.copies[0].launch, 3u);
  EXPECT_EQ(trace.copies[0].size_bytes, 4096);
  EXPECT_FALSE(trace.unnumbered_calls);
}

TEST_F(KinetoExternalIds, LinkNothingThatIsNotUnique) {
  AddCall("hipLaunchKernel", 1);
  AddWork("kernel", 1);
  AddWork("kernel", 1);
  AddCall("hipLaunchKernel", 2);
  AddCall("hipDeviceSynchronize", 2);
  AddWork("kernel", 2);
  AddCall("hipDeviceSynchronize", 3);
  AddWork("kernel", 3);
  AddWork("kernel", 4);
  AddCall("hipLaunchKernel", 5);
  AddWork("kernel", 5);
  const Trace trace = Read(builder_);
  ASSERT_EQ(trace.kernels.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(trace.kernels[i].launch, kNoLaunch) << i;
  EXPECT_EQ(trace.kernels[5].launch, 0u);
  EXPECT_EQ(trace.launches.size(), 1u);
  EXPECT_TRUE(trace.unnumbered_calls);
}

TEST_F(KinetoExternalIds, BelongToOperatorsWhereCorrelationIdsExist) {
  AddCall("cudaLaunchKernel", 1);
  AddWork("kernel", 1);
  builder_.Launch({.name = "numbered"}, 1000);
  const Trace trace = Read(builder_);
  EXPECT_EQ(trace.kernels[0].launch, kNoLaunch);
  EXPECT_EQ(trace.kernels[1].launch, 0u);
  EXPECT_TRUE(trace.unnumbered_calls);
}

TEST_F(KinetoReaderTest, ReadsCollectives) {
  const KinetoArgs collective = {{"Collective name", "\"allreduce\""},
                                 {"In msg nelems", "2049000"},
                                 {"Out msg nelems", "2049001"},
                                 {"Group size", "2"},
                                 {"dtype", "\"Float\""},
                                 {"Process Group Name", "\"0\""},
                                 {"Process Group Ranks", "[0, 1]"},
                                 {"Seq", "5"}};
  KinetoBuilder builder;
  builder.AddOperator({.name = "record_param_comms", .more = collective});
  builder.AddKernel({.name = "plain"});
  builder.AddKernel({.name = "ncclKernel", .more = collective});
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.communications.size(), 2u);
  EXPECT_EQ(trace.DetailsOf(trace.kernels[0]).communication, kNoItem);
  ASSERT_EQ(trace.DetailsOf(trace.kernels[1]).communication, 1u);
  const Communication& read = trace.communications[1];
  EXPECT_EQ(Text(trace, read.name), "allreduce");
  EXPECT_EQ(Text(trace, read.dtype), "Float");
  EXPECT_EQ(Text(trace, read.group), "0");
  EXPECT_EQ(Text(trace, read.ranks), "[0, 1]");
  EXPECT_EQ(read.input_elements, 2049000);
  EXPECT_EQ(read.output_elements, 2049001);
  EXPECT_EQ(read.group_size, 2);
  EXPECT_EQ(read.sequence, 5);
  EXPECT_EQ(read.thread, kNoThread);
  EXPECT_EQ(read.start_ns, trace.kernels[1].start_ns);
  EXPECT_EQ(read.end_ns, trace.kernels[1].end_ns);
  const Communication& op = trace.communications[0];
  EXPECT_EQ(op.start_ns, trace.ranges[0].start_ns);
  EXPECT_EQ(op.end_ns, trace.ranges[0].end_ns);
  EXPECT_EQ(op.thread, trace.ThreadOf(trace.ranges[0]));
}

TEST_F(KinetoReaderTest, ReadsWhatLabelsOfCollectivesTell) {
  struct Label {
    std::string name;
    std::string dims;
    std::string types;
    int64_t elements;  ///< -1: it tells nothing.
    std::string dtype;
  };
  const std::vector<Label> labels = {
      {"nccl:all_reduce", "[[10, 3]]", "[\"c10::Half\"]", 30, "c10::Half"},
      {"gloo:broadcast", "[[2], [], [4]]", "[\"float\", \"Scalar\", \"float\"]", 6, "float"},
      {"nccl:reduce", "[[2], [4]]", "[\"float\", \"int\"]", 6, ""},
      {"nccl:all_gather", "[[[2, 2], [3]]]", "[\"TensorList\"]", 7, ""},
      {"nccl:a", "[[]]", "[\"TensorList\"]", -1, ""},
      {"nccl:b", "[[-1]]", "[\"float\"]", -1, ""},
      {"nccl:c", "[[9223372036854775807, 9]]", "[\"float\"]", -1, ""},
      {"nccl:d", "[[\"x\"]]", "[\"float\"]", -1, ""},
      {"nccl:e", "[[1]]", "7", -1, ""},
      {"nccl:f", "[[1]]", "[]", -1, ""},
      {"forward", "[[1]]", "[\"float\"]", -1, ""},
  };
  for (const char* const category : {"user_annotation", "cpu_op"}) {
    for (const Label& label : labels) {
      KinetoBuilder builder;
      builder.AddHost(category, label.name, 100, 50, 1234,
                      {{"Input Dims", label.dims}, {"Input type", label.types}});
      const Trace trace = Read(builder);
      ASSERT_EQ(trace.communications.size(), label.elements < 0 ? 0u : 1u) << label.name;
      if (label.elements < 0) continue;
      const Communication& told = trace.communications[0];
      EXPECT_EQ(Text(trace, told.name), label.name.substr(label.name.find(':') + 1));
      EXPECT_EQ(told.input_elements, label.elements);
      EXPECT_EQ(told.output_elements, kUnknownId);
      EXPECT_EQ(Text(trace, told.dtype), label.dtype);
      EXPECT_EQ(told.start_ns, trace.ranges[0].start_ns);
      EXPECT_EQ(told.thread, trace.ThreadOf(trace.ranges[0]));
    }
  }
}

TEST_F(KinetoReaderTest, ReadsMemoryEvents) {
  for (const bool old : {false, true}) {
    KinetoBuilder builder({.old_names = old});
    builder.AddInstant("[memory]", 5,
                       {{"Device Type", "1"},
                        {"Device Id", "2"},
                        {"Bytes", "-4096"},
                        {"Addr", "18446603336221196288"},
                        {"Total Allocated", "10"},
                        {"Total Reserved", "20"}});
    builder.AddInstant("[memory]", 6, {{"Device Type", "0"}, {"Device Id", "-1"}, {"Bytes", "4"}});
    builder.AddInstant("[memory]", 7, {});
    builder.AddInstant("mark", 8, {});
    const Trace trace = Read(builder);
    ASSERT_EQ(trace.memory_events.size(), 2u);
    EXPECT_EQ(trace.memory_events[0].device_id, 2);
    EXPECT_EQ(trace.memory_events[0].size_bytes, -4096);
    EXPECT_NE(trace.memory_events[0].address, 0);
    EXPECT_EQ(trace.memory_events[0].total_allocated_bytes, 10);
    EXPECT_EQ(trace.memory_events[0].total_reserved_bytes, 20);
    EXPECT_EQ(trace.memory_events[1].device_id, -1);
    EXPECT_EQ(trace.memory_events[1].total_reserved_bytes, kUnknownId);
    ASSERT_EQ(trace.instants.size(), 1u);
    EXPECT_EQ(Text(trace, trace.instants[0].text), "mark");
    EXPECT_EQ(diagnostics_.CountOf(Reason::kBadEvent), 1);
  }
}

TEST_F(KinetoReaderTest, JoinsForwardAndBackwardInAnyOrder) {
  KinetoBuilder builder;
  builder.AddFlow("f", 1, 900, 2);
  builder.AddFlow("s", 2, 100, 1);
  builder.AddFlow("s", 1, 200, 1);
  builder.AddFlow("f", 2, 800, 2);
  builder.AddFlow("s", 2, 300, 1);  // The number again, without an end.
  builder.AddFlow("s", 7, 400, 1, "ac2g");
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.forward_backward_links.size(), 2u);
  for (const ForwardBackwardLink& link : trace.forward_backward_links) {
    EXPECT_EQ(trace.threads[link.forward_thread].thread_id, 1);
    EXPECT_EQ(trace.threads[link.backward_thread].thread_id, 2);
  }
  EXPECT_EQ(
      trace.forward_backward_links[0].backward_ns - trace.forward_backward_links[0].forward_ns,
      700);
  EXPECT_THAT(diagnostics_.notes(), Not(testing::Contains(HasSubstr("ac2g"))));
}

TEST_F(KinetoReaderTest, KeepsKernelsThatItCannotTime) {
  KinetoBuilder builder;
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7})");
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7,
                     "ts": "soon", "dur": 5})");
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7,
                     "ts": 9e18, "dur": 5})");
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 7,
                     "ts": 50, "dur": -5})");
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 50, "dur": 5,
                     "args": {"grid": [1, 2], "device": "x"}})");
  const Trace trace = Read(builder);
  ASSERT_EQ(trace.kernels.size(), 5u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(trace.kernels[i].timed()) << i;
    EXPECT_TRUE(trace.kernels[i].bad_row) << i;
    EXPECT_EQ(trace.kernels[i].stream_id, 7);
  }
  EXPECT_LT(trace.kernels[3].end_ns, trace.kernels[3].start_ns);
  EXPECT_EQ(trace.kernels[4].name, 0u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadKernelRow), 4);
}

TEST_F(KinetoReaderTest, CountsBadHostEvents) {
  KinetoBuilder builder;
  builder.AddHost("cpu_op", "backwards", 5000, -1000);
  builder.AddRaw(R"({"ph": "X", "cat": "cpu_op", "name": "timeless", "pid": 1, "tid": 1})");
  builder.AddRaw(R"({"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": 1, "tid": 1,
                     "args": {"correlation": 4}})");
  builder.AddRaw(R"({"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": 1, "tid": 1, "ts": 2,
                     "dur": -1, "args": {"correlation": 5}})");
  builder.AddRaw(R"({"ph": "X", "cat": "gpu_memcpy", "name": "c", "pid": 1, "tid": 1})");
  builder.AddRaw(R"({"cat": "cpu_op"})");
  builder.AddRaw(R"({"ph": 5})");
  const Trace trace = Read(builder);
  EXPECT_EQ(trace.ranges.size(), 0u);
  EXPECT_EQ(trace.copies.size(), 0u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kReversedRange), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadEvent), 3);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchRow), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadLaunchTimes), 1);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadOtherRow), 1);
  EXPECT_THAT(Notes(), HasSubstr("event 2 (cpu_op), timeless"));
}

TEST_F(KinetoReaderTest, TakesIdsOfAnyKind) {
  KinetoBuilder builder;
  for (const char* thread : {"77", "\"77\"", "77.0", "\"worker\"", "\"worker\"", "\"other\"",
                             "140234567890123", "null", "18446744073709551615"}) {
    builder.AddRaw(fmt::format(
        R"({{"ph": "X", "cat": "user_annotation", "name": "a", "pid": 1, "tid": {}, "ts": 1, "dur": 1}})",
        thread));
  }
  const Trace trace = Read(builder);
  std::vector<ThreadIndex> threads;
  for (const Range& range : trace.ranges) threads.push_back(trace.ThreadOf(range));
  // What is no number and no text counts as one unnamed thread.
  EXPECT_EQ(threads, (std::vector<ThreadIndex>{0, 0, 0, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(trace.threads[3].thread_id, 140234567890123);
}

TEST_F(KinetoReaderTest, SaysWhatItLeavesOut) {
  KinetoBuilder builder;
  builder.AddDevice("cuda_profiler_range", "k", 0, 1, {});
  builder.AddDevice("cuda_profiler_range", "k", 0, 1, {});
  builder.AddHost("mtia_ccp_events", "wait", 0, 1);
  builder.AddRaw(R"({"ph": "C", "name": "GPU 0 Utilization", "pid": 0, "ts": 1})");
  builder.AddRaw(R"({"ph": "B", "cat": "cpu_op", "name": "x", "ts": 1})");
  builder.AddHost("Trace", "PyTorch Profiler (0)", 0, 1);
  const Trace trace = Read(builder);
  EXPECT_EQ(trace.ranges.size(), 0u);
  EXPECT_THAT(Notes(), HasSubstr("2 hardware counter ranges"));
  EXPECT_THAT(Notes(), HasSubstr("mtia_ccp_events (1)"));
  EXPECT_THAT(Notes(), HasSubstr("phase C (1)"));
  EXPECT_THAT(Notes(), HasSubstr("cpu_op (1)"));
  EXPECT_THAT(Notes(), HasSubstr("no kernels were recorded"));
  EXPECT_THAT(Notes(), Not(HasSubstr("Trace")));
}

TEST_F(KinetoReaderTest, SurvivesHostileValues) {
  const std::string huge = JsonText(std::string(1 << 20, 'x') + '\0' + "'\\\n");
  KinetoBuilder builder;
  builder.AddRaw(fmt::format(
      R"({{"ph": "X", "cat": {0}, "name": {0}, "pid": {0}, "tid": {0}, "ts": 1, "dur": 1}})",
      huge));
  builder.AddRaw(fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "name": {0}, "ts": 1, "dur": 1, "args": {{"Call stack": {0},
          "Input Dims": [[1]], "Input type": [{0}], "Concrete Inputs": [{0}]}}}})",
      huge));
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 9223372036854775, "dur":
      9223372036854775807, "args": [1]})");
  builder.AddRaw(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 9223372036854775, "dur":
      9223372036854, "args": {"correlation": -9223372036854775808, "grid": [9223372036854775807,
      1, 1], "stream": "7", "Collective name": {"a": []}}})");
  builder.AddRaw(R"({"ph": "s", "cat": "fwdbwd", "id": {"a": 1}, "ts": 1})");
  builder.AddRaw(R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": 5}})");
  builder.AddRaw("{}");
  builder.AddMember("deviceProperties", R"([1, {"id": "x", "name": 4}])");
  builder.AddMember("distributedInfo", "[]");
  builder.AddMember("schemaVersion", "\"one\"");
  const Trace trace = Read(builder);
  EXPECT_EQ(trace.kernels.size(), 2u);
  EXPECT_EQ(trace.operators.size(), 1u);
  EXPECT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadKernelRow), 2);
}

}  // namespace
}  // namespace oplens::parse::kineto_reader_test
