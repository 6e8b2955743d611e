// Kernels that seem faster than their GPU.
#include <gtest/gtest.h>

#include <string>

#include "ops/gpu/roofline.h"

namespace oplens::ops::excess_test {
namespace {

/// A V100: 900 GB/s, 6 MiB of L2 cache, which are 6,291,456 bytes.
class ExcessTest : public testing::Test {
 protected:
  ExcessTest() : gpu_(*FindGpu("V100 SXM2").gpu) {
    kernel_.roofline = &roofline_;
    kernel_.gpu = &gpu_;
  }

  /// The words for a kernel that moves these bytes in this time.
  std::string OfBytes(int64_t bytes, int64_t duration_ns) {
    kernel_.bytes = bytes;
    kernel_.duration_ns = duration_ns;
    const double per_s = static_cast<double>(bytes) * 1e9 / static_cast<double>(duration_ns);
    roofline_.percent_of_dram = 100 * per_s / static_cast<double>(gpu_.dram_bytes_per_s);
    return Words();
  }

  std::string OfMath(double percent, int64_t duration_ns) {
    kernel_.duration_ns = duration_ns;
    roofline_.percent_of_math = percent;
    return Words();
  }

  std::string Words() const {
    std::string words;
    ExcessReasons(kernel_).ForEach([&](Reason reason) {
      words += words.empty() ? "" : ",";
      words += ReasonWord(reason);
    });
    return words;
  }

  Gpu gpu_;
  Roofline roofline_;
  ExcessCase kernel_;
};

TEST_F(ExcessTest, BelowTheRoofsThereIsNothingToSay) {
  EXPECT_EQ(Words(), "") << "no figures";
  EXPECT_EQ(OfBytes(900'000, 1000), "");
  EXPECT_EQ(OfMath(100, 1000), "");
}

TEST_F(ExcessTest, OneMicrosecondMore) {
  // 3,145,728 bytes need 3,495 ns.
  EXPECT_EQ(OfBytes(3'145'728, 3000), "cache");
  kernel_.whole_microseconds = true;
  EXPECT_EQ(OfBytes(3'145'728, 3000), "clock");
  EXPECT_EQ(OfBytes(3'145'728, 2000), "cache");
  roofline_.percent_of_dram.reset();
  EXPECT_EQ(OfMath(110, 10'000), "clock");
  EXPECT_EQ(OfMath(111, 10'000), "");
}

TEST_F(ExcessTest, WhatTheCacheHolds) {
  // 6 MiB are read from it and 6 MiB stay in it: 12,582,912 bytes need no DRAM.
  EXPECT_EQ(OfBytes(12'582'912, 4000), "cache");
  EXPECT_EQ(OfBytes(12'582'912, 2000), "") << "faster than caches are";
  // Of 24 MB the rest needs 12,686 ns.
  EXPECT_EQ(OfBytes(24'000'000, 12'700), "cache");
  EXPECT_EQ(OfBytes(24'000'000, 12'600), "");
  gpu_.l2_bytes = 0;
  EXPECT_EQ(OfBytes(12'582'912, 4000), "") << "not known";
}

TEST_F(ExcessTest, AnExpandedSourceIsReadFromTheCache) {
  // 268 MB from an expanded view are written as 537 MB, of which DRAM gets all but 6 MiB.
  kernel_.repeated_bytes = 268'435'456;
  EXPECT_EQ(OfBytes(805'306'368, 590'000), "cache");
  EXPECT_EQ(OfBytes(805'306'368, 589'000), "");
}

TEST_F(ExcessTest, FewerFlopsThanTheOpHas) {
  EXPECT_EQ(OfMath(302, 156'000), "");
  kernel_.fewer_flops = 9;
  EXPECT_EQ(OfMath(302, 156'000), "winograd");
  EXPECT_EQ(OfMath(901, 156'000), "") << "a filter of 3 x 3 saves no more";
  kernel_.whole_microseconds = true;
  EXPECT_EQ(OfMath(101, 156'000), "winograd");
  // Both roofs.
  roofline_.percent_of_math = 302;
  EXPECT_EQ(OfBytes(12'582'912, 4000), "winograd,cache");
}

}  // namespace
}  // namespace oplens::ops::excess_test
