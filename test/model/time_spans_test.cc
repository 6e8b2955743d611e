#include "parse/model/time_spans.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace oplens::time_spans_test {
namespace {

using Spans = std::vector<std::pair<int64_t, int64_t>>;

Spans KeptOf(const Spans& spans) {
  TimeSpans kept;
  for (const auto& [start_ns, end_ns] : spans) kept.Append(start_ns, end_ns);
  EXPECT_EQ(kept.size(), spans.size());
  Spans read;
  kept.ForEach([&](int64_t start_ns, int64_t end_ns) { read.emplace_back(start_ns, end_ns); });
  return read;
}

TEST(TimeSpansTest, ExtremeTimes) {
  const Spans spans = {
      {INT64_MIN, INT64_MAX}, {-1, -1}, {0, 127}, {0, 128}, {INT64_MAX, INT64_MAX}};
  EXPECT_EQ(KeptOf(spans), spans);
  EXPECT_TRUE(TimeSpans().empty());
}

RC_GTEST_PROP(TimeSpansProperty, GivesBackWhatItTook, (Spans spans)) {
  for (auto& [start_ns, end_ns] : spans) {
    if (end_ns < start_ns) std::swap(start_ns, end_ns);
  }
  std::sort(spans.begin(), spans.end());
  RC_ASSERT(KeptOf(spans) == spans);
}

}  // namespace
}  // namespace oplens::time_spans_test
