#include "base/status_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace oplens::status_line_test {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::StartsWith;

constexpr int64_t kMega = 1'000'000;

TEST(StatusTextTest, TellsBytesRateAndTimeLeft) {
  EXPECT_EQ(StatusText("reading", "run.json", WorkUnit::kBytes, 50 * kMega, 200 * kMega,
                       milliseconds(2000), 100),
            "reading run.json: 50 of 200 MB (25 %), 25 MB/s, 6 s left");
  EXPECT_EQ(
      StatusText("pricing", "run.json", WorkUnit::kKernels, 250, 1000, milliseconds(1000), 100),
      "pricing run.json: 250 of 1000 kernels (25 %), 3 s left");
  EXPECT_THAT(StatusText("reading", "a", WorkUnit::kBytes, 10'000 * kMega, 100'000 * kMega,
                         milliseconds(10'000), 100),
              EndsWith("10.0 of 100.0 GB (10 %), 1000 MB/s, 1 min 30 s left"));
}

TEST(StatusTextTest, WithoutATotalThereIsNoEnd) {
  EXPECT_EQ(StatusText("reading", "standard input", WorkUnit::kBytes, 30 * kMega, 0,
                       milliseconds(1000), 100),
            "reading standard input: 30 MB, 30 MB/s");
  EXPECT_EQ(StatusText("reading", "a", WorkUnit::kBytes, 0, 0, milliseconds(0), 100),
            "reading a: 0 kB, 0 kB/s");
}

TEST(StatusTextTest, MoreThanTheTotalIsAllOfIt) {
  // Pages of a database may be read twice.
  EXPECT_EQ(
      StatusText("reading", "a", WorkUnit::kBytes, 3 * kMega, 2 * kMega, milliseconds(1000), 99),
      "reading a: 3 of 2 MB (100 %), 3 MB/s");
}

TEST(StatusTextTest, TheNameGivesWay) {
  for (size_t width = 0; width < 90; ++width) {
    const std::string text = StatusText("reading", "/a/long/way/to/rank7.json", WorkUnit::kBytes,
                                        50 * kMega, 200 * kMega, milliseconds(2000), width);
    EXPECT_LE(text.size(), width);
    if (width >= 60) {
      EXPECT_THAT(text, EndsWith("7.json: 50 of 200 MB (25 %), 25 MB/s, 6 s left"));
    }
  }
  EXPECT_THAT(StatusText("reading", "a\nb\x1b", WorkUnit::kBytes, 1, 2, milliseconds(1), 80),
              StartsWith("reading a?b?: "));
}

TEST(StatusLineTest, NothingHappensWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    StatusLine line("prof", true);
    line.meter()->Start(100);
    const StatusLine::Stage stage(&line, "reading", "a", WorkUnit::kBytes);
    line.meter()->Add(40);
    EXPECT_EQ(line.meter()->done(), 40);
    EXPECT_EQ(line.meter()->total(), 100);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace oplens::status_line_test
