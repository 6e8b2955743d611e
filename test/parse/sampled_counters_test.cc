// What samples of a whole GPU tell of single kernels.
#include "parse/counters/sampled_counters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "parse/model/trace.h"

namespace oplens::parse::sampled_counters_test {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr const char* kRead = "dram__bytes_read.sum";
constexpr const char* kWrite = "dram__bytes_write.sum";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";

class SampledCountersTest : public testing::Test {
 protected:
  size_t AddKernel(int64_t start_ns, int64_t end_ns, int32_t device = 0) {
    Kernel kernel;
    kernel.start_ns = start_ns;
    kernel.end_ns = end_ns;
    kernel.device_id = device;
    kernel.name = trace_.strings.Intern("kernel");
    trace_.kernels.push_back(kernel);
    return trace_.kernels.size() - 1;
  }
  void AddSample(int64_t start_ns, const char* metric, double value, int32_t device = 0) {
    trace_.counter_samples.push_back({start_ns, value, trace_.strings.Intern(metric), device});
  }
  /// Samples of 1 ms in [0, `end`) ms: 10 bytes read and 5 written each.
  void AddSamples(int64_t end) {
    for (int64_t ms = end; ms-- > 0;) {  // The file's order has no meaning.
      AddSample(ms * kMs, kRead, 10);
      AddSample(ms * kMs, kWrite, 5);
    }
  }

  Trace trace_;
};

TEST_F(SampledCountersTest, AKernelHasItsWholeSamplesScaledToItsDuration) {
  AddSamples(20);
  const size_t kernel = AddKernel(2 * kMs + 500'000, 7 * kMs + 500'000);
  const SampledCounters counters(trace_);
  ASSERT_NE(counters.Of(kernel), nullptr);
  // 4 whole samples of 15 bytes in a kernel of 5 ms.
  EXPECT_EQ(counters.Of(kernel)->dram_bytes, 75);
  EXPECT_FALSE(counters.Of(kernel)->tensor_flops);
  EXPECT_FALSE(counters.Of(kernel)->duration_ns);
  EXPECT_EQ(counters.told_count(), 1u);
}

TEST_F(SampledCountersTest, SamplesAtTheEndsOfTheKernelAreWhole) {
  AddSamples(20);
  const size_t kernel = AddKernel(2 * kMs, 4 * kMs);
  EXPECT_EQ(SampledCounters(trace_).Of(kernel)->dram_bytes, 30);
}

TEST_F(SampledCountersTest, HalfOfTheKernelMustBeCovered) {
  AddSamples(20);
  const size_t half = AddKernel(3 * kMs - 500'000, 4 * kMs + 500'000);
  const size_t less = AddKernel(10 * kMs - 500'000, 11 * kMs + 500'002);
  const size_t none = AddKernel(13 * kMs + 1, 14 * kMs + 2);
  const SampledCounters counters(trace_);
  ASSERT_NE(counters.Of(half), nullptr);
  EXPECT_EQ(counters.Of(half)->dram_bytes, 30);
  EXPECT_EQ(counters.Of(less), nullptr);
  EXPECT_EQ(counters.Of(none), nullptr);
}

TEST_F(SampledCountersTest, OtherWorkOfTheGpuTakesThemAway) {
  AddSamples(40);
  const size_t first = AddKernel(1 * kMs, 5 * kMs);
  const size_t second = AddKernel(5 * kMs - 1, 9 * kMs);
  const size_t with_copy = AddKernel(11 * kMs, 15 * kMs);
  trace_.copies.emplace_back();
  trace_.copies.back().start_ns = 12 * kMs;
  trace_.copies.back().end_ns = 12 * kMs + 10;
  const size_t around = AddKernel(20 * kMs, 29 * kMs);
  const size_t inside = AddKernel(21 * kMs, 24 * kMs);
  const size_t behind = AddKernel(29 * kMs, 33 * kMs);
  const size_t elsewhere = AddKernel(1 * kMs, 5 * kMs, 1);
  const SampledCounters counters(trace_);
  for (const size_t kernel : {first, second, with_copy, around, inside, elsewhere}) {
    EXPECT_EQ(counters.Of(kernel), nullptr) << kernel;
  }
  EXPECT_NE(counters.Of(behind), nullptr);
}

TEST_F(SampledCountersTest, ALongSampleIsSeveralOfWhichSomeWereLost) {
  AddSamples(4);
  for (int64_t ms = 7; ms < 20; ++ms) AddSample(ms * kMs, kRead, 10);
  for (int64_t ms = 7; ms < 20; ++ms) AddSample(ms * kMs, kWrite, 5);
  const size_t kernel = AddKernel(1 * kMs, 9 * kMs);
  const SampledCounters counters(trace_);
  ASSERT_NE(counters.Of(kernel), nullptr);
  // 1, 2 and 7, 8 of 8 ms; the sample of 3 lasts to 7.
  EXPECT_EQ(counters.Of(kernel)->dram_bytes, 120);
}

TEST_F(SampledCountersTest, PercentagesAreMeansAndPartialMetricsUnknown) {
  for (int64_t ms = 0; ms < 10; ++ms) {
    AddSample(ms * kMs, kWarps, ms % 2 == 0 ? 20 : 40);
    if (ms != 3) AddSample(ms * kMs, "lts__t_bytes.sum", 7);
    AddSample(ms * kMs, "gpu__time_duration.sum", 1e6);
    AddSample(ms * kMs, "my__metric.avg", 3);
  }
  const size_t kernel = AddKernel(2 * kMs, 6 * kMs);
  const SampledCounters counters(trace_);
  ASSERT_NE(counters.Of(kernel), nullptr);
  EXPECT_DOUBLE_EQ(*counters.Of(kernel)->achieved_occupancy_pct, 30);
  EXPECT_FALSE(counters.Of(kernel)->l2_bytes);
  EXPECT_EQ(counters.Sentence(),
            "counters of whole GPUs, sampled every 1.000 ms, tell of 1 of 1 kernels: those that "
            "ran alone and are covered by samples for half of their time or more; no figure comes "
            "from my__metric.avg");
}

TEST_F(SampledCountersTest, OddTimesDoNoHarm) {
  EXPECT_EQ(SampledCounters(trace_).Sentence(), "");
  AddSample(5, kRead, 1);
  EXPECT_EQ(SampledCounters(trace_).told_count(), 0u);
  EXPECT_NE(SampledCounters(trace_).Sentence().find("sampled once, tell of 0 of 0"),
            std::string::npos);
  AddSample(INT64_MAX, kRead, 1);
  AddSample(INT64_MIN, kRead, 1);
  AddKernel(7, 3);
  AddKernel(0, 0);
  AddKernel(INT64_MIN + 1, INT64_MAX);
  const SampledCounters counters(trace_);
  EXPECT_NE(counters.Sentence(), "");
}

}  // namespace
}  // namespace oplens::parse::sampled_counters_test
