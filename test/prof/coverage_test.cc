#include "prof/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "test/prof/rows.h"

namespace oplens::prof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  Row row_;
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
  row_ = Row();
  row_.op = "mystery";
  Add(300, 100);
  row_ = Row();
  Add(400, 600);
  EXPECT_EQ(coverage_.op_ns(), 400);
  EXPECT_EQ(coverage_.shapes_ns(), 300);
  EXPECT_EQ(coverage_.direction_ns(), 0);
  EXPECT_EQ(coverage_.flops_ns(), 300);
  EXPECT_THAT(coverage_.Sentences(),
              ElementsAre("kernel time 1000 ns, GPU busy 1000 ns",
                          "share of kernel time with op 40.0 %, shapes 30.0 %, direction 0.0 %, "
                          "FLOPs 30.0 %"));
}

TEST_F(CoverageTest, UntimedKernelsHaveNoTime) {
  KernelRecord record = test::PlainRecord();
  record.reasons.Add(Reason::kUntimed);
  row_.record = &record;
  coverage_.Add(row_);
  EXPECT_EQ(coverage_.kernel_count(), 1);
  EXPECT_EQ(coverage_.kernel_ns(), 0);
}

TEST_F(CoverageTest, HostileTimesDoNotWrap) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Add(std::numeric_limits<int64_t>::min(), kMax);
  Add(0, kMax);
  EXPECT_EQ(coverage_.kernel_ns(), kMax);
  EXPECT_GE(coverage_.BusyNs(), 0);
}

TEST(CoverageSentencesTest, NothingWithoutKernels) {
  EXPECT_THAT(Coverage().Sentences(), IsEmpty());
}

}  // namespace
}  // namespace oplens::prof
