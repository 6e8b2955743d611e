#include <gtest/gtest.h>

#include "ops/gpu/roofline.h"

namespace oplens::ops::link_test {
namespace {

bool IsAbove(int compute_capability, int64_t bytes, int64_t duration_ns,
             bool whole_microseconds = false) {
  Gpu gpu;
  gpu.compute_capability = compute_capability;
  return LinkReasons({&gpu, bytes, duration_ns, whole_microseconds}).Has(Reason::kLink);
}

TEST(LinkTest, RatesAboveTheLinksHaveAReason) {
  // A100: 300 GB/s are 300 bytes a nanosecond.
  EXPECT_FALSE(IsAbove(80, 300'000, 1000));
  EXPECT_TRUE(IsAbove(80, 300'001, 1000));
  EXPECT_FALSE(IsAbove(90, 300'001, 1000));
  // 188.7 MB in 458 us, twice what it sent: 412 GB/s.
  EXPECT_TRUE(IsAbove(80, 188'743'680, 458'000));
  EXPECT_FALSE(IsAbove(80, 88'080'384, 458'000));
}

TEST(LinkTest, WholeMicrosecondsMayHideOne) {
  EXPECT_TRUE(IsAbove(80, 600'000, 1000));
  EXPECT_FALSE(IsAbove(80, 600'000, 1000, true));
  EXPECT_TRUE(IsAbove(80, 600'001, 1000, true));
}

TEST(LinkTest, UnknownLinksAndTimesHaveNone) {
  EXPECT_FALSE(IsAbove(0, INT64_MAX, 1));
  EXPECT_FALSE(IsAbove(80, INT64_MAX, 0));
  Gpu amd;
  amd.compute_capability = 90;
  amd.maker = Maker::kAmd;
  EXPECT_EQ(MostLinkBytesPerS(amd), 0);
}

}  // namespace
}  // namespace oplens::ops::link_test
