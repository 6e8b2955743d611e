#include "prof/price/op_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "test/prof/rows.h"

namespace oplens::prof::op_resolver_test {
namespace {

using test::kMysteryText;
using test::MmText;
using test::PlainRecord;
using testing::ElementsAre;
using testing::IsEmpty;

// x.mm(y) of 2 x 3 and 3 x 4.
const std::string kMm = MmText(2, 3, 4);
// The same annotation with sizes that contradict each other.
const std::string kBadMm =
    "{'mod': 'torch', 'op': 'mm', 'args': ["
    "{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'float32'}, "
    "{'name': '', 'type': 'tensor', 'shape': (5, 4), 'dtype': 'float32'}]}";
// What PyTorch's own range looks like when it is annotated without sizes.
const std::string kShapelessMul = "{'mod': 'torch', 'op': 'mul', 'args': []}";
const std::string kGetattr =
    "{'mod': 'torch', 'op': '__getattr__', 'args': [{'name': '', 'type': 'str', 'value': 'x'}]}";
const std::string kRunBackward = "{'mod': 'Tensor', 'op': 'backward', 'args': []}";

KernelRecord Annotated(std::vector<std::string_view> markers) {
  KernelRecord record = PlainRecord();
  record.mod.assign(markers.size(), "listed mod");
  record.op.assign(markers.size(), "listed op");
  record.markers = std::move(markers);
  return record;
}

KernelRecord Backward(int64_t seq_id) {
  KernelRecord record = PlainRecord();
  record.direction = Direction::kBackward;
  record.seq_ids = {seq_id};
  record.seq_markers = {"MmBackward, seq = 1"};
  record.thread_id = 8;
  record.op = {"Mm"};
  return record;
}

class OpResolverTest : public testing::Test {
 protected:
  OpResolver inner_{OpChoice::kInner};
  OpResolver outer_{OpChoice::kOuter};
  PricedKernel row_;
};

// Those of programs' own nodes are their layer's, and so is what is no collective.
TEST_F(OpResolverTest, CollectivesOfGradientHooksAreInNoLayer) {
  const auto layers = [&](std::string_view kernel, Phase phase, std::string_view node) {
    KernelRecord record = Backward(5);
    record.seq_markers = {node};
    record.phase = phase;
    record.layer = {"conv1"};
    record.long_name = kernel;
    inner_.Resolve(record, &row_);
    return row_.layer.size();
  };
  constexpr std::string_view kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
  constexpr std::string_view kOfOperator = "ConvolutionBackward0, seq = 5";
  EXPECT_EQ(layers(kNccl, Phase::kBackward, kOfOperator), 0u);
  EXPECT_EQ(layers(kNccl, Phase::kAccumulate, "x, seq = 5"), 0u);
  EXPECT_EQ(layers(kNccl, Phase::kGradient, "x, seq = 5"), 0u);
  EXPECT_EQ(layers(kNccl, Phase::kBackward, "_ReduceFromRegionBackward, seq = 5"), 1u);
  EXPECT_EQ(layers(kNccl, Phase::kForward, "conv2d, seq = 5"), 1u);
  EXPECT_EQ(layers(kNccl, Phase::kRecompute, kOfOperator), 1u);
  EXPECT_EQ(layers("gemm", Phase::kBackward, kOfOperator), 1u);
  EXPECT_EQ(layers("gemm", Phase::kAccumulate, kOfOperator), 1u);
}

TEST_F(OpResolverTest, ARangeThatNamesItsPassTellsTheDirection) {
  KernelRecord record = PlainRecord();
  record.range = {"dispatch(F)"};
  record.direction = Direction::kForward;
  inner_.Resolve(record, &row_);
  EXPECT_FALSE(IsDirectionKnown(row_));
  record.phase = Phase::kForward;
  inner_.Resolve(record, &row_);
  EXPECT_TRUE(IsDirectionKnown(row_));
}

// Nor are they of the op of the node in which they happen to run.
TEST_F(OpResolverTest, CollectivesOfGradientHooksAreNotTheNodesOp) {
  KernelRecord forward = Annotated({kMm});
  forward.seq_ids = {5};
  forward.seq_markers = {"mm, seq = 5"};
  forward.nodes = {1};
  inner_.Resolve(forward, &row_);
  KernelRecord record = Backward(5);
  record.seq_markers = {"MmBackward0, seq = 5"};
  record.phase = Phase::kBackward;
  record.nodes = {1};
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "mm");
  record.long_name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
  record.range = {"train", "nccl:all_reduce"};
  const Resolution resolution = inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "nccl:all_reduce");
  EXPECT_EQ(resolution.priced, nullptr);
  EXPECT_FALSE(row_.reasons.Empty());
}

TEST_F(OpResolverTest, ThePriceIsOfTheInnermostThatCanBePriced) {
  const KernelRecord record = Annotated({kMysteryText, kMm, kBadMm, kMysteryText});
  const Resolution resolution = inner_.Resolve(record, &row_);
  ASSERT_NE(resolution.priced, nullptr);
  EXPECT_EQ(resolution.forward, nullptr);
  EXPECT_EQ(row_.op, "mm");
  EXPECT_EQ(row_.mod, "torch");
  EXPECT_EQ(row_.params, resolution.priced->price->params);
  EXPECT_NE(row_.params, "");
  EXPECT_THAT(row_.path, ElementsAre("mystery", "mm", "mm", "mystery"));
  EXPECT_TRUE(row_.reasons.Empty());
}

/// A call of one op on tensors of such a type, "" when it was not recorded.
std::string CallText(std::string_view op, const std::vector<std::string_view>& shapes,
                     std::string_view dtype) {
  std::string text = "{'mod': 'torch', 'op': '" + std::string(op) + "', 'args': [";
  for (const std::string_view shape : shapes) {
    text += "{'name': '', 'type': 'tensor', 'shape': (" + std::string(shape) + "), 'dtype': '" +
            std::string(dtype) + "'}, ";
  }
  return text + "]}";
}

TEST_F(OpResolverTest, OfTheSameWorkACallWithDataTypesIsPreferred) {
  const std::string linear = CallText("linear", {"8, 3", "4, 3", "4,"}, "float16");
  const std::string addmm = CallText("addmm", {"4,", "8, 3", "3, 4"}, "");
  const std::string mm = CallText("mm", {"8, 3", "3, 4"}, "");
  inner_.Resolve(Annotated({linear, addmm}), &row_);
  EXPECT_EQ(row_.op, "linear");
  inner_.Resolve(Annotated({linear, addmm, mm}), &row_);
  EXPECT_EQ(row_.op, "linear");
  // Of two with types it is the next.
  const std::string typed_mm = CallText("mm", {"8, 3", "3, 4"}, "float16");
  inner_.Resolve(Annotated({linear, typed_mm, mm}), &row_);
  EXPECT_EQ(row_.op, "mm");
  // Moving data: no FLOPs to compare.
  const std::string clone = CallText("clone", {"8, 3"}, "float16");
  const std::string copy = CallText("clone", {"8, 3"}, "");
  EXPECT_TRUE(inner_.Resolve(Annotated({clone, copy}), &row_).priced->has_types);
}

TEST_F(OpResolverTest, ACallThatKnowsItsSourceIsExpandedIsPreferred) {
  const std::string repeat =
      "{'mod': 'torch', 'op': 'repeat_interleave', 'args': ["
      "{'name': '', 'type': 'tensor', 'shape': (1, 256), 'dtype': 'float32'}, "
      "{'name': '', 'type': 'int', 'value': 64}, {'name': '', 'type': 'int', 'value': 0}]}";
  const std::string clone = CallText("clone", {"1, 64, 256"}, "float32");
  const std::string copy = CallText("copy_", {"1, 64, 256", "1, 64, 256"}, "float32");
  inner_.Resolve(Annotated({repeat, clone, copy}), &row_);
  EXPECT_EQ(row_.op, "repeat_interleave");
  ASSERT_NE(row_.price, nullptr);
  EXPECT_EQ(row_.price->forward.front().work.bytes.Value(), 4 * (256 + 64 * 256));
  // As much, and a view that moves nothing: the innermost stays.
  inner_.Resolve(Annotated({CallText("view", {"1, 64, 256"}, "float32"), clone, copy}), &row_);
  EXPECT_EQ(row_.op, "copy_");
  // Work beside the moving of data is another matter.
  const std::string relu = CallText("relu", {"8, 3"}, "float32");
  const std::string add = CallText("add", {"8, 3", "8, 3"}, "float32");
  inner_.Resolve(Annotated({relu, add}), &row_);
  EXPECT_EQ(row_.op, "add");
}

TEST_F(OpResolverTest, OtherWorkInsideKeepsItsKernelWithoutDataTypes) {
  const std::string mm = CallText("mm", {"8, 300", "300, 4"}, "float16");
  const std::string clone = CallText("clone", {"8, 300"}, "");
  EXPECT_FALSE(inner_.Resolve(Annotated({mm, clone}), &row_).priced->has_types);
  EXPECT_EQ(row_.op, "clone");
  // Nothing around it has types either.
  const std::string untyped = CallText("mm", {"8, 3", "3, 4"}, "");
  inner_.Resolve(Annotated({CallText("matmul", {"8, 3", "3, 4"}, ""), untyped}), &row_);
  EXPECT_EQ(row_.op, "mm");
}

TEST_F(OpResolverTest, AShapelessRangeInsideNeverTakesThePrice) {
  inner_.Resolve(Annotated({kMm, kShapelessMul}), &row_);
  EXPECT_EQ(row_.op, "mm");
  EXPECT_THAT(row_.path, ElementsAre("mm", "mul"));
}

TEST_F(OpResolverTest, WithoutAPriceTheInnermostIsShownWithItsReason) {
  const Resolution resolution = inner_.Resolve(Annotated({kMysteryText, kBadMm}), &row_);
  EXPECT_EQ(resolution.priced, nullptr);
  EXPECT_EQ(row_.op, "mm");
  EXPECT_EQ(row_.params, "");
  EXPECT_TRUE(row_.reasons.Has(Reason::kShapeMismatch));
  EXPECT_FALSE(row_.reasons.Has(Reason::kUnknownOp));

  inner_.Resolve(Annotated({kBadMm, kMysteryText}), &row_);
  EXPECT_EQ(row_.op, "mystery");
  EXPECT_EQ(row_.mod, "zoo");
  EXPECT_TRUE(row_.reasons.Has(Reason::kUnknownOp));
}

TEST_F(OpResolverTest, OuterTakesTheOutermostWhateverItIs) {
  outer_.Resolve(Annotated({kMm, kMysteryText}), &row_);
  EXPECT_EQ(row_.op, "mm");
  const Resolution resolution = outer_.Resolve(Annotated({kMysteryText, kMm}), &row_);
  EXPECT_EQ(resolution.priced, nullptr);
  EXPECT_EQ(row_.op, "mystery");
  EXPECT_TRUE(row_.reasons.Has(Reason::kUnknownOp));
}

TEST_F(OpResolverTest, TextThatDoesNotParseLeavesTheListedNames) {
  inner_.Resolve(Annotated({"{'mod': 'torch', 'op': oops"}), &row_);
  EXPECT_EQ(row_.op, "listed op");
  EXPECT_EQ(row_.mod, "listed mod");
  EXPECT_THAT(row_.path, ElementsAre("listed op"));
  EXPECT_TRUE(row_.reasons.Has(Reason::kBadMarkerText));

  KernelRecord record = Annotated({"", "\xff"});
  record.op.pop_back();  // A list that does not go with the markers is not used.
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "");
}

TEST_F(OpResolverTest, WithoutAnnotationTheListsNameTheOp) {
  KernelRecord record = PlainRecord();
  record.mod = {"na"};
  record.op = {"sum"};
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "sum");
  EXPECT_EQ(row_.mod, "") << "PyProf's na is unknown";
  EXPECT_THAT(row_.path, IsEmpty());
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoArguments));
  record.op = {};
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "");
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoMarker));
}

TEST_F(OpResolverTest, AFreeTextIsNoOp) {
  KernelRecord record = PlainRecord();
  record.mod = {"na"};
  record.op = {"step 3"};
  record.range = {"step 3", "forward"};
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "");
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoArguments));
  record.range = {};  // As in PyProf's files, which hold the text in no other place.
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "step 3");
}

TEST_F(OpResolverTest, WhatParseSaidIsReasonEnough) {
  for (const Reason reason : {Reason::kNoLaunchCall, Reason::kLeakedRange}) {
    KernelRecord record = PlainRecord();
    record.reasons.Add(reason);
    inner_.Resolve(record, &row_);
    EXPECT_TRUE(row_.reasons == record.reasons);
  }
}

TEST_F(OpResolverTest, TheOpAroundAGraphIsNotItsKernels) {
  KernelRecord record = Annotated({kMysteryText});
  record.reasons.Add(Reason::kGraphKernel);
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.op, "");
  EXPECT_FALSE(row_.has_shapes);
  EXPECT_THAT(row_.path, IsEmpty());
  EXPECT_TRUE(row_.reasons.Has(Reason::kGraphKernel));
  EXPECT_FALSE(row_.reasons.Has(Reason::kUnknownOp));

  KernelRecord backward = Backward(4);
  backward.reasons.Add(Reason::kGraphKernel);
  inner_.Resolve(backward, &row_);
  EXPECT_EQ(row_.op, "");
  EXPECT_FALSE(row_.reasons.Has(Reason::kNoForwardMatch));

  KernelRecord priced = Annotated({kMm});
  priced.reasons.Add(Reason::kGraphKernel);
  inner_.Resolve(priced, &row_);
  EXPECT_EQ(row_.op, "mm") << "a call whose cost is known";
}

TEST_F(OpResolverTest, PythonLookUpsAreNoOps) {
  inner_.Resolve(Annotated({kGetattr, kMysteryText, kGetattr, kGetattr}), &row_);
  EXPECT_EQ(row_.op, "mystery");
  EXPECT_THAT(row_.path, ElementsAre("mystery"));
  inner_.Resolve(Annotated({kGetattr}), &row_);
  EXPECT_EQ(row_.op, "");
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoArguments));
  outer_.Resolve(Annotated({kGetattr, kMm}), &row_);
  EXPECT_EQ(row_.op, "__getattr__") << "PyProf's choice";
}

TEST_F(OpResolverTest, ABackwardKernelTakesItsForwardOp) {
  KernelRecord forward = Annotated({kMysteryText, kMm});
  forward.seq_ids = {5};
  forward.layer = {"encoder"};
  forward.trace = {"net.py:3"};
  inner_.Resolve(forward, &row_);

  const KernelRecord backward = Backward(5);
  const Resolution resolution = inner_.Resolve(backward, &row_);
  ASSERT_NE(resolution.priced, nullptr);
  EXPECT_NE(resolution.forward, nullptr);
  EXPECT_EQ(row_.op, "mm");
  EXPECT_EQ(row_.mod, "torch");
  EXPECT_THAT(row_.path, ElementsAre("mystery", "mm"));
  EXPECT_THAT(std::vector(row_.layer.begin(), row_.layer.end()), ElementsAre("encoder"));
  EXPECT_THAT(std::vector(row_.trace.begin(), row_.trace.end()), ElementsAre("net.py:3"));
  EXPECT_TRUE(row_.reasons.Empty());
}

TEST_F(OpResolverTest, ABackwardKernelWithoutForwardOpSaysSo) {
  const Resolution resolution = inner_.Resolve(Backward(5), &row_);
  EXPECT_EQ(resolution.priced, nullptr);
  EXPECT_EQ(row_.op, "Mm") << "from the name of its node";
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoForwardMatch));
  EXPECT_FALSE(row_.reasons.Has(Reason::kNoMarker));
}

TEST_F(OpResolverTest, AForwardOpWithoutAnnotationStillNamesTheOp) {
  KernelRecord forward = PlainRecord();
  forward.seq_ids = {5};
  forward.op = {"addmm"};
  inner_.Resolve(forward, &row_);
  inner_.Resolve(Backward(5), &row_);
  EXPECT_EQ(row_.op, "addmm");
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoArguments));
  EXPECT_FALSE(row_.reasons.Has(Reason::kNoForwardMatch));
}

TEST_F(OpResolverTest, AnOpWithoutBackwardMadeNoNode) {
  const std::string fill =
      "{'mod': 'Tensor', 'op': 'fill_', 'args': [{'name': '', 'type': 'tensor', 'shape': (4,), "
      "'dtype': 'int32'}, {'name': '', 'type': 'int', 'value': 0}]}";
  KernelRecord forward = Annotated({kMysteryText, fill});
  forward.seq_ids = {5};
  forward.layer = {"net"};
  ASSERT_NE(inner_.Resolve(forward, &row_).priced, nullptr);
  KernelRecord backward = Backward(5);
  backward.seq_markers = {"torch::autograd::CppNode<Lookup>, seq = 5"};
  backward.op = {"torch::autograd::CppNode<Lookup>"};
  const Resolution resolution = inner_.Resolve(backward, &row_);
  EXPECT_EQ(resolution.forward, nullptr);
  EXPECT_EQ(row_.op, "torch::autograd::CppNode<Lookup>");
  EXPECT_TRUE(row_.path.empty());
  EXPECT_TRUE(row_.layer.empty());
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoForwardMatch));
  // The node of its own name is its own, though its cost is not known.
  backward.seq_markers = {"FillBackward0, seq = 5"};
  EXPECT_NE(inner_.Resolve(backward, &row_).forward, nullptr);
  EXPECT_EQ(row_.op, "fill_");
}

// A C++ function of the user has no number of its own: what has the number of its node ran before
// another op.
TEST_F(OpResolverTest, ANodeOfACppFunctionHasNoOpOfItsNumber) {
  const std::string copy = CallText("copy_", {"5, 1", "5, 1"}, "float32");
  const std::string to = CallText("to", {"5, 1"}, "float32");
  KernelRecord forward = Annotated({to, copy});
  forward.phase = Phase::kForward;
  forward.seq_ids = {492};
  forward.seq_markers = {"aten::to, seq = 492"};
  forward.layer = {"bottom"};
  ASSERT_NE(inner_.Resolve(forward, &row_).priced, nullptr);
  KernelRecord backward = Backward(492);
  backward.phase = Phase::kBackward;
  backward.seq_markers = {"torch::autograd::CppNode<SplitLookupFunction_Dense_Op>, seq = 492"};
  backward.op = {"torch::autograd::CppNode<SplitLookupFunction_Dense_Op>"};
  const Resolution resolution = inner_.Resolve(backward, &row_);
  EXPECT_EQ(resolution.forward, nullptr);
  EXPECT_EQ(resolution.priced, nullptr);
  EXPECT_EQ(row_.op, "torch::autograd::CppNode<SplitLookupFunction_Dense_Op>");
  EXPECT_TRUE(row_.path.empty());
  EXPECT_TRUE(row_.layer.empty());
  EXPECT_TRUE(row_.reasons.Has(Reason::kNoForwardMatch));
}

TEST_F(OpResolverTest, OwnAnnotationsOfABackwardKernelComeFirst) {
  KernelRecord forward = Annotated({kMm});
  forward.seq_ids = {5};
  inner_.Resolve(forward, &row_);
  KernelRecord backward = Backward(5);
  backward.markers = {kMysteryText};
  inner_.Resolve(backward, &row_);
  EXPECT_EQ(row_.op, "mystery");
  // The call that runs the whole backward pass is not the op of any kernel in it.
  backward.markers = {kRunBackward};
  const Resolution resolution = inner_.Resolve(backward, &row_);
  EXPECT_NE(resolution.forward, nullptr);
  EXPECT_EQ(row_.op, "mm");
}

TEST_F(OpResolverTest, AFunctionInsideTellsTheGradientOfTheCallAroundIt) {
  const std::string both =
      CallText("cudnn_convolution_backward", {"2, 3, 8, 8", "2, 4, 6, 6", "4, 3, 3, 3"}, "");
  // The first argument, a list of sizes, was not recorded.
  const auto inside = [](const std::string& op) {
    return "{'mod': 'aten', 'op': '" + op +
           "', 'args': [{'name': '', 'type': 'unknown', 'value': " +
           "{}}, {'name': '', 'type': 'tensor', 'shape': (2, 4, 6, 6), 'dtype': ''}]}";
  };
  const std::string weight = inside("cudnn_convolution_backward_weight");
  const std::string input = inside("cudnn_convolution_backward_input");
  const Resolution of_weight = inner_.Resolve(Annotated({both, both, weight}), &row_);
  EXPECT_EQ(row_.op, "cudnn_convolution_backward");
  ASSERT_TRUE(of_weight.gradient.has_value());
  EXPECT_EQ(of_weight.gradient->part, ops::Part::kWgrad);
  EXPECT_EQ(of_weight.gradient->confidence, 1);
  EXPECT_EQ(inner_.Resolve(Annotated({both, input}), &row_).gradient->part, ops::Part::kDgrad);
  EXPECT_FALSE(inner_.Resolve(Annotated({both}), &row_).gradient.has_value());
  EXPECT_FALSE(inner_.Resolve(Annotated({kMm, input}), &row_).gradient.has_value());
}

TEST_F(OpResolverTest, TheStartOfThePricedCall) {
  KernelRecord record = Annotated({kMm, kMysteryText});
  EXPECT_EQ(inner_.Resolve(record, &row_).call_start_ns, std::nullopt);
  record.marker_starts_ns = {111, 222};
  EXPECT_EQ(inner_.Resolve(record, &row_).call_start_ns, 111);
  record.marker_starts_ns = {111};  // Does not go with the markers.
  EXPECT_EQ(inner_.Resolve(record, &row_).call_start_ns, std::nullopt);
}

TEST_F(OpResolverTest, PricedCallsAroundThePricedOne) {
  std::vector<OuterCall> outer;
  KernelRecord record = Annotated({kMm, kMysteryText, kMm, kMm, kShapelessMul});
  record.marker_starts_ns = {10, 20, 30, 40, 50};
  inner_.Resolve(record, &row_, &outer);
  ASSERT_EQ(outer.size(), 2u);
  EXPECT_EQ(outer[0].start_ns, 10);
  EXPECT_EQ(outer[1].start_ns, 30);
  outer_.Resolve(record, &row_, &outer);
  EXPECT_TRUE(outer.empty());
  inner_.Resolve(record, &row_, &outer);
  record.marker_starts_ns.clear();
  inner_.Resolve(record, &row_, &outer);
  EXPECT_TRUE(outer.empty()) << "those of the row before are gone";
}

TEST_F(OpResolverTest, OfVeryManyMarkersTheEndsCount) {
  std::vector<std::string_view> markers(1000, kMysteryText);
  markers[127] = kMm;
  inner_.Resolve(Annotated(markers), &row_);
  EXPECT_EQ(row_.path.size(), 256u);
  EXPECT_EQ(row_.op, "mm");
  markers[127] = kMysteryText;
  markers[872] = kMm;
  inner_.Resolve(Annotated(markers), &row_);
  EXPECT_EQ(row_.op, "mm");
  std::swap(markers[871], markers[872]);
  inner_.Resolve(Annotated(markers), &row_);
  EXPECT_EQ(row_.op, "mystery");
}

TEST_F(OpResolverTest, ReasonsOfTheRecordStay) {
  KernelRecord record = Annotated({kMm});
  record.reasons.Add(Reason::kUntimed);
  inner_.Resolve(record, &row_);
  EXPECT_TRUE(row_.reasons.Has(Reason::kUntimed));
}

TEST_F(OpResolverTest, TensorCoresByTheFullName) {
  KernelRecord record = PlainRecord();
  record.long_name = "volta_h884gemm_64x64_ldg8_nn";
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.tensor_core, ops::TensorCoreUse::kYes);
  record.long_name = "volta_sgemm_128x64_nt";
  inner_.Resolve(record, &row_);
  EXPECT_EQ(row_.tensor_core, ops::TensorCoreUse::kNo);
}

TEST_F(OpResolverTest, WhatARowPointsToLivesAsLongAsItsResolution) {
  std::string text = kMm;
  KernelRecord record = Annotated({text});
  const Resolution resolution = inner_.Resolve(record, &row_);
  PricedKernel other;
  std::string huge(100000, 'x');
  for (int i = 0; i < 100; ++i) {
    huge.replace(0, 4, std::to_string(1000 + i));
    KernelRecord next = Annotated({huge});
    next.long_name = huge;
    next.device_name = huge;
    inner_.Resolve(next, &other);
  }
  EXPECT_EQ(row_.op, "mm");
  EXPECT_THAT(row_.path, ElementsAre("mm"));
  EXPECT_EQ(row_.params, resolution.priced->price->params);
  EXPECT_EQ(row_.verdict->use, row_.tensor_core);
  // Forgotten by now, so it is another one.
  const int64_t id = resolution.priced->id;
  EXPECT_NE(inner_.Resolve(record, &other).priced->id, id);
}

TEST_F(OpResolverTest, EqualTextsAndNamesHaveOneNumber) {
  const KernelRecord record = Annotated({kMm});
  const Resolution first = inner_.Resolve(record, &row_);
  const Resolution second = inner_.Resolve(record, &row_);
  EXPECT_EQ(first.priced->id, second.priced->id);
  EXPECT_EQ(first.kernel_id, second.kernel_id);
  EXPECT_NE(first.kernel_id, 0);
  const std::string text = MmText(2, 3, 5);
  KernelRecord other = Annotated({text});
  other.long_name = "another kernel";
  const Resolution third = inner_.Resolve(other, &row_);
  EXPECT_NE(third.priced->id, first.priced->id);
  EXPECT_NE(third.kernel_id, first.kernel_id);
}

}  // namespace
}  // namespace oplens::prof::op_resolver_test
