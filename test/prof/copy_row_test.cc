#include "prof/views/kernels/copy_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace oplens::prof::copy_row_test {
namespace {

TEST(CopiesOfTest, CopiesAndFillsByStart) {
  Trace trace;
  trace.rank_name = trace.strings.Intern("3");
  trace.threads = {{10, 77}};
  trace.launches.push_back({1, 2, 5, 0, trace.strings.Intern("cudaMemcpyAsync")});
  trace.copies.push_back({.start_ns = 200,
                          .end_ns = 300,
                          .size_bytes = 1500,
                          .launch = 0,
                          .copy_kind = CopyKind::kHostToDevice,
                          .source_kind = MemoryKind::kPinned,
                          .target_kind = MemoryKind::kDevice,
                          .stream_id = 7});
  trace.sets.push_back({.start_ns = 100, .end_ns = 100, .size_bytes = 64, .device_id = 1});
  trace.copies.push_back({.start_ns = 400, .end_ns = 300, .size_bytes = 8});
  const std::vector<CopyRow> rows = CopiesOf(trace);
  ASSERT_EQ(rows.size(), 3u);

  EXPECT_EQ(rows[0].kind, "fill");
  EXPECT_EQ(rows[0].source, "");
  EXPECT_EQ(rows[0].duration_ns, 0);
  EXPECT_EQ(rows[0].gigabytes_per_s(), std::nullopt);  // No rate without a time.
  EXPECT_EQ(rows[0].thread_id, std::nullopt);
  EXPECT_EQ(rows[0].device_id, 1);

  EXPECT_EQ(rows[1].rank, "3");
  EXPECT_EQ(rows[1].kind, "HtoD");
  EXPECT_EQ(rows[1].source, "pinned");
  EXPECT_EQ(rows[1].target, "device");
  EXPECT_EQ(rows[1].duration_ns, 100);
  EXPECT_EQ(rows[1].gigabytes_per_s(), 15.0);
  EXPECT_EQ(rows[1].api, "cudaMemcpyAsync");
  EXPECT_EQ(rows[1].thread_id, 77);

  EXPECT_EQ(rows[2].kind, "");  // Unknown.
  EXPECT_EQ(rows[2].duration_ns, std::nullopt);
}

TEST(CopiesOfTest, NoRateThatNoMemoryHas) {
  Trace trace;
  trace.sets.push_back({.start_ns = 0, .end_ns = 1120, .size_bytes = 4'000'000'000});
  trace.sets.push_back({.start_ns = 1, .end_ns = 1121, .size_bytes = 40'000 * 1120});
  const std::vector<CopyRow> rows = CopiesOf(trace);
  EXPECT_FALSE(rows[0].has_possible_rate());
  EXPECT_EQ(rows[0].gigabytes_per_s(), std::nullopt);
  EXPECT_EQ(rows[1].gigabytes_per_s(), 40'000.0);
}

TEST(CopiesOfTest, HostileTimes) {
  Trace trace;
  trace.sets.push_back({.start_ns = std::numeric_limits<int64_t>::min(),
                        .end_ns = std::numeric_limits<int64_t>::max(),
                        .size_bytes = -1});
  EXPECT_EQ(CopiesOf(trace).front().duration_ns, std::nullopt);
}

}  // namespace
}  // namespace oplens::prof::copy_row_test
