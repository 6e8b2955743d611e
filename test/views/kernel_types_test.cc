#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "prof/run/device_times.h"
#include "prof/views/views.h"
#include "test/views/device_run.h"

namespace oplens::prof::kernel_types_test {
namespace {

const View& kView = kKernelTypesView;
constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
constexpr const char* kFill = "Memset (Device)";

std::map<std::string, std::string> SumsOf(const std::vector<test::ViewRow>& rows) {
  std::map<std::string, std::string> sums;
  for (const test::ViewRow& row : rows) sums[row.at("type")] = row.at("sum_ns");
  return sums;
}

using Sums = std::map<std::string, std::string>;

TEST(KernelTypesTest, EachCombinationThatOccurs) {
  const std::string path = WriteRun("run.json", {{"gemm", 0, 10'000},
                                                 {kNccl, 5'000, 15'000, 20},
                                                 {kFill, 8'000, 4'000, 21},
                                                 {kFill, 40'000, 1'000}});
  const auto rows = RowsOver(kView, {path});
  EXPECT_EQ(SumsOf(rows),
            (Sums{{"COMMUNICATION", "8000"},
                  {"COMPUTATION", "5000"},
                  {"COMPUTATION overlapping COMMUNICATION", "3000"},
                  {"COMPUTATION overlapping COMMUNICATION overlapping MEMORY", "2000"},
                  {"COMMUNICATION overlapping MEMORY", "2000"},
                  {"MEMORY", "1000"}}));
  EXPECT_EQ(rows[0].at("type"), "COMMUNICATION");  // Largest first.
  EXPECT_NEAR(std::stod(rows[0].at("share_pct")), 100.0 * 8 / 21, 1e-9);
}

// Two devices at once are twice the time; a rank alone is as good as one of several.
TEST(KernelTypesTest, DevicesAndRanksAddUp) {
  const std::string one = WriteRun("a.json", {{"gemm", 0, 1000}, {"gemm", 0, 1000, 7, 1}}, 0);
  const std::string two = WriteRun("b.json", {{"gemm", 500, 1000}, {kFill, 2000, 10}}, 1);
  const Sums expected = {{"COMPUTATION", "3000"}, {"MEMORY", "10"}};
  EXPECT_EQ(SumsOf(RowsOver(kView, {one, two})), expected);
  EXPECT_EQ(RowsOver(kView, {two, one}), RowsOver(kView, {one, two}));
  EXPECT_EQ(SumsOf(MergedRows(kView, {two, one})), expected);
}

TEST(KernelTypesTest, NothingOnTheDevice) {
  const auto partial = test::PartialOf(kView, {WriteRun("run.json", {})});
  EXPECT_TRUE(test::RowsOf(*partial).empty());
  EXPECT_EQ(partial->Notes().size(), 1u);
}

struct Made {
  unsigned bit;
  int64_t start_ns;
  int64_t end_ns;
};

RC_GTEST_PROP(ClassSweepTest, IsWhatCountingMomentsGives, ()) {
  const auto number = rc::gen::inRange(0, 40);
  auto events = *rc::gen::container<std::vector<Made>>(rc::gen::apply(
      [](int bit, int start, int length) {
        return Made{1U << bit, start, start + length};
      },
      rc::gen::inRange(0, 3), number, number));
  std::sort(events.begin(), events.end(),
            [](const Made& a, const Made& b) { return a.start_ns < b.start_ns; });
  ClassSweep sweep;
  int64_t last_ns = 0;
  for (const Made& event : events) {
    sweep.Add(event.bit, event.start_ns, event.end_ns);
    last_ns = std::max(last_ns, event.end_ns);
  }
  ClassTimes expected;
  for (int64_t now = events.empty() ? 0 : events[0].start_ns; now < last_ns; ++now) {
    unsigned running = 0;
    for (const Made& event : events) {
      if (event.start_ns <= now && now < event.end_ns) running |= event.bit;
    }
    ++expected.ns[running];
  }
  const ClassTimes found = sweep.Finish().at(0);
  RC_ASSERT(found.ns == expected.ns);
  RC_ASSERT(found.Sum() == (events.empty() ? 0 : last_ns - events[0].start_ns));
}

TEST(ClassSweepTest, SumsThatDoNotFit) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  ClassSweep sweep;
  sweep.Add(kComputeBit, kMin, kMin + 10);
  sweep.Add(kMemoryBit, kMax - 5, kMax);
  const ClassTimes times = sweep.Finish().at(0);
  EXPECT_EQ(times.ns[kComputeBit], 10);
  EXPECT_EQ(times.ns[kMemoryBit], 5);
  EXPECT_EQ(times.ns[0], kMax);
  EXPECT_EQ(times.Sum(), kMax);
}

//          |--- window 0 ---|   |--- window 1 ---|
// compute      |------------------|
// copy                |------|
TEST(ClassSweepTest, Windows) {
  ClassSweep sweep({{0, 100}, {120, 220}, {300, 310}});
  sweep.Add(kComputeBit, 30, 150);
  sweep.Add(kMemoryBit, 80, 125);
  const auto times = sweep.Finish();
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].ns[0], 30);
  EXPECT_EQ(times[0].ns[kComputeBit], 50);
  EXPECT_EQ(times[0].ns[kComputeBit | kMemoryBit], 20);
  EXPECT_EQ(times[1].ns[kComputeBit | kMemoryBit], 5);
  EXPECT_EQ(times[1].ns[kComputeBit], 25);
  EXPECT_EQ(times[1].ns[0], 70);
  EXPECT_EQ(times[2].ns[0], 10);
  EXPECT_TRUE(ClassSweep(std::vector<Interval>()).Finish().empty());
}

}  // namespace
}  // namespace oplens::prof::kernel_types_test
