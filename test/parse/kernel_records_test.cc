#include "parse/records/kernel_records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "test/parse/hand_trace.h"

namespace oplens::parse::kernel_records_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class KernelRecordsTest : public HandTrace {
 protected:
  void SetCommunication(size_t kernel, ItemIndex communication) {
    KernelDetails details;
    details.communication = communication;
    trace_.SetDetails(details, &trace_.kernels[kernel]);
  }
};

constexpr std::string_view kLinear =
    "{'mod': 'torch', 'op': 'linear', 'args': [{'name': '', 'type': 'int', 'value': 1}]}";
constexpr std::string_view kMatmul =
    "{'mod': 'Tensor', 'op': 'matmul', 'args': [{'name': '', 'type': 'int', 'value': 1}]}";

TEST_F(KernelRecordsTest, SortsEveryKindOfRangeIntoItsList) {
  Range(0, 100, "epoch");
  Range(1, 99, "layer:encoder");
  Range(2, 98, "layer:attention:0");
  Range(3, 97, "{'traceMarker': ['train.py:9', '/x/torch/nn/modules/linear.py:1', 'net.py:7']}");
  Range(4, 96, "{'mod': 'Linear', 'strRepr': 'in=2'}");
  Range(5, 95, kLinear);
  Range(6, 94, kMatmul);
  Range(7, 93, "mm, seq = 12");
  Kernel(50);
  Join();
  const KernelRecord record = Record(0);
  EXPECT_THAT(record.layer, ElementsAre("encoder", "attention:0"));
  EXPECT_THAT(record.trace, ElementsAre("train.py:9", "net.py:7"));
  EXPECT_THAT(record.repr_markers, ElementsAre("{'mod': 'Linear', 'strRepr': 'in=2'}"));
  EXPECT_THAT(record.markers, ElementsAre(kLinear, kMatmul));
  EXPECT_THAT(record.marker_starts_ns, ElementsAre(5, 6));
  EXPECT_THAT(record.seq_markers, ElementsAre("mm, seq = 12"));
  EXPECT_THAT(record.seq_ids, ElementsAre(12));
  EXPECT_THAT(record.op, ElementsAre("linear", "matmul"));
  EXPECT_THAT(record.mod, ElementsAre("torch", "Tensor"));
  EXPECT_THAT(record.range, ElementsAre("epoch"));
  EXPECT_EQ(record.direction, Direction::kForward);
  EXPECT_EQ(record.thread_id, 100);
  EXPECT_EQ(record.process_id, 10);
  EXPECT_EQ(record.launch_api, "cudaLaunchKernel");
  EXPECT_TRUE(record.reasons.Empty());
}

// 40 layers and 50 annotated calls, one in the other.
TEST_F(KernelRecordsTest, OfManyLayersAndCallsTheOutermostAndTheInnermostAreListed) {
  for (int64_t i = 0; i < 40; ++i) Range(i, 1000 - i, fmt::format("layer:l{}", i));
  for (int64_t i = 40; i < 90; ++i) Range(i, 1000 - i, kLinear);
  Kernel(500);
  Join();
  const KernelRecord record = Record(0);
  ASSERT_EQ(record.layer.size(), 32);
  EXPECT_EQ(record.layer.front(), "l0");
  EXPECT_EQ(record.layer[7], "l7");
  EXPECT_EQ(record.layer[8], "l16");
  EXPECT_EQ(record.layer.back(), "l39");
  EXPECT_EQ(record.layer_cut, 8);
  ASSERT_EQ(record.markers.size(), 32);
  EXPECT_THAT(record.marker_starts_ns.front(), 40);
  EXPECT_THAT(record.marker_starts_ns[8], 66);
  EXPECT_THAT(record.marker_starts_ns.back(), 89);
  EXPECT_EQ(record.marker_cut, 18);
}

TEST_F(KernelRecordsTest, UpTo32LayersAreAllListed) {
  for (int64_t i = 0; i < 32; ++i) Range(i, 1000 - i, fmt::format("layer:l{}", i));
  Kernel(500);
  Join();
  EXPECT_EQ(Record(0).layer.size(), 32);
  EXPECT_EQ(Record(0).layer_cut, 0);
}

TEST_F(KernelRecordsTest, SequenceMarkersAreUniqueByNumberThenNameAndPruned) {
  Range(0, 100, "MmBackward, seq = 9");
  Range(1, 99, "mm, seq = 10");
  Range(2, 98, "matmul, seq = 10");  // Not similar to mm: stays.
  Range(3, 97, "mm_out, seq = 10");  // Holds "mm", which precedes it in the sorted list: dropped.
  Range(4, 96, "mm, seq = 10");      // Twice.
  Range(5, 95, "mm, seq = 0");
  Kernel(50);
  Join();
  const KernelRecord record = Record(0);
  EXPECT_THAT(record.seq_markers, ElementsAre("mm, seq = 0", "MmBackward, seq = 9",
                                              "matmul, seq = 10", "mm, seq = 10"));
  EXPECT_EQ(record.direction, Direction::kBackward);
  EXPECT_THAT(record.seq_ids, ElementsAre(9));
  EXPECT_THAT(record.alt_seq_ids, ElementsAre(10));  // 0 counts for nothing beside others.
  EXPECT_THAT(record.op, ElementsAre("Mm"));
  EXPECT_THAT(record.mod, ElementsAre("na"));
}

TEST_F(KernelRecordsTest, OpsWithoutAnnotation) {
  Range(0, 10, "step");
  Range(1, 9, "inner");
  Kernel(2);
  Range(20, 30, "aten::relu, seq = 4, op_id = 7");
  Kernel(22);
  Range(40, 50, "ReluBackward0, seq = 4");
  Range(41, 49, "threshold_backward, seq = 0");
  Kernel(43);
  Kernel(60);
  Join();
  EXPECT_THAT(Record(0).op, ElementsAre("step"));  // The outermost text, as the user's label.
  EXPECT_THAT(Record(1).op, ElementsAre("relu"));
  EXPECT_THAT(Record(2).op, ElementsAre("threshold"));
  EXPECT_EQ(Record(2).direction, Direction::kBackward);
  EXPECT_THAT(Record(3).op, IsEmpty());
  EXPECT_THAT(Record(3).mod, ElementsAre("na"));
  EXPECT_TRUE(Record(3).reasons.Has(Reason::kNoMarker));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kNoMarker), 1);
}

TEST_F(KernelRecordsTest, SubSequenceNumbersCountKernelsOfOneOpPerThread) {
  Range(0, 100, "layer_norm, seq = 5");
  Range(0, 100, "add_, seq = 5", 1);
  Kernel(10);
  Kernel(11, 1);  // Another thread in between does not disturb.
  Kernel(20);
  Kernel(30);
  Join();
  EXPECT_EQ(Record(0).sub_seq_id, 0);
  EXPECT_EQ(Record(1).sub_seq_id, 0);
  EXPECT_EQ(Record(2).sub_seq_id, 1);
  EXPECT_EQ(Record(3).sub_seq_id, 2);
}

TEST_F(KernelRecordsTest, ForwardTakesTheFirstIdAfterThePreviousOne) {
  Range(0, 10, "equal, seq = 70");
  Kernel(2);
  Range(20, 30, "matmul, seq = 71");
  Range(21, 29, "mm, seq = 72");
  Kernel(22);
  Range(40, 50, "sum, seq = 0");
  Kernel(42);
  Join();
  EXPECT_THAT(Record(1).seq_ids, ElementsAre(71));
  EXPECT_THAT(Record(1).alt_seq_ids, ElementsAre(72));
  // No id is later than 71: the kernel belongs to none, and its own id becomes an alternative.
  EXPECT_THAT(Record(2).seq_ids, IsEmpty());
  EXPECT_THAT(Record(2).alt_seq_ids, ElementsAre(0));
}

TEST_F(KernelRecordsTest, AllOtherIdsAreAlternatives) {
  Range(0, 100, "a, seq = 1");
  Range(1, 99, "b, seq = 2");
  Range(2, 98, "c, seq = 3");
  Kernel(50);
  Join();
  EXPECT_THAT(Record(0).seq_ids, ElementsAre(1));
  EXPECT_THAT(Record(0).alt_seq_ids, ElementsAre(2, 3));
}

TEST_F(KernelRecordsTest, StateFollowsLaunchesNotStarts) {
  Range(0, 10, "a, seq = 1");
  Range(20, 30, "b, seq = 2");
  Kernel(2);
  Kernel(22);
  trace_.kernels[0].start_ns = 500;  // Ran last, on another stream.
  trace_.kernels[0].end_ns = 600;
  Join();
  EXPECT_THAT(Record(0).op, ElementsAre("b"));
  EXPECT_THAT(Record(0).seq_ids, ElementsAre(2));
  EXPECT_THAT(Record(1).op, ElementsAre("a"));
  EXPECT_THAT(Record(1).seq_ids, ElementsAre(1));
}

TEST_F(KernelRecordsTest, OutputOrder) {
  Kernel(50, 0, "third");
  Kernel(10, 0, "second");
  Kernel(60, 0, "untimed");
  Kernel(5, 0, "first");
  trace_.kernels[2].start_ns = trace_.kernels[2].end_ns = 0;
  trace_.kernels[1].start_ns = trace_.kernels[3].start_ns = 1;  // Tie: correlation id decides.
  std::swap(trace_.kernels[1].correlation_id, trace_.kernels[3].correlation_id);
  Join();
  EXPECT_EQ(Record(0).short_name, "first");
  EXPECT_EQ(Record(1).short_name, "second");
  EXPECT_EQ(Record(2).short_name, "third");
  EXPECT_EQ(Record(3).short_name, "untimed");
  EXPECT_TRUE(Record(3).reasons.Has(Reason::kUntimed));
  EXPECT_EQ(Record(3).duration_ns, 0);
}

TEST_F(KernelRecordsTest, SeveralKernelsOfOneLaunch) {
  Range(0, 10, "relu, seq = 3");
  Kernel(2);
  Kernel(2);
  trace_.kernels[1].launch = trace_.kernels[0].launch;
  trace_.kernels[1].correlation_id = trace_.kernels[0].correlation_id;
  Join();
  EXPECT_THAT(Record(0).op, ElementsAre("relu"));
  EXPECT_THAT(Record(1).op, ElementsAre("relu"));
  EXPECT_EQ(Record(1).sub_seq_id, 1);
}

TEST_F(KernelRecordsTest, ManyKernelsOfOneLaunchInsideManyRanges) {
  constexpr int kMany = 20000;  // Ranges that end within the launch: quadratic if swept a kernel.
  for (int i = 0; i < kMany; ++i) Range(i, 50000, "r");
  Kernel(49999);
  trace_.launches[0].end_ns = 60000;
  trace_.kernels.resize(kMany, trace_.kernels[0]);
  Join();
  EXPECT_TRUE(Record(kMany - 1).reasons.Has(Reason::kNoMarker));
}

TEST_F(KernelRecordsTest, UnlaunchedKernelsHoldPrintableValues) {
  Range(0, 10, "relu, seq = 3");
  Kernel(2);
  trace_.kernels[0].launch = kNoLaunch;
  Join();
  const KernelRecord record = Record(0);
  EXPECT_EQ(record.thread_id, 0);
  EXPECT_EQ(record.direction, Direction::kUnknown);
  EXPECT_THAT(record.op, IsEmpty());
  EXPECT_FALSE(record.launch_api.has_value());
  EXPECT_FALSE(record.process_id.has_value());
  EXPECT_TRUE(record.reasons.Has(Reason::kNoLaunchCall));
  EXPECT_FALSE(record.reasons.Has(Reason::kNoMarker));
}

TEST_F(KernelRecordsTest, RecordsSayWhatIsKnownOfTheGpu) {
  Device h100;
  h100.compute_capability_major = 9;
  h100.multiprocessors = 132;
  h100.core_clock_hz = 1'980'000'000;
  h100.memory_bandwidth_bytes_per_s = 3'352'320'000'000;
  h100.warp_threads = 32;
  Device other;
  other.id = 1;
  other.compute_capability_major = 9;
  other.compute_capability_minor = 4;
  other.multiprocessors = -1;
  other.warp_threads = 64;
  Device nothing;
  nothing.id = 2;
  trace_.devices = {h100, other, nothing};
  for (int device = 0; device < 4; ++device) {
    Kernel(10 * device);
    trace_.kernels.back().device_id = device;
  }
  KernelDetails details;
  details.shared_memory_bytes = 512;
  trace_.SetDetails(details, &trace_.kernels[0]);
  Join();
  EXPECT_EQ(Record(0).gpu, "cc=9.0,sms=132,clock=1980000000,dram=3352320000000");
  EXPECT_EQ(Record(0).shared_memory_bytes, 512);
  EXPECT_EQ(Record(1).gpu, "cc=9.4,warp=64");
  EXPECT_EQ(Record(1).shared_memory_bytes, std::nullopt);
  EXPECT_EQ(Record(2).gpu, std::nullopt);
  EXPECT_EQ(Record(3).gpu, std::nullopt);
}

// AMD's profilers number the GPUs of kernels by node of the machine, those of the list from 0 on.
TEST_F(KernelRecordsTest, UnlistedDevicesAreOneOfTheListWhereAllAreAlike) {
  Device device;
  device.name = trace_.strings.Intern("AMD Instinct MI300X");
  device.compute_capability_major = 9;
  device.compute_capability_minor = 4;
  device.multiprocessors = 304;
  device.warp_threads = 64;
  device.memory_bytes = 206'141'652'992;
  trace_.devices = {device, device};
  trace_.devices[1].id = 1;
  Kernel(0);
  trace_.kernels.back().device_id = 9;
  Join();
  EXPECT_EQ(Record(0).device_name, "AMD Instinct MI300X");
  EXPECT_EQ(Record(0).gpu, "cc=9.4,sms=304,warp=64,mem=206141652992");
}

// Without a clock the table has the peaks: the size tells its rows apart.
TEST_F(KernelRecordsTest, TheSizeOfMemoryIsToldWhereNoClockIs) {
  Device device;
  device.name = trace_.strings.Intern("NVIDIA PG509-210");
  device.compute_capability_major = 8;
  device.multiprocessors = 108;
  device.memory_bytes = 85'197'979'648;
  trace_.devices = {device, device};
  trace_.devices[1].id = 1;
  trace_.devices[1].core_clock_hz = 1'410'000'000;
  Kernel(0);
  Kernel(0);
  trace_.kernels.back().device_id = 1;
  Join();
  EXPECT_EQ(Record(0).gpu, "cc=8.0,sms=108,mem=85197979648");
  EXPECT_EQ(Record(1).gpu, "cc=8.0,sms=108,clock=1410000000");
}

TEST_F(KernelRecordsTest, UnlistedDevicesAreUnknownWhereTheListDiffers) {
  Device device;
  device.compute_capability_major = 9;
  trace_.devices = {device, device};
  trace_.devices[1].id = 1;
  trace_.devices[1].memory_bytes = 1;
  Kernel(0);
  trace_.kernels.back().device_id = 9;
  Join();
  EXPECT_EQ(Record(0).gpu, std::nullopt);
}

TEST_F(KernelRecordsTest, OpenRangesGiveLayerAndContextOnly) {
  Range(0, kNeverClosed, "layer:net");
  Range(1, kNeverClosed, kLinear);
  Range(2, kNeverClosed, "mul, seq = 3");
  Range(3, kNeverClosed, "{'traceMarker': ['a.py:1']}");
  Range(4, kNeverClosed, "warm up");
  Kernel(50);
  Join();
  const KernelRecord record = Record(0);
  EXPECT_THAT(record.layer, ElementsAre("net"));
  EXPECT_THAT(record.range,
              ElementsAre("torch.linear [open]", "mul, seq = 3 [open]", "warm up [open]"));
  EXPECT_THAT(record.markers, IsEmpty());
  EXPECT_THAT(record.seq_markers, IsEmpty());
  EXPECT_THAT(record.trace, IsEmpty());
  EXPECT_THAT(record.op, IsEmpty());
  EXPECT_TRUE(record.reasons.Has(Reason::kOpenRange));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kOpenRange), 5);
}

TEST_F(KernelRecordsTest, KeepOpenTakesThemAsClosed) {
  Range(1, kNeverClosed, kLinear);
  Range(2, kNeverClosed, "mul, seq = 3");
  Range(3, kNeverClosed, "{'traceMarker': ['a.py:1']}");
  Kernel(50);
  Join({.keep_open = true});
  const KernelRecord record = Record(0);
  EXPECT_THAT(record.markers, ElementsAre(kLinear));
  EXPECT_THAT(record.seq_ids, ElementsAre(3));
  EXPECT_THAT(record.trace, ElementsAre("a.py:1"));
  EXPECT_TRUE(record.reasons.Has(Reason::kOpenRange));
}

TEST_F(KernelRecordsTest, LeaksAreLeftOut) {
  for (int i = 0; i < 8; ++i) Range(i, kNeverClosed, "kept");
  for (int i = 0; i < 9; ++i) Range(20 + i, kNeverClosed, "leaked");
  for (int i = 0; i < 9; ++i) Range(20 + i, kNeverClosed, "leaked", 1);
  Kernel(50);
  Kernel(60, 1);
  Kernel(5, 1);  // Before the first leak.
  Join();
  EXPECT_EQ(Record(1).range.size(), 8u);
  EXPECT_TRUE(Record(1).reasons.Has(Reason::kOpenRange));
  EXPECT_TRUE(Record(2).reasons.Has(Reason::kOnlyLeakedRanges));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kOnlyLeakedRanges), 1);
  EXPECT_TRUE(Record(0).reasons.Has(Reason::kNoMarker));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kLeakedRange), 18);
  EXPECT_EQ(diagnostics_.CountOf(Reason::kOpenRange), 8);
}

TEST_F(KernelRecordsTest, OperatorsGiveCallsAndSequence) {
  Typed(RangeKind::kStep, 0, 1000, "ProfilerStep#3");
  Op(10, 90, "aten::linear", kLinear, 7);
  Op(20, 80, "aten::addmm", kMatmul, 7);
  Kernel(50);
  Op(200, 300, "autograd::engine::evaluate_function: AddmmBackward0", "", 7, 1);
  Op(210, 290, "AddmmBackward0", "", 7, 1);
  Op(220, 280, "aten::mm", kMatmul, -1, 1);
  Kernel(230, 1);
  Op(400, 500, "torch::autograd::AccumulateGrad", "", -1, 1);
  Kernel(450, 1);
  Join();
  EXPECT_THAT(Record(0).markers, ElementsAre(kLinear, kMatmul));
  EXPECT_THAT(Record(0).marker_starts_ns, ElementsAre(10, 20));
  EXPECT_THAT(Record(0).op, ElementsAre("linear", "matmul"));
  EXPECT_THAT(Record(0).mod, ElementsAre("torch", "Tensor"));
  EXPECT_THAT(Record(0).seq_markers, ElementsAre("aten::addmm, seq = 7", "aten::linear, seq = 7"));
  EXPECT_THAT(Record(0).seq_ids, ElementsAre(7));
  EXPECT_EQ(Record(0).direction, Direction::kForward);
  EXPECT_THAT(Record(0).range, ElementsAre("ProfilerStep#3"));

  EXPECT_THAT(Record(1).seq_markers, ElementsAre("AddmmBackward0, seq = 7"));
  EXPECT_THAT(Record(1).seq_ids, ElementsAre(7));
  EXPECT_THAT(Record(1).markers, ElementsAre(kMatmul));
  EXPECT_EQ(Record(1).direction, Direction::kBackward);

  // No forward op, but not forward either.
  EXPECT_EQ(Record(2).direction, Direction::kBackward);
  EXPECT_THAT(Record(2).seq_ids, IsEmpty());
  EXPECT_THAT(Record(2).op, IsEmpty());
}

TEST_F(KernelRecordsTest, ModulesAreLayersAndFramesTheStack) {
  Typed(RangeKind::kFrame, 0, 1000, "train.py:10");
  Typed(RangeKind::kFrame, 1, 999, "torch/nn/modules/module.py:1518");
  Typed(RangeKind::kModule, 2, 998, "Net_0");
  Typed(RangeKind::kFrame, 3, 997, "net.py:20");
  Typed(RangeKind::kFrame, 4, 996, "<built-in method linear>");
  Typed(RangeKind::kModule, 5, 995, "Linear_1");
  Typed(RangeKind::kFrame, 6, kNeverClosed, "open.py:1");
  Typed(RangeKind::kAnnotation, 7, 994, "{'mod': 'torch', 'op': 'mm', 'args': []}");
  Kernel(50);
  Join();
  EXPECT_THAT(Record(0).layer, ElementsAre("Net_0", "Linear_1"));
  EXPECT_THAT(Record(0).trace, ElementsAre("train.py:10", "net.py:20"));
  EXPECT_THAT(Record(0).markers, IsEmpty());  // A label is never an op,
  EXPECT_THAT(Record(0).op, IsEmpty());       // nor an op of last resort.
  EXPECT_THAT(Record(0).range, ElementsAre("{'mod': 'torch', 'op': 'mm', 'args': []}"));
}

TEST_F(KernelRecordsTest, DeepStacksKeepTheInnermostFrames) {
  for (int i = 0; i < 100; ++i) {
    Typed(RangeKind::kFrame, i, 1000 - i, "net.py:" + std::to_string(i));
  }
  Kernel(500);
  Join();
  ASSERT_EQ(Record(0).trace.size(), kMaxFrames);
  EXPECT_EQ(Record(0).trace.front(), "net.py:36");
  EXPECT_EQ(Record(0).trace.back(), "net.py:99");
}

TEST_F(KernelRecordsTest, StackOfTheInnermostOperator) {
  Op(0, 100, "aten::linear", kLinear);
  trace_.operators.back().stack = trace_.strings.Intern("{'traceMarker': ['a.py:1', 'b.py:2']}");
  Op(10, 90, "aten::mm", kMatmul);
  Kernel(50);
  Join();
  EXPECT_THAT(Record(0).trace, ElementsAre("a.py:1", "b.py:2"));
}

TEST_F(KernelRecordsTest, AStackThatReadsAsNoneIsNone) {
  Op(0, 10, "aten::mm", "{'mod': 'torch', 'op': 'mm', 'args': []}");
  trace_.operators.back().stack = trace_.strings.Intern("{'traceMarker': ['train.py:1']}");
  Op(20, 30, "aten::add", "{'mod': 'torch', 'op': 'add', 'args': []}");
  // A name in it that texts of no meaning have.
  trace_.operators.back().stack = trace_.strings.Intern(
      "{'traceMarker': ['train.py:3', '<method of CheckpointFunctionBackward object>']}");
  Kernel(5);
  Kernel(25);
  Join();
  EXPECT_THAT(Record(0).trace, ElementsAre("train.py:1"));
  EXPECT_THAT(Record(1).trace, IsEmpty());
}

TEST_F(KernelRecordsTest, WholeMicrosecondsMayEndTooEarly) {
  trace_.clock_resolution_ns = 1000;
  Op(1000, 5000, "aten::linear", kLinear);  // Ends where the next op begins.
  Op(5000, 9000, "aten::mm", kMatmul);
  Kernel(5000);
  trace_.launches.back().end_ns = 10000;  // Seems to outlast the op.
  Kernel(8000);
  trace_.launches.back().end_ns = 11000;
  Join();
  EXPECT_THAT(Record(0).markers, ElementsAre(kMatmul));
  EXPECT_THAT(Record(1).markers, ElementsAre(kMatmul));
}

TEST_F(KernelRecordsTest, ExactTimesAreTakenAtTheirWord) {
  Op(5000, 9000, "aten::mm", kMatmul);
  Kernel(5000);
  trace_.launches.back().end_ns = 10000;
  Join();
  EXPECT_THAT(Record(0).markers, IsEmpty());
}

// A recording that began after the capture has nothing around it.
TEST_F(KernelRecordsTest, GraphKernelsCapturedBeforeAllRangesTakeThoseOfTheReplay) {
  Kernel(50);
  trace_.kernels.back().graph = true;
  trace_.kernels.back().capture = trace_.kernels.back().launch;
  Op(500, 520, "aten::mm", kMatmul);
  trace_.kernels.back().launch = static_cast<LaunchIndex>(trace_.launches.size());
  const ThreadIndex thread = trace_.launches.front().thread;
  trace_.launches.push_back({505, 510, 9, thread, trace_.strings.Intern("cudaGraphLaunch")});
  Join();
  EXPECT_THAT(Record(0).markers, ElementsAre(kMatmul));
  EXPECT_TRUE(Record(0).reasons.Has(Reason::kGraphKernel));
  EXPECT_FALSE(Record(0).reasons.Has(Reason::kNoMarker));
}

TEST_F(KernelRecordsTest, GraphKernelsTakeTheRangesOfTheirCapture) {
  Op(0, 100, "aten::mm", kMatmul);
  Kernel(50);  // Its launch is what captured it.
  trace_.kernels.back().graph = true;
  trace_.kernels.back().capture = trace_.kernels.back().launch;
  trace_.kernels.back().launch = static_cast<LaunchIndex>(trace_.launches.size());
  trace_.launches.push_back({500, 510, 9, 1, trace_.strings.Intern("cudaGraphLaunch")});
  Kernel(600);
  trace_.kernels.back().graph = true;
  Join();
  EXPECT_THAT(Record(0).markers, ElementsAre(kMatmul));
  EXPECT_EQ(Record(0).thread_id, 200);
  EXPECT_EQ(Record(0).launch_api, "cudaGraphLaunch");
  EXPECT_FALSE(Record(0).reasons.Has(Reason::kGraphKernel));
  EXPECT_TRUE(Record(1).reasons.Has(Reason::kGraphKernel));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kGraphKernel), 1);
}

// An op around the launch of a graph is that of the whole graph.
TEST_F(KernelRecordsTest, GraphKernelsSaySoWhateverIsAroundTheirReplay) {
  Op(0, 100, "CompiledFunction", kMatmul, 9);
  Kernel(50);
  trace_.kernels.back().graph = true;
  Op(200, 300, "CompiledFunctionBackward", "", 9, 1);
  Kernel(250, 1);
  trace_.kernels.back().graph = true;
  Kernel(260, 1);
  Join();
  EXPECT_TRUE(Record(0).reasons.Has(Reason::kGraphKernel));
  EXPECT_TRUE(Record(1).reasons.Has(Reason::kGraphKernel));
  EXPECT_EQ(Record(1).direction, Direction::kBackward);
  EXPECT_FALSE(Record(2).reasons.Has(Reason::kGraphKernel));
}

TEST_F(KernelRecordsTest, ReplaysWithoutKernelsHaveTheRangesOfTheirLaunch) {
  Range(0, 100, "iteration 3");
  Range(10, 90, "layer:decoder");
  Kernel(20);
  GraphReplay late;
  late.start_ns = 70;
  late.end_ns = 95;
  late.stream_id = 7;
  late.launch = static_cast<LaunchIndex>(trace_.launches.size());
  trace_.launches.push_back({50, 51, 9, 0, trace_.strings.Intern("cudaGraphLaunch")});
  GraphReplay early;
  early.start_ns = 60;
  early.end_ns = 65;
  trace_.graph_replays = {late, early};
  Join();
  ASSERT_EQ(records_->kernel_count(), 1u);
  ASSERT_EQ(records_->replay_count(), 2u);
  KernelRecord record;
  records_->ReplayOf(0, &record);
  EXPECT_EQ(record.duration_ns, 5);
  EXPECT_THAT(record.range, IsEmpty());
  records_->ReplayOf(1, &record);
  EXPECT_EQ(record.start_ns, 70);
  EXPECT_EQ(record.duration_ns, 25);
  EXPECT_EQ(record.stream_id, 7);
  EXPECT_EQ(record.launch_api, "cudaGraphLaunch");
  EXPECT_THAT(record.range, ElementsAre("iteration 3"));
  EXPECT_THAT(record.layer, ElementsAre("decoder"));
  EXPECT_TRUE(record.timed());
}

TEST_F(KernelRecordsTest, CompiledKernelsSaySo) {
  Kernel(50, 0, "triton_poi_fused_add_relu_0");
  Op(90, 120, "triton_poi_fused_add_relu_0", kLinear);
  Kernel(100, 0, "triton_poi_fused_add_relu_0");
  Join();
  EXPECT_TRUE(Record(0).reasons.Has(Reason::kCompiledKernel));
  EXPECT_FALSE(Record(1).reasons.Has(Reason::kCompiledKernel));
}

TEST_F(KernelRecordsTest, UnknownNumbersStayUnknown) {
  Kernel(50);
  trace_.kernels.back().shape = trace_.shapes.Add({{1, 1, 1}, {1, 1, 1}, -1, -1, 0});
  trace_.rank_name = trace_.strings.Intern("3");
  Join();
  EXPECT_EQ(Record(0).registers_per_thread, std::nullopt);
  EXPECT_EQ(Record(0).static_shared_memory_bytes, std::nullopt);
  EXPECT_EQ(Record(0).dynamic_shared_memory_bytes, 0);
  EXPECT_EQ(Record(0).rank, "3");
}

TEST_F(KernelRecordsTest, LongPathsAreCut) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("depth " + std::to_string(i));
    Range(i, 200 - i, names.back());
  }
  Kernel(50);
  Join();
  ASSERT_EQ(Record(0).range.size(), kMaxRangePath);
  EXPECT_EQ(Record(0).range.front(), "depth 0");
  EXPECT_EQ(Record(0).range.back(), "depth 15");
  EXPECT_EQ(Record(0).range_cut, 4);
}

TEST_F(KernelRecordsTest, CheckpointWrappersGiveNoNumber) {
  Range(0, 100, "CheckpointFunctionBackward, seq = 8");
  Range(1, 99, "aten::mm, seq = 20");
  Kernel(50);
  Join();
  EXPECT_EQ(Record(0).direction, Direction::kBackward);
  EXPECT_EQ(Record(0).phase, Phase::kRecompute);
  EXPECT_THAT(Record(0).seq_ids, ElementsAre(20));
}

TEST_F(KernelRecordsTest, BadTextsAreFreeAndCounted) {
  Range(0, 100, "{'mod': 'torch', 'op': ");
  Range(1, 99, "{'mod': 'torch', 'op': ");
  Kernel(50);
  Join();
  EXPECT_THAT(Record(0).range, ElementsAre("{'mod': 'torch', 'op': ", "{'mod': 'torch', 'op': "));
  EXPECT_EQ(diagnostics_.CountOf(Reason::kBadMarkerText), 1);  // Once a text.
}

TEST_F(KernelRecordsTest, StepsHoldForAllThreadsOfTheProcess) {
  trace_.threads.push_back({11, 300});
  Typed(RangeKind::kStep, 10, 20, "ProfilerStep#4");
  Typed(RangeKind::kStep, 20, 30, "ProfilerStep#5");
  Range(40, 50, "ProfilerStep#6");  // As an NVTX range.
  Kernel(5);
  Kernel(12);
  Kernel(15, 1);  // The backward pass.
  Kernel(16, 2);  // Another process.
  Kernel(20);
  Kernel(29, 1);
  Kernel(35);
  Kernel(45, 1);
  Join();
  std::vector<std::optional<int64_t>> steps;
  for (size_t i = 0; i < trace_.kernels.size(); ++i) steps.push_back(Record(i).step);
  EXPECT_THAT(steps, ElementsAre(std::nullopt, 4, 4, std::nullopt, 5, 5, std::nullopt, 6));
}

TEST_F(KernelRecordsTest, StepsOfSeveralThreads) {
  Typed(RangeKind::kStep, 10, 30, "ProfilerStep#1", 0);
  Typed(RangeKind::kStep, 15, 35, "ProfilerStep#2", 1);
  Typed(RangeKind::kStep, 40, kNeverClosed, "ProfilerStep#3", 0);
  Typed(RangeKind::kStep, 60, kNeverClosed, "ProfilerStep#4", 0);
  Kernel(20, 0);
  Kernel(21, 1);
  Kernel(50, 1);
  Kernel(70, 1);
  Join();
  EXPECT_EQ(Record(0).step, 1);  // The thread's own.
  EXPECT_EQ(Record(1).step, 2);
  EXPECT_EQ(Record(2).step, 3);
  EXPECT_EQ(Record(3).step, 4);  // What was never closed ends with the next one.
}

TEST_F(KernelRecordsTest, AStepThatWasNeverClosedEndsWhereTheNextBegins) {
  Range(0, kNeverClosed, "ProfilerStep#1");
  Range(10, 20, "ProfilerStep#2");
  for (const int64_t start : {5, 15, 30}) Kernel(start);
  Join();
  EXPECT_EQ(Record(0).step, 1);
  EXPECT_EQ(Record(1).step, 2);
  EXPECT_EQ(Record(2).step, std::nullopt);
}

TEST_F(KernelRecordsTest, OtherTextsAreNoSteps) {
  for (const char* text : {"ProfilerStep#", "ProfilerStep#x", "ProfilerStep#1 of 3", "Step#1",
                           "ProfilerStep#99999999999999999999"}) {
    Range(0, 100, text);
  }
  Kernel(50);
  Join();
  EXPECT_EQ(Record(0).step, std::nullopt);
}

/// An all-reduce of that many elements among two.
Communication AllReduce(Trace* trace, int64_t elements) {
  Communication communication;
  communication.name = trace->strings.Intern("allreduce");
  communication.dtype = trace->strings.Intern("Float");
  communication.input_elements = elements;
  communication.output_elements = elements;
  communication.group_size = 2;
  return communication;
}

std::string AllReduceText(int64_t elements) {
  return fmt::format(
      "{{'mod': 'c10d', 'op': 'all_reduce', 'args': [{{'name': '', 'type': 'tensor', 'shape': "
      "({},), 'dtype': 'float32'}}, {{'name': 'world_size', 'type': 'int', 'value': 2}}]}}",
      elements);
}

TEST_F(KernelRecordsTest, AKernelsCollectiveIsItsInnermostOp) {
  Op(0, 100, "c10d::allreduce_", "{'mod': 'c10d', 'op': 'allreduce_', 'args': []}", 7);
  Kernel(50);
  Kernel(60);
  Kernel(70);
  trace_.communications = {AllReduce(&trace_, 8), AllReduce(&trace_, 9)};
  SetCommunication(0, 0);
  SetCommunication(2, 1);
  Join();
  EXPECT_THAT(Record(0).markers,
              ElementsAre("{'mod': 'c10d', 'op': 'allreduce_', 'args': []}", AllReduceText(8)));
  EXPECT_THAT(Record(0).marker_starts_ns, ElementsAre(0, 50));
  EXPECT_THAT(Record(0).op, ElementsAre("allreduce_", "all_reduce"));
  EXPECT_THAT(Record(0).mod, ElementsAre("c10d", "c10d"));
  EXPECT_THAT(Record(1).markers, ElementsAre("{'mod': 'c10d', 'op': 'allreduce_', 'args': []}"));
  EXPECT_THAT(Record(2).markers, ElementsAre(testing::_, AllReduceText(9)));
  EXPECT_THAT(Record(2).marker_starts_ns, ElementsAre(0, 70));
}

TEST_F(KernelRecordsTest, ACollectiveNeedsNoOtherOp) {
  Range(0, 100, "Backward, seq = 3");
  Kernel(50);
  Kernel(60);
  trace_.kernels[1].launch = kNoLaunch;
  trace_.communications = {AllReduce(&trace_, 8)};
  SetCommunication(0, 0);
  SetCommunication(1, 0);
  Join();
  for (const size_t i : {size_t{0}, size_t{1}}) {
    EXPECT_THAT(Record(i).markers, ElementsAre(AllReduceText(8)));
    EXPECT_THAT(Record(i).op, ElementsAre("all_reduce"));
    EXPECT_THAT(Record(i).mod, ElementsAre("c10d"));
  }
  EXPECT_THAT(Record(0).marker_starts_ns, ElementsAre(50));
  EXPECT_THAT(Record(1).marker_starts_ns, ElementsAre(62));  // The kernel's own.
}

TEST_F(KernelRecordsTest, ExtremeTimes) {
  Kernel(50);
  trace_.kernels[0].start_ns = INT64_MIN;
  trace_.kernels[0].end_ns = INT64_MAX;
  Kernel(60);
  trace_.kernels[1].start_ns = INT64_MAX;
  trace_.kernels[1].end_ns = INT64_MIN;
  Join();
  EXPECT_EQ(Record(0).duration_ns, INT64_MAX);
  EXPECT_EQ(Record(1).duration_ns, 0);
  EXPECT_TRUE(Record(1).reasons.Has(Reason::kBadTimes));
}

}  // namespace
}  // namespace oplens::parse::kernel_records_test
