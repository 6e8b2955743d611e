// Ranges that are an op or a layer in all but form, joined with kernels.

#include "parse/join/vocabulary_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/pricing.h"
#include "parse/model/op_call.h"
#include "parse/model/range_vocabulary.h"
#include "parse/model/vocabulary_ops.h"
#include "test/parse/hand_trace.h"

namespace oplens::parse {
namespace {

using Texts = std::vector<std::string_view>;

constexpr std::string_view kMm = "{'mod': 'torch', 'op': 'mm', 'args': []}";
constexpr std::string_view kGemm = "transformer_engine._Linear.forward.gemm";
constexpr std::string_view kHook = "{'Module': 'model.layers.0', 'Inputs': [[8, 8]]}";

class VocabularyRangesTest : public HandTrace {
 protected:
  /// A range of an NVTX domain.
  void InDomain(std::string_view domain, int64_t start, int64_t end, std::string_view text) {
    Typed(RangeKind::kAnnotation, start, end, text);
    SetItem(static_cast<ItemIndex>(trace_.labels.size()), &trace_.range_items,
            &trace_.ranges.back());
    trace_.labels.push_back({trace_.strings.Intern(domain), 0, 0, false});
  }
  void JoinWithout() {
    JoinOptions options;
    options.evidence.vocabulary = false;
    Join(options);
  }
};

TEST_F(VocabularyRangesTest, DomainTellsOpAndLayer) {
  InDomain("TensorRT", 0, 100, "ExecutionContext::enqueue");
  InDomain("TensorRT", 10, 40, "/layer1/layer1.0/conv1/Conv + /layer1/layer1.0/relu/Relu");
  InDomain("mine", 50, 90, "/layer1/layer1.0/conv1/Conv");
  Kernel(20);
  Kernel(60);
  Join();
  const KernelRecord fused = Record(0);
  EXPECT_EQ(fused.op, Texts{"convolution+relu"});
  EXPECT_EQ(fused.mod, Texts{"TensorRT"});
  EXPECT_EQ(fused.layer, Texts{"layer1.0.conv1"});
  EXPECT_EQ(fused.evidence, Evidence::kVocabulary);
  EXPECT_EQ(fused.markers, Texts{"{'mod': 'TensorRT', 'op': 'convolution+relu', 'args': []}"});
  ASSERT_EQ(fused.marker_starts_ns.size(), 1U);
  EXPECT_EQ(fused.marker_starts_ns[0], 10);
  EXPECT_EQ(fused.range, (Texts{"ExecutionContext::enqueue",
                                "/layer1/layer1.0/conv1/Conv + /layer1/layer1.0/relu/Relu"}));
  const KernelRecord other = Record(1);
  EXPECT_TRUE(other.markers.empty());
  EXPECT_TRUE(other.layer.empty());
  EXPECT_EQ(other.evidence, Evidence::kNone);
}

TEST_F(VocabularyRangesTest, IsSwitchedOff) {
  InDomain("TensorRT", 0, 100, "/conv1/Conv");
  Range(0, 100, kGemm);
  Kernel(20);
  JoinWithout();
  EXPECT_TRUE(records_->joined().vocabulary().empty());
  EXPECT_TRUE(Record(0).markers.empty());
  EXPECT_TRUE(Record(0).layer.empty());
  EXPECT_EQ(Record(0).evidence, Evidence::kNone);
}

TEST_F(VocabularyRangesTest, RecordedOpsComeFirst) {
  // Around it, inside it, and a numbered op.
  Range(0, 30, kMm);
  Range(5, 25, kGemm);
  Range(40, 70, kGemm);
  Range(45, 65, kMm);
  Range(80, 110, kGemm);
  Range(85, 105, "mm, seq = 3");
  Kernel(10);
  Kernel(50);
  Kernel(90);
  Join();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Record(i).markers, Texts{kMm}) << i;
    EXPECT_EQ(Record(i).evidence, Evidence::kNone) << i;
  }
  EXPECT_TRUE(Record(2).markers.empty());
  EXPECT_EQ(Record(2).op, Texts{"mm"});
  EXPECT_EQ(Record(2).evidence, Evidence::kNone);
}

TEST_F(VocabularyRangesTest, LayersFillWhatNoLayerTells) {
  Range(0, 40, "{'Module': 'model'}");
  Range(5, 35, kHook);
  Range(50, 90, "layer:encoder");
  Range(55, 85, kHook);
  Range(100, 140, kHook);
  Range(105, 135, kMm);
  Kernel(10);
  Kernel(60);
  Kernel(110);
  Join();
  EXPECT_EQ(Record(0).layer, (Texts{"model", "model.layers.0"}));
  EXPECT_EQ(Record(0).evidence, Evidence::kNone);
  EXPECT_EQ(Record(1).layer, Texts{"encoder"});
  // A layer and a recorded op go together.
  EXPECT_EQ(Record(2).layer, Texts{"model.layers.0"});
  EXPECT_EQ(Record(2).markers, Texts{kMm});
  EXPECT_EQ(Record(2).evidence, Evidence::kNone);
}

TEST_F(VocabularyRangesTest, OnlyTheInnermostIsTheOp) {
  InDomain("TSL", 0, 100, "Thunk:#hlo_op=dot.1#");
  InDomain("TSL", 10, 90, "Thunk:#hlo_op=wrapped_add#");
  Kernel(20);
  Join();
  EXPECT_EQ(Record(0).op, Texts{"add"});
}

TEST_F(VocabularyRangesTest, UnclosedRangesTellNothing) {
  Range(0, kNeverClosed, kGemm);
  Range(1, kNeverClosed, kHook);
  Kernel(20);
  Join();
  EXPECT_TRUE(Record(0).markers.empty());
  EXPECT_TRUE(Record(0).layer.empty());
}

TEST_F(VocabularyRangesTest, GraphsAreNotTheOpOfTheRangeAroundTheirLaunch) {
  Range(0, 100, kGemm);
  Kernel(20);
  trace_.kernels[0].graph = true;
  Join();
  EXPECT_EQ(Record(0).evidence, Evidence::kNone);
  EXPECT_TRUE(Record(0).reasons.Has(Reason::kGraphKernel));
}

TEST_F(VocabularyRangesTest, OthersThreadsAndTimesDoNotCount) {
  Range(0, 10, kGemm);
  Range(0, 100, kGemm, 1);
  Kernel(20);
  Join();
  EXPECT_TRUE(Record(0).markers.empty());
  EXPECT_FALSE(records_->joined().vocabulary().empty());
}

TEST_F(VocabularyRangesTest, PhaseStaysThatOfTheTextsAround) {
  Range(0, 100, "backward");
  Range(10, 90, kGemm);
  Kernel(20);
  JoinWithout();
  const Phase without = Record(0).phase;
  Join();
  EXPECT_EQ(Record(0).phase, without);
  EXPECT_EQ(Record(0).op, Texts{"mm"});
}

TEST_F(VocabularyRangesTest, TheSameTextOfTwoDomains) {
  InDomain("mine", 0, 30, "/conv1/Conv");
  InDomain("TensorRT", 40, 70, "/conv1/Conv");
  Typed(RangeKind::kAnnotation, 80, 110, "/conv1/Conv");  // Of no domain.
  Kernel(10);
  Kernel(50);
  Kernel(90);
  Join();
  EXPECT_TRUE(Record(0).markers.empty());
  EXPECT_EQ(Record(1).op, Texts{"convolution"});
  EXPECT_TRUE(Record(2).markers.empty());
}

// Without arguments no op has a cost, not even 0: what a range says in one word is no size.
TEST(VocabularyPriceTest, WordsHaveNoCost) {
  for (const VocabularyOp& op : VocabularyOps()) {
    OpCall call;
    call.mod = "TensorRT";
    call.op = op.op;
    EXPECT_FALSE(ops::PriceCall(call).price) << op.op;
  }
}

}  // namespace
}  // namespace oplens::parse
