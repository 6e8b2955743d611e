#include "prof/views/recording/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "test/prof/rows.h"

namespace oplens::prof::coverage_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CoverageTest : public testing::Test {
 protected:
  void Add(std::optional<int64_t> start, int64_t duration, int64_t device = 0,
           std::optional<std::string_view> rank = std::nullopt) {
    record_ = test::PlainRecord();
    record_.start_ns = start;
    if (start) record_.end_ns = *start + duration;
    record_.duration_ns = duration;
    record_.device_id = device;
    record_.rank = rank;
    row_.record = &record_;
    coverage_.Add(row_);
  }
  KernelRecord record_;
  PricedKernel row_;
  Coverage coverage_;
};

TEST_F(CoverageTest, BusyIsTheUnionOverStreams) {
  Add(100, 50);   // [100, 150)
  Add(120, 100);  // Overlaps: [100, 220)
  Add(150, 10);   // Inside.
  Add(220, 5);    // Follows at once: [100, 225)
  Add(300, 7);
  EXPECT_EQ(coverage_.kernel_ns(), 172);
  EXPECT_EQ(coverage_.BusyNs(), 125 + 7);
}

TEST_F(CoverageTest, GpusAndRanksAreBusyEachForItself) {
  Add(100, 50, 0, "0");
  Add(100, 50, 1, "0");
  Add(100, 50, 0, "1");
  EXPECT_EQ(coverage_.BusyNs(), 150);
}

TEST_F(CoverageTest, InputsHaveTheirOwnClocks) {
  Add(100, 50);
  coverage_.EndInput();
  Add(20, 30);  // Earlier, and busy on its own.
  EXPECT_EQ(coverage_.BusyNs(), 80);
  coverage_.EndInput();
  Add(25, 5);
  EXPECT_EQ(coverage_.BusyNs(), 85);
  Add(std::nullopt, 5);
  coverage_.EndInput();
  EXPECT_EQ(coverage_.BusyNs(), -1);  // Stays unknown.
}

TEST_F(CoverageTest, WithoutStartsOrOrderBusyIsUnknown) {
  EXPECT_EQ(coverage_.BusyNs(), 0);
  Add(100, 50);
  Add(std::nullopt, 5);
  EXPECT_EQ(coverage_.BusyNs(), -1);
  Coverage other;
  std::swap(other, coverage_);
  Add(100, 50);
  Add(90, 20);
  EXPECT_EQ(coverage_.BusyNs(), -1);
  EXPECT_THAT(coverage_.Sentences().front(), HasSubstr("GPU busy unknown"));
}

TEST_F(CoverageTest, SharesOfKernelTime) {
  row_.op = "mm";
  row_.has_shapes = true;
  row_.share.flops = 12;
  Add(0, 300);
  row_ = PricedKernel();
  row_.op = "mystery";
  Add(300, 100);
  row_ = PricedKernel();
  Add(400, 600);
  EXPECT_EQ(coverage_.op_ns(), 400);
  EXPECT_EQ(coverage_.shapes_ns(), 300);
  EXPECT_EQ(coverage_.direction_ns(), 0);
  EXPECT_EQ(coverage_.flops_ns(), 300);
  EXPECT_THAT(
      coverage_.Sentences(),
      ElementsAre("kernel time 1000 ns, GPU busy 1000 ns",
                  "share of kernel time with launch 100.0 %, range 0.0 %, op 40.0 %, shapes "
                  "30.0 %, direction 0.0 %, FLOPs 30.0 %, bytes 0.0 %",
                  HasSubstr("to raise range, op (here 100.0 % of kernel time): annotate")));
}

TEST_F(CoverageTest, SharesByEvidenceAreToldWhereRangesAreNotAll) {
  row_.op = "mm";
  Add(100, 30);
  EXPECT_THAT(coverage_.Facts(), Not(testing::Contains(HasSubstr("% by "))));
  record_ = test::PlainRecord();
  record_.duration_ns = 70;
  record_.evidence = Evidence::kRepetition;
  coverage_.Add(row_);
  EXPECT_THAT(coverage_.Facts(), testing::Contains(HasSubstr("op 100.0 % (70.0 % by repetition)")));
}

TEST_F(CoverageTest, CapturesAreInferredIfTheyHaveAConfidence) {
  row_.op = "mm";
  Add(100, 30);
  record_.evidence = Evidence::kCapture;
  record_.duration_ns = 50;
  coverage_.Add(row_);
  record_.confidence = Confidence::kHigh;
  record_.duration_ns = 20;
  coverage_.Add(row_);
  EXPECT_EQ(coverage_.matched_capture_ns(), 20);
  EXPECT_THAT(
      coverage_.Facts(),
      testing::Contains(HasSubstr("op 100.0 % (50.0 % by capture, 20.0 % inferred by capture)")));
}

TEST_F(CoverageTest, UntimedKernelsHaveNoTime) {
  KernelRecord record = test::PlainRecord();
  record.reasons.Add(Reason::kUntimed);
  row_.record = &record;
  coverage_.Add(row_);
  EXPECT_EQ(coverage_.kernel_count(), 1);
  EXPECT_EQ(coverage_.kernel_ns(), 0);
}

TEST_F(CoverageTest, GraphReplaysBoundTheBusyTime) {
  Add(100, 50);
  record_.start_ns = 140;
  record_.end_ns = 400;
  record_.duration_ns = 260;
  coverage_.AddReplay(record_);
  Add(390, 20);
  EXPECT_EQ(coverage_.kernel_ns(), 70);
  EXPECT_EQ(coverage_.BusyNs(), 310);
  const std::vector<std::string> sentences = coverage_.Sentences();
  EXPECT_THAT(sentences[0], HasSubstr("kernel time 70 ns, GPU busy 310 ns at most"));
  EXPECT_THAT(sentences[1], HasSubstr("1 graph replays hide their kernels: the 260 ns"));
}

TEST_F(CoverageTest, HostileTimesDoNotWrap) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Add(std::numeric_limits<int64_t>::min(), kMax);
  Add(0, kMax);
  EXPECT_EQ(coverage_.kernel_ns(), kMax);
  EXPECT_GE(coverage_.BusyNs(), 0);
}

/// The sentence about what a kernel lacks, beside one of the same length that lacks nothing.
std::string RemedyFor(const KernelRecord& record, Family family, std::string_view op = "mm",
                      bool has_shapes = true, const ops::PricedOp* price = nullptr) {
  Coverage coverage;
  PricedKernel row;
  KernelRecord complete = test::PlainRecord();
  complete.range = {"step"};
  row.record = &complete;
  row.op = "mm";
  row.has_shapes = true;
  row.share.flops = 1;
  row.share.bytes = 1;
  coverage.Add(row, family);
  EXPECT_EQ(coverage.Sentences().size(), 2u) << "nothing to raise";
  row.record = &record;
  row.op = op;
  row.has_shapes = has_shapes;
  row.price = price;
  if (price == nullptr) row.share.flops.reset();
  row.share.bytes.reset();
  coverage.Add(row, family);
  const auto sentences = coverage.Sentences();
  return sentences.size() == 3 ? sentences.back() : std::to_string(sentences.size() - 2);
}

TEST(CoverageRemedyTest, DependsOnReasonAndFamily) {
  KernelRecord record = test::PlainRecord();
  record.duration_ns = 300;
  EXPECT_THAT(RemedyFor(record, Family::kNsys),
              testing::AllOf(HasSubstr("to raise range, op (here 75.0 % of kernel time)"),
                             HasSubstr("nsys profile --trace=cuda,nvtx")));
  EXPECT_THAT(RemedyFor(record, Family::kNvprof), HasSubstr("NVTX"));
  // The other kernel has a range and shapes: both are recorded.
  EXPECT_THAT(RemedyFor(record, Family::kKineto),
              testing::AllOf(HasSubstr("record_function"), Not(HasSubstr("activities"))));

  record.range = {"step"};
  EXPECT_EQ(RemedyFor(record, Family::kKineto, "mm", false), "0");
  EXPECT_THAT(RemedyFor(record, Family::kNsys, "mm", false),
              HasSubstr("emit_nvtx(record_shapes=True)"));
  EXPECT_THAT(RemedyFor(record, Family::kUnknown, "", false), HasSubstr("name the ops"));
  // An op with shapes that has no cost model: nothing to record.
  EXPECT_EQ(RemedyFor(record, Family::kKineto), "0");

  ops::PricedOp price;
  price.bytes_known = false;
  EXPECT_THAT(RemedyFor(record, Family::kNsys, "mm", true, &price), HasSubstr("to raise bytes"));
  EXPECT_THAT(RemedyFor(record, Family::kKineto, "mm", true, &price),
              HasSubstr("to raise bytes (here 75.0 % of kernel time): record the data types"));

  record.reasons.Add(Reason::kGraphKernel);
  EXPECT_THAT(RemedyFor(record, Family::kNsys, ""), HasSubstr("--cuda-graph-trace=node"));
  // Nothing of a graph's kernels is mended by activities.
  record.reasons.Add(Reason::kNoLaunchCall);
  EXPECT_THAT(RemedyFor(record, Family::kKineto, ""), HasSubstr("run without CUDA graphs"));
  record.reasons.Clear();
  record.reasons.Add(Reason::kCompiledKernel);
  EXPECT_THAT(RemedyFor(record, Family::kKineto, "mm", false), HasSubstr("torch.compile"));
  record.reasons.Add(Reason::kNoLaunchCall);
  EXPECT_THAT(RemedyFor(record, Family::kNvprof),
              testing::AllOf(HasSubstr("to raise launch, range, op"), HasSubstr("were lost")));
  // The calls were recorded; their numbers were not.
  record.reasons.Clear();
  record.reasons.Add(Reason::kUnnumberedLaunch);
  EXPECT_EQ(RemedyFor(record, Family::kKineto, ""), "0") << "nothing to record";
}

std::vector<Coverage::Gap> RemediesOf(const std::vector<bool>& launched, Family family,
                                      std::string_view kernel = "k") {
  Coverage coverage;
  for (const bool has_launch : launched) {
    KernelRecord record = test::PlainRecord();
    record.short_name = kernel;
    record.range = {"step"};
    if (!has_launch) record.reasons.Add(Reason::kNoLaunchCall);
    PricedKernel row;
    row.record = &record;
    row.op = "mm";
    coverage.Add(row, family);
  }
  return coverage.Gaps();
}

TEST(CoverageRemedyTest, LaunchesAreAdvisedByWhereTheyAreMissing) {
  const auto first = [](const std::vector<bool>& launched) {
    for (const Coverage::Gap& remedy : RemediesOf(launched, Family::kKineto)) {
      if (remedy.raises.starts_with("launch, range")) return remedy.Sentence();
    }
    return std::string();
  };
  EXPECT_THAT(first({false, false}), HasSubstr("activities="));
  EXPECT_THAT(first({false, true}), HasSubstr("launched before the recording"));
  EXPECT_THAT(first({true, false}), HasSubstr("were lost"));
  EXPECT_EQ(first({true, true}), "");
}

TEST(CoverageRemedyTest, ShapesAreNotAskedOfCollectives) {
  EXPECT_EQ(RemediesOf({true}, Family::kKineto).size(), 1u);
  EXPECT_THAT(RemediesOf({true}, Family::kKineto, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
              IsEmpty());
}

TEST(CoverageRemedyTest, OneSentenceAFamily) {
  Coverage coverage;
  KernelRecord record = test::PlainRecord();
  PricedKernel row;
  row.record = &record;
  for (const Family family : {Family::kNsys, Family::kKineto, Family::kNsys}) {
    coverage.Add(row, family);
  }
  const auto sentences = coverage.Sentences();
  ASSERT_EQ(sentences.size(), 4u);
  EXPECT_THAT(sentences[2], HasSubstr("nsys"));
  EXPECT_THAT(sentences[3], HasSubstr("ProfilerActivity"));
}

TEST(CoverageSentencesTest, NothingWithoutKernels) {
  EXPECT_THAT(Coverage().Sentences(), IsEmpty());
}

}  // namespace
}  // namespace oplens::prof::coverage_test
