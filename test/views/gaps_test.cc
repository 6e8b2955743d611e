#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prof/views/views.h"
#include "test/views/made_run.h"

namespace oplens::prof::gaps_test {
namespace {

using test::MadeRun;

TEST(GapsTest, TheLongestFirstWithWhatEndsThem) {
  MadeRun made;
  made.AddStep(3, 0, 300'000);
  made.AddRange("train.py(3): step", 0, 300'000, RangeKind::kFrame);
  made.AddRange("aten::item", 30'000, 90'000, RangeKind::kOperator);
  made.AddKernel(10'000, 30'000, made.AddCall(2'000, 9'000), "first");
  made.AddCall(31'000, 80'000, "cudaFree");
  made.AddKernel(100'000, 290'000, made.AddCall(95'000, 99'000), "void gemm<float>(int)");
  const auto rows = made.RowsOf(kGapsView.make);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("start_ns"), "30000");
  EXPECT_EQ(rows[0].at("step"), "3");
  EXPECT_EQ(rows[0].at("gap_ns"), "70000");
  EXPECT_EQ(rows[0].at("cause"), "api-call");
  EXPECT_EQ(rows[0].at("cause_ns"), "49000");
  EXPECT_EQ(rows[0].at("call"), "cudaFree");
  EXPECT_EQ(rows[0].at("op"), "aten::item");
  EXPECT_EQ(rows[0].at("line"), "train.py(3): step");
  EXPECT_EQ(rows[0].at("next"), "gemm");
  EXPECT_EQ(rows[1].at("gap_ns"), "10000");
  EXPECT_EQ(rows[1].at("next"), "first");
  EXPECT_EQ(rows[2].at("cause"), "tail");
  EXPECT_EQ(rows[2].at("next"), "");
}

TEST(GapsTest, OnlyTheLongestAreKept) {
  MadeRun made;
  for (int64_t i = 0; i < 1'500; ++i) {
    const int64_t at = i * 10'000;
    made.AddKernel(at, at + 9'999 - i % 1'500, made.AddCall(at, at));
  }
  const auto rows = made.RowsOf(kGapsView.make);
  ASSERT_EQ(rows.size(), 1'000u);
  EXPECT_EQ(rows.front().at("gap_ns"), "1499");  // Of the last but one.
  EXPECT_EQ(rows.back().at("gap_ns"), "500");
}

}  // namespace
}  // namespace oplens::prof::gaps_test
